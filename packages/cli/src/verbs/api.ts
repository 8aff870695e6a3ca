/** Every endpoint of the contract as a command, so that nothing is on HTTP alone. */
import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { refused } from "../Failure.ts"
import { ask, out, talk } from "../root.ts"

type Groups = Record<string, { readonly endpoints: Record<string, { readonly method: string; readonly path: string }> }>
const groups = Api.groups as unknown as Groups

const argument = (text: string): unknown => {
  // A body or query is JSON; a path parameter is the text itself.
  if (!/^[[{]/.test(text)) return text
  return JSON.parse(text) as unknown
}

const names = Object.entries(groups).flatMap(([group, { endpoints }]) =>
  Object.entries(endpoints).map(
    ([name, { method, path }]) => `${group} ${name}`.padEnd(24) + `${method.padEnd(7)}${path}`,
  ),
)

export const api = Command.make(
  "api",
  {
    group: Argument.String("group").pipe(Argument.withDefault("")),
    name: Argument.String("name").pipe(Argument.withDefault("")),
    args: Argument.String("args").pipe(Argument.variadic()),
  },
  Effect.fn(function* ({ args, group, name }) {
    if (groups[group]?.endpoints[name] === undefined) {
      yield* Effect.forEach(names, out, { discard: true })
      return yield* group === "" ? Effect.void : refused(`There is no ${group} ${name}. Those above are all there are.`)
    }
    const answer = yield* ask((stoa) => {
      const methods = stoa[group as "tokens"] as unknown as Record<
        string,
        (...given: ReadonlyArray<unknown>) => Promise<unknown>
      >
      return methods[name]!(...args.map(argument))
    })
    yield* answer === undefined ? talk("done") : out(JSON.stringify(answer))
  }),
).pipe(
  Command.withDescription("Any endpoint of the API, by name; alone it lists them"),
  Command.withExamples([
    {
      command: `stoa api grants add '{"principal":"pam","resource":"tools/*","actions":["execute"]}'`,
      description: "Add a grant",
    },
  ]),
)
