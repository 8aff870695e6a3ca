/**
 * Signs the two ends of the trail with a key that is not in the database: a hash chain alone does not show that its
 * newest rows were cut off. Pure, so that anybody with the key can verify it.
 */
import type { Redacted } from "effect"
import { isMacOf, macOf, type SignedText, signedText } from "../secrets/SignedText.ts"

/** The newest row. Rows are numbered without gaps, so its number is the count of all rows ever written. */
export interface Head {
  readonly seq: number
  readonly hash: string
  /** How far the journal had been read. */
  readonly cursor: number
}

/** The last removed row: the stored chain begins after it. */
export interface Anchor {
  readonly seq: number
  readonly hash: string
}

const headText = ({ cursor, hash, seq }: Head): SignedText => signedText.auditHead(seq, hash, cursor)
const anchorText = ({ hash, seq }: Anchor): SignedText => signedText.auditAnchor(seq, hash)

export const sealHead = (key: Redacted.Redacted, head: Head): string => macOf(key, headText(head))

export const sealAnchor = (key: Redacted.Redacted, anchor: Anchor): string => macOf(key, anchorText(anchor))

/** `none`: not sealed yet, as in a new house or one from before seals existed. */
export type Sealing = "fits" | "none" | "broken"

const compare = (key: Redacted.Redacted, seal: string, text: SignedText): Sealing => {
  if (seal === "") return "none"
  return seal.length === wholeSeal && isMacOf(key, text, seal) ? "fits" : "broken"
}
const wholeSeal = 64

export const sealingOfHead = (key: Redacted.Redacted, head: Head & { readonly seal: string }): Sealing =>
  compare(key, head.seal, headText(head))

/** A complete chain has lost no rows, so it has no anchor to seal. */
export const sealingOfAnchor = (key: Redacted.Redacted, anchor: Anchor & { readonly seal: string }): Sealing =>
  anchor.seq === 0 && anchor.hash === "" ? "fits" : compare(key, anchor.seal, anchorText(anchor))
