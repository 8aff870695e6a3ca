/**
 * Takes the secrets a call has seen out of what is kept of it (G-17). Pure. It works on values, not on their text, so
 * that what is left is still JSON; and it knows a secret in each spelling an address, a form or a JSON text gives it.
 */

/** Shorter than this it is no secret, and taking it out would tear up what is left. */
const shortest = 4
const instead = "[secret]"

const hex = (digits: string): string => digits.replaceAll(/[a-f]/gi, (d) => `[${d.toLowerCase()}${d.toUpperCase()}]`)
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

/** Every way one character may be written: as it is, percent-encoded, or escaped as in JSON. */
const spellings = (sign: string): string => {
  const bytes = [...Buffer.from(sign.toWellFormed())].map((byte) => `%${hex(byte.toString(16).padStart(2, "0"))}`)
  const units = Array.from({ length: sign.length }, (_, n) => sign.charCodeAt(n).toString(16).padStart(4, "0"))
  const short = JSON.stringify(sign).slice(1, -1)
  const ways = [literal(sign), bytes.join(""), units.map((unit) => `\\\\u${hex(unit)}`).join("")]
  if (short !== sign && !short.startsWith("\\u")) ways.push(literal(short))
  if (sign === "/") ways.push(literal("\\/"))
  if (sign === " ") ways.push("\\+")
  return `(?:${ways.join("|")})`
}

const patternOf = (revealed: ReadonlySet<string>): RegExp | undefined => {
  // What came into a header lost the spaces around it.
  const secrets = new Set([...revealed].flatMap((one) => [one, one.trim()]).filter((one) => one.length >= shortest))
  if (secrets.size === 0) return undefined
  // The longest first: one may be part of another.
  const longest = [...secrets].toSorted((a, b) => b.length - a.length)
  return new RegExp(longest.map((secret) => [...secret].map(spellings).join("")).join("|"), "g")
}

type Container = Array<unknown> | Record<string, unknown>

/** Takes them out of a JSON text; what comes back is one, too. */
export const redact = (text: string, revealed: ReadonlySet<string>): string => {
  const pattern = revealed.size === 0 ? undefined : patternOf(revealed)
  if (pattern === undefined) return text
  const clean = (words: string): string => words.replaceAll(pattern, instead)
  const root = { value: JSON.parse(text) as unknown }
  // By hand rather than by recursion: an answer may be nested deeper than our stack is.
  const left: Array<Container> = [root]
  const shown = (value: unknown): unknown => {
    if (typeof value === "string") return clean(value)
    if (typeof value === "number") return clean(String(value)) === String(value) ? value : instead
    if (typeof value === "object" && value !== null) left.push(value as Container)
    return value
  }
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (Array.isArray(one)) {
      for (let n = 0; n < one.length; n++) one[n] = shown(one[n])
      continue
    }
    const entries = Object.entries(one)
    const renamed = one !== root && entries.some(([key]) => clean(key) !== key)
    for (const [key, value] of entries) {
      if (renamed) delete one[key]
      const name = renamed ? clean(key) : key
      // A key may be `__proto__`, which must not be assigned.
      Object.defineProperty(one, name, { value: shown(value), writable: true, enumerable: true, configurable: true })
    }
  }
  return JSON.stringify(root.value)
}
