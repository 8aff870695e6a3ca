/** Memory: your records, their versions, and who else may read them. */
import {
  batchesOf,
  jsonLinesOf,
  memoryFilesOf,
  type MemoryLineJson,
  type MemoryMatch,
  MemoryNamespace,
  maxLines,
} from "@stoa/contract"
import { StoaError } from "@stoa/sdk"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { countNoun } from "../../output/countNoun.ts"
import { type Failure, refusal, withMessage } from "../../Failure.ts"
import { givenFlags, nameArgument, switchFlag, textFlag } from "../../command/flags.ts"
import { textGiven } from "../../input/values.ts"
import { fileExists, printRaw, readLines, writeFolder, writeWhole } from "../../input/memoryFolder.ts"
import { namesForPeople, nameOf } from "../../output/names.ts"
import { decline, offers, share, take } from "./memoryOffers.ts"
import { all, ask, client, list, root, show, printNote } from "../../command/root.ts"

const id = nameArgument("id", "The record's id, mem_…", 'Give a record; "stoa memory ls" lists yours')
const kind = textFlag("kind", "Only this kind")
const tag = textFlag("tag", "Only with this tag")
const owner = textFlag("owner", "Only records of this owner that are public or shared with you")
const namespace = Flag.Literals("namespace", MemoryNamespace.literals).pipe(
  Flag.withDescription("Only this namespace"),
  Flag.optional,
)

const ls = Command.make(
  "ls",
  { kind, tag, owner, namespace },
  Effect.fn(function* (flags) {
    const stoa = yield* client
    const wanted = givenFlags(flags)
    const items = yield* all((cursor) =>
      stoa.memory.list({ limit: 100, ...wanted, ...(cursor === undefined ? {} : { cursor }) }),
    )
    yield* list(items, columns.memory)
  }),
).pipe(Command.withDescription("List your records, the newest first"))

const search = Command.make(
  "search",
  {
    question: nameArgument("question", "In plain words", "Give a question, or some words"),
    kind,
    tag,
    owner,
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, at most 100"), Flag.withDefault(10)),
  },
  Effect.fn(function* ({ limit, question, ...flags }) {
    const { items } = yield* ask((stoa) =>
      stoa.memory.list({
        q: question,
        limit,
        ...givenFlags(flags),
      }),
    )
    const { json } = yield* root
    const why = ({ label, near, vector, words }: MemoryMatch) => [
      ...new Set([...words, ...label]),
      ...near.map((word) => `(${word})`),
      ...(vector?.place == null ? [] : [`meaning #${vector.place}`]),
    ]
    const problem = items.find(({ match }) => match?.vector?.problem !== undefined)?.match?.vector?.problem
    if (problem !== undefined) yield* printNote(problem)
    const rows = items.map((one) => ({ ...one, why: one.match === undefined ? [] : why(one.match) }))
    yield* list(json ? items : rows, columns.search)
  }),
).pipe(
  Command.withDescription("Search your memory; the best match first, with the words that matched"),
  Command.withExamples([{ command: 'stoa memory search "where did we buy the tent?"', description: "A question" }]),
)

const one = Command.make(
  "show",
  { id },
  Effect.fn(function* ({ id }) {
    const found = yield* ask((stoa) => stoa.memory.get(id))
    yield* show(found, found.content)
    yield* printNote(
      `${found.kind} ${found.key}, version ${found.version}${found.pinned ? ", pinned" : ""}${found.public ? ", public" : ""}`,
    )
  }),
).pipe(Command.withDescription("One record: its content on stdout"))

const set = Command.make(
  "set",
  {
    key: nameArgument("key", "Its key; keys that share a path form a series", "Give the record a key"),
    text: Argument.String("content").pipe(
      Argument.withDescription("The text; @file reads a file, @@ begins a text with @, - reads stdin"),
    ),
    kind: Flag.String("kind").pipe(Flag.withDescription("What it is, in one word"), Flag.withDefault("note")),
    tag: Flag.String("tag").pipe(Flag.withDescription("A tag; can be given several times"), Flag.between(0, 64)),
    public: switchFlag("public", "Everybody may read it"),
  },
  Effect.fn(function* ({ key, kind, public: open, tag, text }) {
    const words = yield* textGiven(text)
    const made = yield* ask((stoa) =>
      stoa.memory.put({
        kind,
        key,
        content: words,
        ...(tag.length > 0 ? { tags: tag } : {}),
        ...(open ? { public: true } : {}),
      }),
    )
    yield* show(made, `${made.id}  version ${made.version}`)
  }),
).pipe(
  Command.withDescription("Write a record by its key: a new one, or its next version"),
  Command.withExamples([{ command: 'stoa memory set trip/plan "by train, on Friday"', description: "Keep a note" }]),
)

