import { type Issue, readTool } from "@stoa/contract"
import { migrateTools } from "@stoa/importers"
import { type Stoa, StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { countNoun } from "../../output/countNoun.ts"
import { Failure, refusal, withMessage } from "../../Failure.ts"
import { withCommand } from "../../output/hints.ts"
import { givenFlags, nameArgument, switchFlag, textFlag, wordsFlag } from "../../command/flags.ts"
import { jsonFile } from "../../input/values.ts"
import { nameOf, namesForPeople } from "../../output/names.ts"
import { shellQuote } from "../../output/shellQuote.ts"
import { all, ask, client, list, printLine, printJson, root, show, printNote } from "../../command/root.ts"

type Form = Parameters<Stoa["tools"]["add"]>[0]

const name = nameArgument("name", "Name of the tool", 'Give a tool; "stoa tools ls" lists yours')
const file = nameArgument("file", "JSON, comments allowed; - reads stdin", "Give a file, or - for stdin")

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const stoa = yield* client
    const items = yield* all((cursor) => stoa.tools.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) }))
    const { json } = yield* root
    const rows = items.map((one) => ({ ...one, description: one.description.replaceAll(/\s+/g, " ") }))
    yield* list(json ? items : rows, columns.tools)
  }),
).pipe(Command.withDescription("List the tools you may call; asks = a person decides before it runs"))

const one = Command.make(
  "show",
  { name },
  Effect.fn(function* ({ name }) {
    const found = yield* ask((stoa) => stoa.tools.get(name))
    yield* show(found, JSON.stringify(found, null, 2))
  }),
).pipe(Command.withDescription("Show one tool as its callers see it"))

const meantIn = ({ problem }: StoaError): string =>
  typeof problem["meant"] === "string" ? ` Did you mean "${problem["meant"]}"?` : ""

const unseen = (name: string) => (failure: Failure) =>
  failure.cause instanceof StoaError && failure.cause.status === 404
    ? withMessage(
        failure,
        `There is no tool "${name}" that you can see, and no call of one.${meantIn(failure.cause)} "stoa tools ls" lists yours.`,
      )
    : failure

const calls = Command.make(
  "calls",
  {
    name,
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, 100 at most"), Flag.withDefault(20)),
  },
  Effect.fn(function* ({ limit, name }) {
    const { items } = yield* ask((stoa) => stoa.calls.list({ tool: name, order: "newest", limit }))
    if (items.length === 0)
      yield* Effect.mapError(
        ask((stoa) => stoa.tools.get(name)),
        unseen(name),
      )
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    yield* list(json ? items : items.map((one) => ({ ...one, principal: nameOf(one.principal, known) })), columns.calls)
  }),
).pipe(
  Command.withDescription("The last calls of a tool, newest first; an admin sees everybody's"),
  Command.withExamples([{ command: "stoa tools calls weather --json", description: "Your last 20 calls of it" }]),
)

/** One line per fault, by its path. */
const faulty = Effect.fnUntraced(function* (issues: ReadonlyArray<Issue>, file: string) {
  for (const { message, path } of issues) yield* printNote(path === "" ? message : `${path}: ${message}`)
  return yield* refusal(
    `${file}: ${issues.length === 1 ? "one fault" : `${issues.length} faults`}, and nothing was done.`,
  )
})

/** The tools of a file: one, a list, or `{"tools": [...]}`. Read completely before the first is sent. */
const forms = Effect.fnUntraced(function* (file: string) {
  const value = yield* jsonFile(file)
  const held = (value as { readonly tools?: unknown } | null)?.tools
  const [found, prefix] = Array.isArray(value)
    ? [value, ""]
    : Array.isArray(held)
      ? [held, "tools."]
      : [[value], undefined]
  if (found.length === 0) return yield* refusal(`${file === "-" ? "stdin" : file} has no tools.`)
  const issues = found.flatMap((one, at) => {
    const read = readTool(one)
    const place = prefix === undefined ? [] : [`${prefix}${at}`]
    return read.ok
      ? []
      : read.issues.map(({ message, path }) => ({ path: [...place, path].filter(Boolean).join("."), message }))
  })
  if (issues.length > 0) return yield* faulty(issues, file)
  return { tools: found as ReadonlyArray<Form & { readonly name: string }>, single: prefix === undefined }
})

/** The verb that changes it, for a tool that is there already: the house's answer cannot name the file. */
const toChange = (failure: Failure, file: string): Failure =>
  failure.cause instanceof StoaError && failure.cause.tag === "NameTaken"
    ? withMessage(
        failure,
        `${failure.message} To change a configured tool of this name: stoa tools set ${shellQuote(file)}`,
      )
    : failure

const send = (
  verb: string,
  words: string,
  sent: (stoa: Stoa, form: Form & { readonly name: string }) => ReturnType<Stoa["tools"]["add"]>,
) =>
  Command.make(
    verb,
    { file },
    Effect.fn(function* ({ file }) {
      const { single, tools } = yield* forms(file)
      const { json } = yield* root
      const made: Array<object> = []
      for (const form of tools) {
        const tool = yield* Effect.mapError(
          ask((stoa) => sent(stoa, form)),
          (failure) => {
            // Says how many were added before the failure.
            const told = `${made.length} of ${tools.length} tools were added before "${form.name}". ${failure.message}`
            const whole = single ? failure : withMessage(failure, told)
            return verb === "add" ? toChange(whole, file) : whole
          },
        )
        made.push(tool)
        if (!json) yield* printLine(tool.name)
        for (const note of tool.notes ?? []) yield* printNote(withCommand(note))
      }
      if (json) yield* printJson(single ? made[0] : made)
    }),
  ).pipe(Command.withDescription(words))

