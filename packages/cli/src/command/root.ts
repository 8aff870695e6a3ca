/** What every verb shares: where the house is, how answers are printed, and how a failure becomes an exit code. */
// edge: writes to stdout and stderr, and asks whether a house is there.
import { existsSync } from "node:fs"
import { visibleJson, visibleLines } from "@stoa/contract"
import { connect, type Stoa, StoaError, StoaUnreachable } from "@stoa/sdk"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type Failure, failureOf, refusal, withMessage } from "../Failure.ts"
import { nameFlag } from "./flags.ts"
import { asTyped, clientSettings, type Target } from "../Settings.ts"
import { needsName, type RefusedPrincipal, withHint } from "../output/hints.ts"
import { columnsFor, filledColumns, table, type Terminal } from "../output/table.ts"
import { besideNames, fittedLines } from "../output/wrap.ts"

export const root = Command.make("stoa").pipe(
  Command.withSharedFlags({
    url: nameFlag("url").pipe(
      Flag.withDescription("Address of the house (else STOA_URL, else the local one)"),
      Flag.optional,
    ),
    token: nameFlag("token").pipe(
      Flag.withDescription("Token to use (else STOA_TOKEN, else the local admin's)"),
      Flag.optional,
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print the HTTP answer as JSON"), Flag.withDefault(false)),
  }),
  Command.withDescription("People, agents and tools in one place"),
)

export const target: Effect.Effect<Target, never, Effect.Services<typeof root>> = Effect.map(root, (flags) =>
  clientSettings({ url: Option.getOrUndefined(flags.url), token: Option.getOrUndefined(flags.token) }),
)

export const client = Effect.flatMap(target, ({ token, url }) =>
  Effect.try({
    try: () => connect(token === undefined ? { url } : { url, token }),
    catch: (cause) => refusal((cause as Error).message),
  }),
)

/** Whether the house can be asked. A local house that does not run is worked on in its data folder. */
export const houseRuns = Effect.flatMap(target, ({ folder, given, running, url }) => {
  if (given || running) return Effect.succeed(true)
  return existsSync(folder)
    ? Effect.succeed(false)
    : refusal(`No house answers at ${url}, and there is no data folder ${folder}. Set STOA_DATA or STOA_URL.`)
})

/** What the house or the way to it said, in the words of the command line: which flag or setting helps. */
const messageOf = (
  { folder, from, last, token, url }: Target,
  { cause, message }: Failure,
  me: RefusedPrincipal | undefined,
): string => {
  if (cause instanceof StoaUnreachable && last !== undefined)
    return `No house answers: the house of ${folder} is not running; its last address was ${last}. Start it again as before, or give the address of a house with --url or STOA_URL.`
  if (cause instanceof StoaUnreachable)
    return `No house answers at ${url}${from.url === "STOA_URL" ? " (from STOA_URL)" : ""}. Is it running? Start it with "stoa serve", or give its address with --url or STOA_URL.`
  if (!(cause instanceof StoaError)) return message
  const hinted = withHint({ tag: cause.tag, message, fields: cause.problem }, me)
  if (cause.tag !== "Unauthenticated") return hinted
  if (token === undefined)
    return "There is no token. Give --token or STOA_TOKEN; on the house's machine set STOA_DATA to its data folder, where the admin's token is."
  return from.token === undefined || cause.problem["reason"] !== "refused"
    ? hinted
    : `${message} It came from ${from.token}. An admin makes one with: stoa token add NAME`
}

/** Who runs this command, if the house tells: one more request, after a refusal. */
export const whoAmI = Effect.flatMap(client, (stoa) => Effect.tryPromise(() => stoa.principals.me())).pipe(
  Effect.orElseSucceed(() => undefined),
)
const refusedOne = ({ cause }: Failure) =>
  cause instanceof StoaError && needsName(cause) ? whoAmI : Effect.succeed(undefined)

/** A failure of the verb, told by whoever knows where the house was looked for. */
export const explainFailure = <A, R>(work: Effect.Effect<A, Failure, R>) =>
  Effect.catch(work, (failure) =>
    Effect.flatMap(Effect.all([target, refusedOne(failure)]), ([target, me]) =>
      withMessage(failure, messageOf(target, failure, me)),
    ),
  )

/** Asks the house. Any error is the failure of the verb. */
export const ask = <A>(question: (stoa: Stoa) => Promise<A>) =>
  explainFailure(Effect.flatMap(client, (stoa) => Effect.tryPromise({ try: () => question(stoa), catch: failureOf })))

/** Much of the output was written by others: nothing in it may move the cursor, hide or reverse text. */
const safeText = (text: string): string => visibleLines(text).join("\n")

/** Sentences as they fit the terminal behind this stream; a pipe gets them unbroken. */
export const fittedText = (text: string, out: NodeJS.WriteStream): string =>
  fittedLines(safeText(text), out.isTTY ? out.columns : undefined).join("\n")

/** Only data goes to stdout. */
export const printLine = (text: string): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${safeText(text)}\n`))
/** Streamed pieces of a text, without a newline of their own. */
export const print = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(safeText(text)))
/** A value as JSON: the same value, with nothing in its text that a terminal would act on. */
export const printJson = (value: unknown, indent?: number): Effect.Effect<void> => printLine(visibleJson(value, indent))
export const printNote = (line: string): Effect.Effect<void> =>
  Effect.sync(() => void process.stderr.write(`${fittedText(asTyped(line), process.stderr)}\n`))

/** One object: with --json the HTTP object; for a person, the given line. */
export const show = Effect.fnUntraced(function* (value: unknown, words: string) {
  const { json } = yield* root
  yield* json ? printJson(value) : printLine(words)
})

/** The terminal at which a person reads what is printed, if there is one. */
export const terminalOf = (): Terminal | undefined =>
  process.stdout.isTTY ? { width: process.stdout.columns, now: new Date() } : undefined

/** Sentences of the house beside what they are about. A command in them is named as it works here. */
export const printBeside = (rows: ReadonlyArray<readonly [name: string, sentence: string]>) =>
  Effect.forEach(
    besideNames(
      rows.map(([name, sentence]) => [name, asTyped(sentence)]),
      terminalOf(),
    ),
    printLine,
    { discard: true },
  )

/** A list: as JSON the items, for a person a table. What a narrow terminal leaves out is said. */
export const list = Effect.fnUntraced(function* (
  items: ReadonlyArray<object>,
  { shown: columns, spare = [] }: { readonly shown: ReadonlyArray<string>; readonly spare?: ReadonlyArray<string> },
) {
  const { json } = yield* root
  if (json) return yield* printJson(items)
  if (items.length === 0) return yield* printNote("none")
  const terminal = terminalOf()
  const kept = columnsFor(items, columns, spare, terminal)
  yield* Effect.forEach(table(items, kept, terminal), printLine, { discard: true })
  const left = filledColumns(items, columns).filter((column) => !kept.includes(column))
  if (left.length > 0) yield* printNote(`Not shown at this width: ${left.join(", ")} (--json has them).`)
})

/** Follows `next` to the end: a command line has no second page. */
export const all = <A>(
  page: (cursor?: string) => Promise<{ readonly items: ReadonlyArray<A>; readonly next: string | null }>,
) =>
  explainFailure(
    Effect.tryPromise({
      try: async () => {
        const items: Array<A> = []
        for (let cursor: string | undefined; ;) {
          const { items: more, next } = await page(cursor)
          items.push(...more)
          if (next === null) return items
          cursor = next
        }
      },
      catch: failureOf,
    }),
  )
