// What must never be committed: keys, tokens, passwords, and the traces of one machine (its paths, its registry).
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Check, files } from "./kit.ts"

/** Bits per character: a token made by chance has 4 and more, `stoa_xxxxxxxxxxxxxxxxxxxx` or a word has less. */
const entropy = (text: string): number => {
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  return [...counts.values()].reduce((sum, n) => sum - (n / text.length) * Math.log2(n / text.length), 0)
}
const byChance = (text: string) => text.length >= 20 && /\d/.test(text) && entropy(text) >= 3.5

interface Pattern {
  readonly what: string
  readonly find: RegExp
  readonly real?: (match: RegExpExecArray) => boolean
  readonly only?: RegExp
}
const patterns: ReadonlyArray<Pattern> = [
  { what: "a private key", find: /-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[A-Za-z0-9+/=]{20}/g },
  { what: "a Stoa token", find: /\bstoa_([A-Za-z0-9_-]{20,})/g, real: (it) => byChance(it[1] ?? "") },
  { what: "an AWS key", find: /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, real: (it) => !it[0].includes("EXAMPLE") },
  {
    what: "a model vendor's key",
    find: /\bsk-(?:ant-|proj-)?([A-Za-z0-9_-]{20,})/g,
    real: (it) => byChance(it[1] ?? ""),
  },
  {
    what: "a GitHub token",
    find: /\b(?:gh[pousr]|github_pat)_([A-Za-z0-9_]{20,})/g,
    real: (it) => byChance(it[1] ?? ""),
  },
  {
    what: "a password in a URL",
    find: /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'`$<>{}]+:([^\s/@"'`$<>{}]+)@/gi,
    real: (it) => !/^(x+|\*+|\.+|…|password|secret|pass|pw|example)$/i.test(it[1] ?? ""),
  },
  {
    what: "a registry's host",
    find: /"?(resolved"?: ?"|registry ?= ?)https?:\/\/\S+/g,
    only: /(^|\/)(package-lock\.json|\.npmrc)$/,
  },
  {
    what: "a path of one machine",
    find: /(?<![\w.~:/-])\/(?:work|root|home\/(?!user\b|you\b|me\b)[a-z][\w-]*)\/[\w.@-]+/g,
  },
]

export const secretsIn = (path: string, text: string): ReadonlyArray<string> =>
  patterns.flatMap(({ what, find, real, only }) => {
    if (only !== undefined && !only.test(path)) return []
    return [...text.matchAll(find)]
      .filter((match) => real?.(match) ?? true)
      .map((match) => `${path}:${text.slice(0, match.index).split("\n").length} ${what} (${match[0].slice(0, 12)}…)`)
  })

const most = 2_000_000

export const secrets: Check = async (root) => {
  const paths = (await files(root)).filter((path) => {
    const file = join(root, path)
    return existsSync(file) && statSync(file).isFile()
  })
  const faults = paths.flatMap((path) => {
    const file = join(root, path)
    if (statSync(file).size > most) return [`${path}: larger than ${most} bytes, not scanned; does it belong here?`]
    const bytes = readFileSync(file)
    return bytes.includes(0) ? [] : secretsIn(path, bytes.toString("utf8"))
  })
  return { looked: paths.length, unit: "files", faults }
}