const add = send("add", "Add the tools of a file", (stoa, form) => stoa.tools.add(form)).pipe(
  Command.withExamples([{ command: "stoa tools add weather.json --json", description: "One tool, or a list of them" }]),
)
const set = send("set", "Add the tools of a file, or change them to what it says", (stoa, form) =>
  stoa.tools.change(form.name, form),
)

const rm = Command.make(
  "rm",
  { name },
  Effect.fn(function* ({ name }) {
    yield* ask((stoa) => stoa.tools.remove(name))
    yield* printNote(`${name} is removed`)
  }),
).pipe(Command.withDescription("Remove a configured tool"))

const migrate = Command.make(
  "migrate",
  { file },
  Effect.fn(function* ({ file }) {
    const migrated = migrateTools(yield* jsonFile(file))
    if (!migrated.ok) return yield* faulty(migrated.issues, file)
    yield* Effect.forEach(migrated.notes, printNote, { discard: true })
    const { json } = yield* root
    yield* printJson({ tools: migrated.tools }, json ? 0 : 2)
  }),
).pipe(
  Command.withDescription("Convert tools from version 1 of the format and print them; changes nothing"),
  Command.withExamples([
    { command: "stoa tools migrate old.json > tools.json", description: "Then: stoa tools add tools.json" },
  ]),
)

/** A tool, a list, or `{"tools": [...]}`, of any version: not an OpenAPI document. */
const holdsTools = (value: unknown): boolean => {
  if (Array.isArray(value)) return true
  const { execution, executionType, openapi, parameters, swagger, tools, type } = Object(value) as Record<
    string,
    unknown
  >
  if (openapi !== undefined || swagger !== undefined) return false
  return [execution, executionType, parameters, tools, type].some((one) => one !== undefined)
}

/** Most API descriptions are written in YAML. */
const inJson = (failure: Failure, file: string): Failure =>
  failure.message.includes("is not JSON") &&
  (/\.ya?ml$/i.test(file) || /"(---|openapi:|swagger:)/.test(failure.message))
    ? withMessage(failure, `${file === "-" ? "stdin" : file} is YAML: convert it to JSON first.`)
    : failure

const taken = (failure: Failure): Failure =>
  failure.cause instanceof StoaError && failure.cause.tag === "NameTaken"
    ? withMessage(
        failure,
        `${failure.message} Give other names with --prefix, or change a tool that is there with: stoa tools set FILE`,
      )
    : failure

const load = Command.make(
  "import",
  {
    file,
    apply: switchFlag("apply", "Add them; without it they are only shown"),
    baseUrl: textFlag("base-url", "Where the API is, if the document does not say"),
    prefix: wordsFlag("prefix", "Put before every name"),
    include: Flag.String("include").pipe(
      Flag.withDescription("Only this operation; can be given several times"),
      Flag.between(0, 1000),
    ),
  },
  Effect.fn(function* ({ apply, baseUrl, file, include, prefix }) {
    // As text: an API description has more values than any other body may have.
    const value = yield* Effect.mapError(jsonFile(file), (failure) => inJson(failure, file))
    const from = file === "-" ? "stdin" : file
    if (holdsTools(value))
      return yield* refusal(
        `${from} has tools and is not an OpenAPI document. Add them with: stoa tools add FILE. If they are of version 1, convert them first: stoa tools migrate FILE > tools.json`,
      )
    const document = JSON.stringify(value)
    const report = yield* ask((stoa) =>
      stoa.tools.import(
        {
          document,
          ...givenFlags({ baseUrl, prefix }),
          ...(include.length > 0 ? { include } : {}),
        },
        { dryRun: apply ? "false" : "true" },
      ),
    ).pipe(Effect.mapError(taken))
    const { json } = yield* root
    if (json) yield* printJson(report)
    else if (report.tools.length > 0)
      yield* list(report.tools, { shown: ["name", "riskLevel", "requiresApproval", "description"] })
    for (const { operation, reason } of report.skipped)
      yield* printNote(`left out ${operation}: ${reason.replace("with baseUrl", "with --base-url")}`)
    for (const { secret, why } of report.needs) yield* printNote(`needs the secret ${secret}: ${why}`)
    yield* Effect.forEach(report.notes, printNote, { discard: true })
    if (report.issues.length > 0) return yield* faulty(report.issues, file)
    if (report.tools.length === 0)
      return yield* new Failure({
        message: `${from} has no operation that can become a tool${report.skipped.length === 0 ? "" : ": see above"}. Nothing was added.`,
        exitCode: 1,
      })
    yield* printNote(
      report.dryRun
        ? "Nothing was added. Add them with --apply."
        : `${countNoun(report.tools.length, "tool")} ${report.tools.length === 1 ? "was" : "were"} added.`,
    )
  }),
).pipe(
  Command.withDescription("Tools from an OpenAPI document: shown first, added with --apply"),
  Command.withExamples([
    { command: "stoa tools import crm.openapi.json --prefix crm", description: "See what would be added" },
  ]),
)

const key = Command.make(
  "key",
  { name },
  Effect.fn(function* ({ name }) {
    const found = yield* ask((stoa) => stoa.tools.signingKey(name))
    yield* show(found, found.key)
    yield* printNote("This key signs requests in both directions: give it only to that service.")
  }),
).pipe(Command.withDescription("The signing key of a webhook tool"))

export const tools = Command.make("tools").pipe(
  Command.withDescription("List, add and change tools"),
  Command.withSubcommands([ls, one, calls, add, set, rm, migrate, load, key]),
)
