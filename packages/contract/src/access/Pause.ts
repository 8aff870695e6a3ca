/** The kill switch (G-12): anything paused makes and receives no calls until somebody lifts the pause. */
import { Schema } from "effect"
import { Moment, PrincipalId } from "../Ids.ts"

/** `agents/NAME`, `tools/NAME`, `servers/NAME`, or `everything`. */
export const PauseSubject = Schema.String.check(
  Schema.isPattern(/^(everything|(agents|tools|servers)\/[^\p{C}]{1,128})$/u, {
    message: "must be everything, agents/NAME, tools/NAME or servers/NAME",
  }),
)

export class Pause extends Schema.Class<Pause>("Pause")({
  subject: Schema.String,
  reason: Schema.String,
  by: Schema.NullOr(PrincipalId),
  createdAt: Moment,
}) {}

export const NewPause = Schema.Struct({
  subject: PauseSubject,
  reason: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))),
}).annotate({ identifier: "NewPause" })
export type NewPause = typeof NewPause.Type
