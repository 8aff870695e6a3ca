/**
 * Signs the two ends of the trail with a key that is not in the database: a hash chain alone does not show that its
 * newest rows were cut off. Pure, so that anybody with the key can verify it.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** The newest row. Rows are numbered without a gap, so that its number is the count of all there have ever been. */
export interface Head {
  readonly seq: number
  readonly hash: string
  /** How far the journal has been read for it. */
  readonly cursor: number
}

/** What was cut off last: the kept chain begins behind it. */
export interface Anchor {
  readonly seq: number
  readonly hash: string
}

const macOf = (key: Redacted.Redacted, ...parts: ReadonlyArray<string | number>): string =>
  createHmac("sha256", Redacted.value(key)).update(JSON.stringify(parts)).digest("hex")

export const sealHead = (key: Redacted.Redacted, { cursor, hash, seq }: Head): string =>
  macOf(key, "head", seq, hash, cursor)

export const sealAnchor = (key: Redacted.Redacted, { hash, seq }: Anchor): string => macOf(key, "anchor", seq, hash)

/** `none`: it has not been sealed yet, as in a new house, or one from before there were seals. */
export type Sealing = "fits" | "none" | "broken"

const compare = (seal: string, expected: string): Sealing => {
  if (seal === "") return "none"
  const [one, other] = [Buffer.from(seal), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other) ? "fits" : "broken"
}

export const sealingOfHead = (key: Redacted.Redacted, head: Head & { readonly seal: string }): Sealing =>
  compare(head.seal, sealHead(key, head))

/** Nothing has been cut off a chain that begins at its beginning: there is nothing to seal. */
export const sealingOfAnchor = (key: Redacted.Redacted, anchor: Anchor & { readonly seal: string }): Sealing =>
  anchor.seq === 0 && anchor.hash === "" ? "fits" : compare(anchor.seal, sealAnchor(key, anchor))
