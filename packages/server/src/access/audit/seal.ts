/**
 * Signs the two ends of the trail with a key that is not in the database: a hash chain alone does not show that its
 * newest rows were cut off. Pure, so that anybody with the key can verify it.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

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

const macOf = (key: Redacted.Redacted, ...parts: ReadonlyArray<string | number>): string =>
  createHmac("sha256", Redacted.value(key)).update(JSON.stringify(parts)).digest("hex")

export const sealHead = (key: Redacted.Redacted, { cursor, hash, seq }: Head): string =>
  macOf(key, "head", seq, hash, cursor)

export const sealAnchor = (key: Redacted.Redacted, { hash, seq }: Anchor): string => macOf(key, "anchor", seq, hash)

/** `none`: not sealed yet, as in a new house or one from before seals existed. */
export type Sealing = "fits" | "none" | "broken"

const compare = (seal: string, expected: string): Sealing => {
  if (seal === "") return "none"
  const [one, other] = [Buffer.from(seal), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other) ? "fits" : "broken"
}

export const sealingOfHead = (key: Redacted.Redacted, head: Head & { readonly seal: string }): Sealing =>
  compare(head.seal, sealHead(key, head))

/** A complete chain has lost no rows, so it has no anchor to seal. */
export const sealingOfAnchor = (key: Redacted.Redacted, anchor: Anchor & { readonly seal: string }): Sealing =>
  anchor.seq === 0 && anchor.hash === "" ? "fits" : compare(anchor.seal, sealAnchor(key, anchor))
