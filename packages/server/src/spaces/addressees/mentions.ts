/**
 * Who is mentioned: `@` and a member's name. The rules are explicit, because models and people write all sorts of
 * things: names are compared as the house compares them (ignoring case and width), the longest matching name wins, a
 * name ends where its word ends, and nothing counts inside code (fences and back-ticks, as in Markdown) or inside an
 * e-mail address. Runs in linear time, whatever the text is.
 */

export interface Named<Id> {
  readonly id: Id
  readonly name: string
}

/** Greek has two forms of one letter, depending on its place in the word. */
const fold = (text: string): string => text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ")

/**
 * Scripts without spaces between words, or with particles attached to names: there a letter does not continue a word.
 */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const continues = (char: string | undefined, more: string): boolean =>
  char !== undefined && !unspaced.test(char) && (/[\p{L}\p{N}\p{M}_]/u.test(char) || more.includes(char))

/** A table for ASCII, which avoids Unicode lookups: a text may be full of mentions. */
const usual = Array.from({ length: 128 }, (_, code) => continues(String.fromCharCode(code), ""))
const continuesBefore = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at - 1)
  if (code < 128) return usual[code]! || ".%+-".includes(text[at - 1]!)
  return continues(text.slice(Math.max(0, at - 2), at).match(/.$/su)?.[0], ".%+-")
}
const continuesAfter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code < 128 ? usual[code]! : continues(text.slice(at, at + 2).match(/^./su)?.[0], "")
}

const fence = /^[ \t>]*(`{3,}|~{3,})(.*)$/

/** The text without fenced blocks; an unclosed fence extends to the end. */
const withoutFences = (text: string): string => {
  let open: string | undefined
  const kept: Array<string> = []
  for (const line of text.split("\n")) {
    const [, marks, rest] = fence.exec(line) ?? []
    if (open !== undefined) {
      if (marks?.startsWith(open) === true && rest!.trim() === "") open = undefined
    } else if (marks !== undefined && !(marks.startsWith("`") && rest!.includes("`"))) {
      open = marks
      // Text before a block does not continue after it.
      kept.push("")
    } else kept.push(line)
  }
  return kept.join("\n")
}

/**
 * A paragraph without inline code: a run of back-ticks is closed by the next run of the same length, or means nothing.
 */
const withoutSpans = (text: string): string => {
  const runs = [...text.matchAll(/`+/g)].map((run) => ({ from: run.index, length: run[0].length }))
  const next = new Map<number, number>()
  const closing = runs.map(() => -1)
  for (let at = runs.length - 1; at >= 0; at--) {
    closing[at] = next.get(runs[at]!.length) ?? -1
    next.set(runs[at]!.length, at)
  }
  let kept = ""
  let place = 0
  for (let at = 0; at < runs.length; at++) {
    const end = closing[at]!
    if (end < 0) continue
    kept += `${text.slice(place, runs[at]!.from)}\``
    place = runs[end]!.from + runs[end]!.length
    at = end
  }
  return kept + text.slice(place)
}

const withoutCode = (text: string): string =>
  withoutFences(text)
    .split(/\n[ \t]*\n/)
    .map(withoutSpans)
    .join("\n\n")

export const mentionsIn = <Id>(text: string, members: ReadonlyArray<Named<Id>>): ReadonlyArray<Id> => {
  const said = fold(withoutCode(text.replaceAll("\r\n", "\n")))
  let at = said.indexOf("@")
  if (at < 0) return []
  const byName = new Map(members.map((member) => [fold(member.name), member.id]))
  byName.delete("")
  const lengths = [...new Set([...byName.keys()].map((name) => name.length))].toSorted((one, other) => other - one)
  const found = new Set<Id>()
  while (at >= 0) {
    const next = said.indexOf("@", at + 1)
    if (!continuesBefore(said, at)) {
      // Names contain no @, so the search stops at the next one: nothing is read twice.
      const rest = said.slice(at + 1, Math.min(next < 0 ? said.length : next, at + 1 + (lengths[0] ?? 0)))
      const hit = lengths.find((length) => {
        if (length > rest.length || !byName.has(rest.slice(0, length))) return false
        return !continuesAfter(said, at + 1 + length)
      })
      if (hit !== undefined) found.add(byName.get(rest.slice(0, hit))!)
    }
    at = next
  }
  return [...found]
}
