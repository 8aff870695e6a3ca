/** Every endpoint of the contract as a command, so that the command line can do everything HTTP can. */
// edge: writes bytes to stdout.
import { Api } from "@stoa/contract"
import type { Stoa } from "@stoa/sdk"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { failureOf, refusal } from "../../Failure.ts"
import { client, printLine, printJson, root, printNote, explainFailure } from "../../command/root.ts"

type Groups = Record<string, { readonly endpoints: Record<string, { readonly method: string; readonly path: string }> }>
const groups = Api.groups as unknown as Groups

const names = Object.entries(groups).flatMap(([group, { endpoints }]) =>
  Object.entries(endpoints).map(
    ([name, { method, path }]) => `${group} ${name}`.padEnd(24) + `${method.padEnd(7)}${path}`,
  ),
)

/** A body or query is JSON; a path parameter is the text itself. */
const argument = (text: string) =>
  /^[[{]/.test(text)
    ? Effect.try({ try: () => JSON.parse(text) as unknown, catch: (cause) => refusal(`${text}: ${String(cause)}`) })
    : Effect.succeed(text)

type Call = (...given: ReadonlyArray<unknown>) => Promise<unknown>
const callOf = (stoa: Stoa, group: string, name: string): Call | undefined =>
  (stoa as unknown as Record<string, Record<string, Call>>)[group]?.[name]

const isPage = (answer: unknown): answer is { readonly items: unknown } =>
  typeof answer === "object" && answer !== null && "items" in answer && "next" in answer

/** A large answer is streamed, chunk by chunk. */
const pour = (bytes: AsyncIterable<Uint8Array>) =>
  Effect.tryPromise({
    try: async () => {
      for await (const chunk of bytes) await new Promise((done) => process.stdout.write(chunk, done))
    },
    catch: failureOf,
  })

const print = Effect.fnUntraced(function* (answer: unknown) {
  if (answer === undefined) return yield* printNote("done")
  if (answer instanceof ReadableStream) return yield* pour(answer)
  if (answer instanceof Uint8Array) return process.stdout.write(answer)
  const { json } = yield* root
  yield* printJson(json && isPage(answer) ? answer.items : answer)
})

export const api = Command.make(
  "api",
  {
    group: Argument.String("group").pipe(Argument.withDefault("")),
    name: Argument.String("name").pipe(Argument.withDefault("")),
    args: Argument.String("args").pipe(Argument.variadic()),
  },
  Effect.fn(function* ({ args, group, name }) {
    if (group === "") return yield* Effect.forEach(names, printLine, { discard: true })
    const call = callOf(yield* client, group, name)
    if (call === undefined)
      return yield* refusal(
        groups[group]?.endpoints[name] === undefined
          ? `There is no "${`${group} ${name}`.trim()}". "stoa api" lists all there are.`
          : 'That is the feed: use "stoa events".',
      )
    const given = yield* Effect.forEach(args, argument)
    const answer = yield* explainFailure(
      Effect.tryPromise({
        try: () => call(...given),
        // If the client itself refuses to send it, the arguments were wrong.
        catch: (cause) => (cause instanceof TypeError ? refusal(cause.message) : failureOf(cause)),
      }),
    )
    yield* print(answer)
  }),
).pipe(
  Command.withDescription("Call any endpoint of the API by name; without arguments, list them"),
  Command.withExamples([
    {
      command: `stoa api grants add '{"principal":"pam","resource":"tools/*","actions":["execute"]}'`,
      description: "Add a grant",
    },
  ]),
)