/** The house names the field of the request; here that is a flag. */
const byFlag = (failure: Failure): Failure =>
  withMessage(failure, failure.message.replace(/\bexpectedVersion (?=\d)/, "--version "))

const edit = Command.make(
  "edit",
  {
    id,
    text: Argument.String("content").pipe(
      Argument.withDescription("The new text; @file reads a file, @@ begins a text with @, - reads stdin"),
    ),
    version: Flag.Int("version").pipe(
      Flag.withDescription("The version you read; the write is refused if somebody has changed it since"),
      Flag.optional,
    ),
  },
  Effect.fn(function* ({ id, text, version }) {
    const words = yield* textGiven(text)
    const made = yield* ask((stoa) =>
      stoa.memory.change(id, { content: words, ...givenFlags({ expectedVersion: version }) }),
    ).pipe(Effect.mapError(byFlag))
    yield* show(made, `${made.id}  version ${made.version}`)
  }),
).pipe(Command.withDescription("Replace a record's content; the version before stays in its history"))

const history = Command.make(
  "history",
  { id },
  Effect.fn(function* ({ id }) {
    const stoa = yield* client
    const items = yield* all((cursor) =>
      stoa.memory.history(id, { limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
    )
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const rows = items.map((row) => ({ ...row, by: nameOf(row.origin.principal, known) }))
    yield* list(json ? items : rows, { shown: ["version", "at", "by", "tags", "content"] })
  }),
).pipe(Command.withDescription("Every version of a record, the newest first"))

const revert = Command.make(
  "revert",
  { id, version: Argument.Int("version").pipe(Argument.withDescription("The version to go back to")) },
  Effect.fn(function* ({ id, version }) {
    const made = yield* ask((stoa) => stoa.memory.revert(id, { version }))
    yield* show(made, `${made.id}  version ${made.version}`)
  }),
).pipe(Command.withDescription("Make an earlier version the newest one again"))

const rm = Command.make(
  "rm",
  {
    id,
    permanent: switchFlag("permanent", "Permanently, with its history"),
  },
  Effect.fn(function* ({ id, permanent }) {
    yield* ask((stoa) => stoa.memory.remove(id, permanent ? { permanent: "true" } : {}))
    yield* printNote(
      permanent ? `${id} is deleted permanently` : `${id} is deleted; bring it back with: stoa memory restore ${id}`,
    )
  }),
).pipe(Command.withDescription("Delete a record"))

const restore = Command.make(
  "restore",
  { id },
  Effect.fn(function* ({ id }) {
    const made = yield* ask((stoa) => stoa.memory.restore(id))
    yield* show(made, `${made.id}  version ${made.version}`)
  }),
).pipe(Command.withDescription("Restore a deleted record"))

const diff = Command.make(
  "diff",
  {
    id,
    from: Flag.Int("from").pipe(Flag.withDescription("The earlier version (the one before)"), Flag.optional),
    to: Flag.Int("to").pipe(Flag.withDescription("The later version (the newest)"), Flag.optional),
  },
  Effect.fn(function* ({ from, id, to }) {
    const found = yield* ask((stoa) => stoa.memory.diff(id, givenFlags({ from, to })))
    const marks = { same: " ", added: "+", removed: "-" }
    const tags = [...found.tags.removed.map((tag) => `- #${tag}`), ...found.tags.added.map((tag) => `+ #${tag}`)]
    yield* show(found, [...found.lines.map(({ change, text }) => `${marks[change]} ${text}`), ...tags].join("\n"))
    const left = found.left === undefined ? "" : `, and ${found.left} lines more`
    yield* printNote(`version ${found.from} to ${found.to}${left}`)
  }),
).pipe(Command.withDescription("What changed between two versions of a record"))

const everything = Effect.gen(function* () {
  const stoa = yield* client
  return yield* all((cursor) => stoa.memory.export({ limit: 100, ...(cursor === undefined ? {} : { cursor }) }))
})

const exportVerb = Command.make(
  "export",
  {
    to: nameArgument(
      "to",
      "A new file of JSON Lines, or a folder for Markdown files; - is stdout",
      "Give a file, or - for stdout",
    ).pipe(Argument.withDefault("-")),
    markdown: switchFlag("markdown", "A folder of Markdown files that you can edit"),
  },
  Effect.fn(function* ({ markdown, to }) {
    if (!markdown && to !== "-" && fileExists(to))
      return yield* refusal(`${to} already exists. Give the name of a new file.`)
    const lines = (yield* everything) as ReadonlyArray<MemoryLineJson>
    if (markdown && to === "-") return yield* refusal("Name a folder for the Markdown files.")
    if (markdown) yield* writeFolder(to, memoryFilesOf(lines))
    else if (to === "-") yield* printRaw(jsonLinesOf(lines))
    else yield* writeWhole(to, jsonLinesOf(lines))
    yield* printNote(
      `${countNoun(lines.length, "version")}${to === "-" ? "" : ` ${lines.length === 1 ? "is" : "are"} in ${to}`}`,
    )
  }),
).pipe(
  Command.withDescription("Export your memory with its history, to a file or a folder"),
  Command.withExamples([
    { command: "stoa memory export mine.jsonl", description: "One file" },
    { command: "stoa memory export notes --markdown", description: "A folder you can edit" },
  ]),
)

/** Less than a house accepts at once, with room for the rest of the body. */
const largestPart = 3 * 1024 * 1024

/** Translates the house's error about a line to the file it is from. */
const inFiles = (failure: Failure, placeOf: (at: number) => string | undefined): Failure => {
  const issues = failure.cause instanceof StoaError ? failure.cause.issues : []
  const named = issues.flatMap(({ message, path }) => {
    const [, at = "", rest = ""] = /^lines\.(\d+)\.?(.*)$/.exec(path) ?? []
    const place = at === "" ? undefined : placeOf(Number(at))
    return place === undefined ? [] : [[place, rest, message].filter((part) => part !== "").join(": ")]
  })
  return named.length === 0 ? failure : refusal(`Nothing was imported: ${named.join("; ")}.`)
}

const importVerb = Command.make(
  "import",
  {
    from: nameArgument(
      "from",
      "A file of JSON Lines, a folder, or - for stdin",
      "Give a file, a folder, or - for stdin",
    ),
  },
  Effect.fn(function* ({ from }) {
    const sources = yield* readLines(from)
    const places = new Map(sources.map(({ line, place }) => [line, place]))
    const lines = sources.map(({ line }) => line)
    const sum = { written: 0, unchanged: 0 }
    for (const part of batchesOf(lines, maxLines, largestPart)) {
      const { unchanged, written } = yield* ask((stoa) => stoa.memory.import({ lines: part })).pipe(
        Effect.mapError((failure) => inFiles(failure, (at) => places.get(part[at]!))),
      )
      sum.written += written
      sum.unchanged += unchanged
    }
    yield* show(sum, `${sum.written} written, ${sum.unchanged} were there already`)
  }),
).pipe(
  Command.withDescription("Import an export into your own memory; importing it again changes nothing"),
  Command.withExamples([{ command: "stoa memory import mine.jsonl", description: "What was exported" }]),
)

const erase = Command.make(
  "erase",
  {
    confirm: textFlag(
      "confirm",
      "Your own name, to confirm: everything you own here is permanently removed, with its history",
    ),
  },
  Effect.fn(function* ({ confirm }) {
    const { name } = yield* ask((stoa) => stoa.principals.me())
    const sure = Option.getOrUndefined(confirm) === name
    const { erased } = yield* ask((stoa) => stoa.memory.erase({ confirm: name, dryRun: !sure }))
    if (!sure)
      return yield* refusal(
        `${countNoun(erased, "record")} of ${name} would be erased for good. To do it: stoa memory erase --confirm ${name}`,
      )
    yield* show({ erased }, `${countNoun(erased, "record")} ${erased === 1 ? "is" : "are"} erased`)
  }),
).pipe(Command.withDescription("Erase all your memory in this house permanently; export it first"))

const embedding = Command.make(
  "embedding",
  {},
  Effect.fn(function* () {
    const found = yield* ask((stoa) => stoa.memory.embedding())
    const { embedded, model, problem, records, refused, state } = found
    const far = `${embedded} of your ${countNoun(records, "record")} can be found by meaning (${model})`
    yield* show(
      found,
      state === "off"
        ? 'off: a search compares words only. To search by meaning too, an operator declares a model with "purpose": "embedding"'
        : `${state}: ${far}${refused === 0 ? "" : `, ${refused} were refused`}`,
    )
    if (problem !== undefined) yield* printNote(`${problem} Until it answers, a search compares words only.`)
  }),
).pipe(Command.withDescription("How many of your records can be found by meaning"))

export const memory = Command.make("memory").pipe(
  Command.withDescription("Memory: records that outlive a conversation"),
  Command.withSubcommands([
    ls,
    search,
    one,
    set,
    edit,
    history,
    diff,
    revert,
    rm,
    restore,
    share,
    offers,
    take,
    decline,
    exportVerb,
    importVerb,
    erase,
    embedding,
  ]),
)
