/** A stored blob, named by its content, so that the same bytes are stored once. */
import { Schema } from "effect"
import { FileId, Moment } from "../Ids.ts"

export class File extends Schema.Class<File>("File")({
  id: FileId,
  size: Schema.Int,
  mediaType: Schema.String,
  createdAt: Moment,
}) {}
