import { nobodyMayAnswer } from "@stoa/contract"
import { StoaError } from "@stoa/sdk"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Decision, nobody, unanswerable } from "../../output/decisionLines.ts"
import { needsName, withHint } from "../../output/hints.ts"
import { Failure, refusal, withMessage } from "../../Failure.ts"
import { givenFlags, nameArgument, switchFlag, textFlag } from "../../command/flags.ts"
import { objectFlag } from "../../input/values.ts"
import { ask, printLine, printJson, root, show, whoAmI } from "../../command/root.ts"

interface CallLike {
  readonly id: string
  readonly tool: string
  readonly state: string
  readonly output?: unknown
  readonly error?: { readonly tag: string; readonly message: string }
  readonly rule: string | null
  readonly on?: { readonly kind: string; readonly id: string }
  readonly note?: string
}

const next: Record<string, (on: string, answerable: boolean) => string> = {
  decision: (on, answerable) =>
    answerable ? `somebody decides ${on} (stoa decide ${on})` : `another person decides ${on}`,
  client: (on) => `somebody in its space answers ${on}`,
  callback: () => "the one who does the work says so",
}

/** The decision that a call waits for, if its caller may see it. */
const decisionOn = (on: CallLike["on"]) =>
  on?.kind === "decision"
    ? Effect.option(ask((stoa) => stoa.decisions.get(on.id)))
    : Effect.succeed(Option.none<Decision>())

/** A person who cannot answer is not told to; what an agent asks, the person who reads this may answer. */
const isForOthers = Effect.fnUntraced(function* (decision: Option.Option<Decision>) {
  if (Option.isNone(decision)) return false
  const me = yield* whoAmI
  return me?.kind === "person" && unanswerable(decision.value, me.id) !== undefined
})

/** The outcome: the output on stdout; anything else is a sentence and an exit code. */
const report = Effect.fnUntraced(function* (call: CallLike) {
  const { error, id, note, on, output, rule, state, tool } = call
  const { json } = yield* root
  if (json) yield* printJson(call)
  if (state === "done") return json ? undefined : yield* printJson(output ?? null)
  const open = state === "waiting" || state === "running" || state === "received"
  if (!open) {
    const { message, tag } = error ?? { tag: "", message: `${tool} is ${state}` }
    const me = needsName({ tag }) ? yield* whoAmI : undefined
    const said = { tag, message: `${inFlags(message).replace(/\.$/, "")} (${id}).`, fields: { rule, toolName: tool } }
    return yield* new Failure({ message: withHint(said, me), exitCode: state === "refused" ? 2 : 1 })
  }
  if (!json) yield* printLine(id)
  const decision = yield* decisionOn(on)
  const alone =
    note === nobodyMayAnswer
      ? // What helps depends on its kind.
        `${nobody(Option.getOrElse(decision, () => ({ kind: "approval" as const, space: null })))} `
      : note === undefined
        ? ""
        : `${note} `
  const until =
    on === undefined ? "it is done" : (next[on.kind]?.(on.id, !(yield* isForOthers(decision))) ?? "it is done")
  return yield* new Failure({
    message: `${tool} is ${state} until ${until}. ${alone}See it with: stoa call --status ${id} --wait 60`,
    exitCode: 3,
  })
})

/** The house names the nearest tool; the command line adds where to find the others. A held tool is the one meant. */
const whereToLook = (failure: Failure): Failure =>
  failure.cause instanceof StoaError && failure.cause.tag === "ToolNotFoundError" && !/ is held: /.test(failure.message)
    ? withMessage(failure, `${failure.message} See what you may call with: stoa tools ls`)
    : withMessage(failure, inFlags(failure.message))

/** The house names a field of the request; here that is a flag. */
const inFlags = (message: string): string =>
  message.replace(/with "space"\.?/, 'with --space NAME; "stoa spaces ls" lists yours.')

export const call = Command.make(
  "call",
  {
    tool: nameArgument("tool", "Name of the tool", 'Give a tool; "stoa tools ls" lists yours').pipe(Argument.optional),
    input: textFlag("input", "Its input as JSON; @file reads a file, - reads stdin"),
    space: textFlag("space", "The space in which it is called"),
    wait: Flag.Finite("wait").pipe(
      Flag.withDescription("Seconds to wait for the result, even if a person must decide first; 0 returns at once"),
      Flag.optional,
    ),
    dryRun: switchFlag("dry-run", "Check rights and input and show what would be sent, but run nothing"),
    key: textFlag("key", "Idempotency key: a second call with the same key returns the first"),
    status: textFlag("status", "Instead of a tool: show the call with this id"),
    cancel: textFlag("cancel", "Instead of a tool: cancel the call with this id"),
    result: textFlag("result", "Instead of a tool: send --input as the result of this waiting call"),
  },
  Effect.fn(function* ({ cancel, dryRun, input, key, result, space, status, tool, wait }) {
    const subjects = [tool, status, cancel, result].filter(Option.isSome)
    if (subjects.length !== 1) return yield* refusal("Give one thing: a TOOL, --status ID, --cancel ID or --result ID.")
    const stay = givenFlags({ wait })
    if (Option.isSome(status)) return yield* report(yield* ask((stoa) => stoa.calls.get(status.value, stay)))
    if (Option.isSome(cancel)) {
      const canceled = yield* ask((stoa) => stoa.calls.cancel(cancel.value))
      return yield* show(canceled, `${canceled.id}  ${canceled.state}`)
    }
    const body = Option.isSome(input) ? yield* objectFlag(input.value, "input") : {}
    if (Option.isSome(result))
      return yield* report(yield* ask((stoa) => stoa.results.submit(result.value, { output: body })))
    const made = yield* ask((stoa) =>
      stoa.tools.call(
        Option.getOrThrow(tool),
        {
          input: body,
          ...stay,
          ...givenFlags({ space }),
          ...(dryRun ? { dryRun } : {}),
        },
        givenFlags({ idempotencyKey: key }),
      ),
    ).pipe(Effect.mapError(whereToLook))
    yield* "dryRun" in made ? printJson(made) : report(made)
  }),
).pipe(
  Command.withDescription("Call a tool, read a call, or cancel it"),
  Command.withExamples([
    { command: `stoa call weather --input '{"city":"Scranton"}' --json`, description: "Call it; exit 3 if it waits" },
    { command: "stoa call --status call_… --wait 60", description: "Wait for the result of a call" },
  ]),
)
