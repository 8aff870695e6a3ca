/** Says whether a piece of a secret can be read in a text. Written apart from the redactor, slow and plain, to judge it. */

const percentOff = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString(
      // What is no UTF-8 was not a text.
      Buffer.from(Buffer.from(bytes.replaceAll("%", ""), "hex").toString()).toString("hex") ===
        bytes.replaceAll("%", "").toLowerCase()
        ? "utf8"
        : "latin1",
    ),
  )
const escapesOff = (text: string): string =>
  text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\(["\\/])/g, "$1")
    .replaceAll("\\n", "\n")

/** As a parser of HTML reads them, which wants no semicolon. */
const referencesOff = (text: string): string =>
  text.replaceAll(/&#(?:x([0-9a-f]+)|(\d+));?/gi, (_, hex?: string, decimal?: string) =>
    String.fromCodePoint(Math.min(0x10ffff, hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))),
  )

type Part = { readonly key: string; readonly text: string }
const partsOf = (value: unknown, key = ""): ReadonlyArray<Part> => {
  if (typeof value === "string" || typeof value === "number") return [{ key, text: String(value) }]
  if (Array.isArray(value)) return value.flatMap((item) => partsOf(item, key))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [{ key: "\0", text: name }, ...partsOf(inner, name)])
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text, and what its fields are when they are read as one. */
const readingsOf = (text: string): ReadonlyArray<string> => {
  const parts = partsOf(parsed(text))
  const joined = (which: (part: Part) => boolean) =>
    parts
      .filter(which)
      .map((part) => part.text)
      .join("")
  const keys = [...new Set(parts.map(({ key }) => key))]
  return [
    text,
    joined(() => true),
    joined(({ key }) => key !== "\0"),
    ...keys.map((name) => joined(({ key }) => key === name)),
  ]
}

const pieces = (text: string, length: number): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, text.length - length + 1) }, (_, n) => text.slice(n, n + length))

/** Eight characters of a secret, in each encoding, as they would stand in the middle of something else. */
const needlesOf = (secret: string): ReadonlyArray<string> =>
  pieces(secret, 8).flatMap((piece) => [
    piece,
    Buffer.from(piece).toString("latin1"),
    ...[0, 1, 2].flatMap((pad) =>
      (["base64", "base64url"] as const).map((code) => {
        const bytes = Buffer.concat([Buffer.alloc(pad), Buffer.from(piece), Buffer.alloc(3)])
        const [from, to] = [Math.ceil((pad * 8) / 6), Math.floor(((pad + Buffer.byteLength(piece)) * 8) / 6)]
        return bytes.toString(code).slice(from, to)
      }),
    ),
    Buffer.from(piece).toString("hex"),
    Buffer.from(piece).toString("hex").toUpperCase(),
  ])

/** The pieces of these secrets that stand in it, in whatever writing. */
export const leaksIn = (text: string, ...secrets: ReadonlyArray<string>): ReadonlyArray<string> => {
  const views = readingsOf(text).flatMap((one) => [
    one,
    percentOff(one),
    escapesOff(one),
    escapesOff(escapesOff(one)),
    percentOff(escapesOff(one)),
    referencesOff(one),
  ])
  const bodies = [...new Set(views)]
  return secrets.flatMap((secret) => needlesOf(secret).filter((needle) => bodies.some((body) => body.includes(needle))))
}
