// docs/behaviours.md: every behaviour by its id, in a sentence, and the tests whose titles name it. The sentences are kept in
// docs/behaviours.json, the list of all ids there are; what waits or was decided against stands in the two ledger pages.
import { existsSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { files, read } from "../checks/kit.ts"

export const behavioursFile = "docs/behaviours.json"
export const behavioursPage = "docs/behaviours.md"

const id = /\b(S\d|X|G)-(\d{2,3})(?:\.\.(?:(?:S\d|X|G)-)?(\d{2,3}))?(?![\w-])/g

/** The ids a text names; a range (S1-62..S1-66) names each of its own. */
export const idsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(id)].flatMap(([, system, first, last]) => {
    const from = Number(first)
    const count = Math.max(0, Number(last ?? first) - from) + 1
    return Array.from({ length: Math.min(count, 200) }, (_, n) => `${system}-${String(from + n).padStart(2, "0")}`)
  })

/** Text without its ids. */
export const withoutIds = (text: string): string => text.replace(id, "")

/** First strings of it(...), test(...), describe(...), it.effect(...), layer(...)(...) and the like, unless skipped. */
const title =
  /\b(?:it|test|on|bench|describe|layer\([^)]*\))((?:\.[a-zA-Z]+)*)(?:\((?:[^()"'`]|\([^()]*\)|"[^"]*"|'[^']*')*\))?\s*\(\s*(["'`])((?:\\.|(?!\2)[\s\S])*)\2/g

const titlesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(title)].flatMap(([, how, , words]) =>
    /\.(skip|todo|fails)\b/.test(how ?? "") ? [] : [words ?? ""],
  )

const isTest = (path: string): boolean => /(^|\/)(test|src)\/.*\.ts$/.test(path) || path.endsWith(".test.ts")
/** Speed is measured: what `npm run bench` runs counts for it. */
const isBench = (path: string): boolean => /^bench\/[^/]+\.ts$/.test(path)
const ofSpeed = new Set(["S4-105", "S4-106", "S4-107", "S4-108", "S4-109", "S4-110"])

/** Which files prove which ids, by the titles of their tests. */
export const claimsOf = async (root: string): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const claims = new Map<string, Array<string>>()
  const add = (named: string, path: string) => {
    const there = claims.get(named) ?? []
    if (!there.includes(path)) claims.set(named, [...there, path])
  }
  for (const path of await files(root)) {
    if (isBench(path)) for (const named of idsIn(read(root, path)).filter((it) => ofSpeed.has(it))) add(named, path)
    if (isTest(path) && /\b(it|test|on|describe|layer)\b/.test(read(root, path)))
      for (const named of titlesIn(read(root, path)).flatMap(idsIn)) add(named, path)
  }
  return claims
}

export const sentencesOf = (root: string): Readonly<Record<string, string>> | undefined =>
  existsSync(join(root, behavioursFile))
    ? (JSON.parse(read(root, behavioursFile)) as Record<string, string>)
    : undefined

export const laterPage = "docs/ledger-later.md"
export const exceptionsPage = "docs/ledger-exceptions.md"
/** The ids at the beginning of each entry: those it is about. */
export const listedOn = (root: string, page: string): ReadonlySet<string> => {
  if (!existsSync(join(root, page))) return new Set()
  const heads = [...read(root, page).matchAll(/^- ((?:(?:S\d|X|G)-[\dSXG.-]+[:,]? )+)/gm)]
  return new Set(heads.flatMap(([, head]) => idsIn(head ?? "")))
}

const groups: Readonly<Record<string, string>> = {
  S0: "The office",
  S1: "Spaces and the gateway",
  S2: "Engrams and exposure",
  S3: "Teams of agents",
  S4: "The tool library",
  X: "Readings: where the systems differ",
  G: "Gaps: what none of them has",
}

const linkTo = (path: string): string => `[${basename(path).replace(/(\.test)?\.ts$/, "")}](${relative("docs", path)})`

/** Where an id is spoken of. */
export interface Places {
  readonly claims: ReadonlyMap<string, ReadonlyArray<string>>
  readonly later: ReadonlySet<string>
  readonly exceptions: ReadonlySet<string>
}

const introduction =
  "What the house does, by the ids that code, tests and pages name. S ids are behaviours of the five systems that Stoa takes over; X ids resolve contradictions between systems; G ids are features that none of them has. Each entry links its tests. Made by `npm run docs` from [behaviours.json](behaviours.json) and the titles of tests."

export const behavioursText = (
  sentences: Readonly<Record<string, string>>,
  { claims, exceptions, later }: Places,
): string => {
  const entry = ([named, sentence]: readonly [string, string]): string => {
    const notes = [
      ...(claims.get(named) ?? []).map(linkTo),
      ...(later.has(named) ? ["partly [later](ledger-later.md)"] : []),
      ...(exceptions.has(named) ? ["[exception](ledger-exceptions.md)"] : []),
    ]
    return `- **${named}** ${sentence} ${notes.length === 0 ? "_Not built yet._" : notes.join(", ")}`
  }
  const parts = Object.entries(groups).flatMap(([group, heading]) => {
    const own = Object.entries(sentences).filter(([named]) => named.startsWith(`${group}-`))
    return own.length === 0 ? [] : [`## ${heading}`, own.map(entry).join("\n")]
  })
  return `${["# Behaviours", introduction, ...parts].join("\n\n")}\n`
}

export const describeBehaviours = async (root: string): Promise<string> =>
  behavioursText(sentencesOf(root) ?? {}, {
    claims: await claimsOf(root),
    later: listedOn(root, laterPage),
    exceptions: listedOn(root, exceptionsPage),
  })
