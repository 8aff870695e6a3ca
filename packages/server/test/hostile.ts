/** Values that somebody would try, the same ones for the same seed. */

/** mulberry32: small, and the same everywhere. */
export const seeded = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <A>(random: () => number, from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)]!

const pieces: ReadonlyArray<string> = [
  ["/", "\\", "..", ".", "%2e%2e", "%2E", "%2f", "%5c", "%00", "%", "%25", "%252e"],
  ["?", "#", "&", "=", ":", ";", "@", "//", "/../", "\\..\\", "://", "http://evil.test", "//evil.test/", "@evil.test"],
  ["\r\n", "\n", "\r", "\t", " ", "\0", "\u0085", "\u2028", "\u200b", "\u202e", "\ufeff"],
  ["．", "／", "＼", "．．", "？", "é", "ß", "漢", "😀", "\ud800", "\udfff"],
  ["{{input.other}}", "{{", "}}", "${env.PATH}", "${secret.KEY}", "${", "}", "$", "`", "'", '"', "<", ">", "|", "^"],
  ["a", "b", "0", "127.0.0.1", "localhost", "[::1]", "169.254.169.254", "constructor", "__proto__", "x=1", "null"],
].flat()

export const hostileText = (random: () => number): string =>
  Array.from({ length: Math.floor(random() * 7) }, () => pick(random, pieces)).join("")
