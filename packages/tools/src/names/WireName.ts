/**
 * The name of a tool for model APIs: letters, digits, `_` and `-`, 64 at most (S4-80). `server/tool` becomes
 * `server__tool`; other characters are escaped, so that the name can be decoded exactly.
 */
import { createHash } from "node:crypto"

const longest = 64

const escaped = (char: string): string => `_x${char.codePointAt(0)!.toString(16)}_`

/**
 * An underscore that could be mistaken for one of ours is escaped too: before another underscore, or before something
 * that looks like a code.
 */
const encode = (name: string): string =>
  name.replace(/\/|_(?=_|x[0-9a-f]+(?![A-Za-z0-9-]|$)|$|[^A-Za-z0-9_-])|[^A-Za-z0-9_-]/gu, (found) =>
    found === "/" ? "__" : escaped(found),
  )

/** Too long for the wire: cut, and made unique by a digest. Only the registry can translate it back. */
const shorten = (name: string, encoded: string): string => {
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 12)
  return `${encoded.slice(0, longest - 13)}_${digest}`
}

export const toWireName = (name: string): string => {
  const encoded = encode(name)
  return encoded.length <= longest ? encoded : shorten(name, encoded)
}

const highest = 0x10_ff_ff

/** The name behind a wire name that was not cut; undefined if an escape in it is invalid. */
export const fromWireName = (wire: string): string | undefined => {
  let readable = true
  const name = wire.replace(/_x([0-9a-f]+)_|__/g, (_, hex: string | undefined) => {
    const code = hex === undefined ? 0x2f : Number.parseInt(hex, 16)
    readable &&= code <= highest
    return readable ? String.fromCodePoint(code) : ""
  })
  return readable ? name : undefined
}
