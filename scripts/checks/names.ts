// Names that say nothing, files that do not hold what they are called after, errors without a page or with a command.
import { basename } from "node:path"
import { type Check, files, foldersAbove, isSource, isTest, read } from "./kit.ts"

const vague = /^(utils?|common|helpers?|managers?)$/i
const suffix = /^export (?:abstract )?class (\w*(?:Manager|Helper|Info|Data|V2))\b/gm
/** Many of one sort, in one file by design. */
const bags = new Set(["Errors", "Ids"])
const errors = "packages/contract/src/Errors.ts"

const inFile = (path: string, text: string): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const word = basename(path).replace(/\..*$/, "")
  const folder = path.split("/").slice(0, -1)
  if (vague.test(word) || folder.some((part) => vague.test(part)))
    faults.push(`${path}: a name for anything; name it after the noun or verb it holds`)
  if (!/^packages\/[^/]+\/src\//.test(path) || isTest(path)) return faults
  for (const [, name] of text.matchAll(suffix))
    faults.push(`${path}: ${name}: the suffix adds nothing; use the noun alone`)
  const exported = [...text.matchAll(/^export (?:[a-z]+\*? )*(?:\* as )?(\w+|\{[^}]*\})/gm)].map(([, it]) => it ?? "")
  // Case is visibility, so a public file of functions is PascalCase too: Pages.ts may hold `pageOf`, but not `rowsFrom`.
  const stem = word.replace(/s$/, "").toLowerCase()
  const own = exported.some((it) => it.toLowerCase().includes(stem))
  if (/^[A-Z]/.test(word) && !bags.has(word) && !own)
    faults.push(`${path}: no export of it is about ${word}; a PascalCase file is named after what it holds`)
  return faults
}

/** The tags of `class X extends Schema.TaggedError<X>()("X", …)`, also with the older spelling `TaggedErrorClass`. */
const errorTags = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/TaggedError(?:Class)?<[^>]*>\([^)]*\)\(\s*"(\w+)"/g)].flatMap(([, tag]) => tag ?? [])

/** What is read over MCP and on the page as well. Start-up, logs, the doctor and pages of their own may name commands. */
const readAnywhere = /^packages\/(?:contract\/src\/Errors\.ts$|server\/src\/[a-z]+\/)/
const readByOperators = new RegExp(
  `^packages/server/src/(?:${foldersAbove.join("/|")}/|store/|doors/http/pages/|access/audit/Audit\\.ts$|runs/RunFigures\\.ts$)`,
)
const command =
  /\bstoa (?:\$\{|(?:agents|api|audit|backup|call|chat|connect|decide|doctor|events|grants|hosts|lists|login|memory|pause|people|reload|restore|runs|say|secrets|servers|spaces|team|token|tools)\b)/

/** A client of MCP cannot type commands, and the text of a failure is stored with its call. */
const commandsIn = (path: string, text: string): ReadonlyArray<string> =>
  !readAnywhere.test(path) || readByOperators.test(path) || isTest(path)
    ? []
    : text.split("\n").flatMap((line, at) => {
        const [named] = /^\s*(?:\/\/|\/?\*)/.test(line) ? [] : (command.exec(line) ?? [])
        return named === undefined
          ? []
          : [
              `${path}:${at + 1}: "${named}…" is for the command line; say who can do what, and add the command in cli/src/output/hints.ts`,
            ]
      })

export const names: Check = async (root) => {
  const all = await files(root)
  const sources = all.filter(isSource)
  const tags = all.includes(errors) ? errorTags(read(root, errors)) : []
  const pages = all.filter((path) => /^docs\/errors\/\w+\.md$/.test(path)).map((path) => basename(path, ".md"))
  const blind = tags.length === 0 ? [`${errors}: no error tag found; is it still there?`] : []
  return {
    looked: sources.length,
    unit: `files, ${tags.length} error tags`,
    faults: [
      ...blind,
      ...sources.flatMap((path) => inFile(path, read(root, path))),
      ...sources.flatMap((path) => commandsIn(path, read(root, path))),
      ...tags
        .filter((tag) => !pages.includes(tag))
        .map((tag) => `docs/errors/${tag}.md: missing; ${errors} has ${tag}`),
      ...pages
        .filter((page) => page !== "README" && page !== "index" && !tags.includes(page))
        .map((page) => `docs/errors/${page}.md: no error has this tag`),
    ],
  }
}
