/**
 * What a record counts for its owner: its text and the text's place in the index of everybody who finds it, and, of its
 * history, each text once and a little for every version. Pure.
 */
import { hash } from "node:crypto"
import { type RecordRow, recordFrom } from "./rows.ts"

/** What a version has besides its text and its tags. */
const versionItself = 256
/** The words of a text, their order and their index take about twice as much as the text. */
const inIndex = 2

/** Under which a text is stored once. */
export const textDigest = (content: string): string => hash("sha256", content, "hex").slice(0, 32)

export const bytesOf = (text: string): number => Buffer.byteLength(text)

export const versionWeight = ({ tags }: Pick<RecordRow, "tags">): number => versionItself + bytesOf(tags)

/** Without its history. `readers`: with how many it is shared. */
export const presentWeight = (row: RecordRow, readers: number): number => {
  const found = 1 + readers + (recordFrom(row).public ? 1 : 0)
  return bytesOf(row.content) * (1 + inIndex * found)
}
