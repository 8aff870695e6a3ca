// edge: writes an export to stdout as it comes.
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { nameOf, namesForPeople, withNames } from "../../names.ts"
import { ask, list, root } from "../../root.ts"

/** As it comes: a trail may be larger than memory. */
const exported = ask(async (stoa) => {
  for await (const chunk of await stoa.audit.export())
    await new Promise<void>((done, fail) =>
      process.stdout.write(chunk, (cause) => (cause === null || cause === undefined ? done() : fail(cause))),
    )
})

export const audit = Command.make(
  "audit",
  {
    principal: Flag.String("principal").pipe(Flag.withDescription("Name or id"), Flag.optional),
    tool: Flag.String("tool").pipe(Flag.withDescription("A tool's name"), Flag.optional),
    result: Flag.Literals("result", ["success", "failure", "denied"]).pipe(Flag.optional),
    export: Flag.Boolean("export").pipe(
      Flag.withDescription("All of it as JSON Lines, oldest first, with what verifies it"),
      Flag.withDefault(false),
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, at most 100"), Flag.withDefault(50)),
  },
  Effect.fn(function* ({ export: whole, limit, principal, result, tool }) {
    if (whole) return yield* exported
    const { items } = yield* ask((stoa) =>
      stoa.audit.list({
        limit,
        ...(Option.isSome(principal) ? { principal: principal.value } : {}),
        ...(Option.isSome(tool) ? { tool: tool.value } : {}),
        ...(Option.isSome(result) ? { result: result.value } : {}),
      }),
    )
    const { json } = yield* root
    const known = yield* namesForPeople
    const named = items.map((one) => ({
      ...one,
      principal: nameOf(one.principal, known),
      resource: withNames(one.resource, known),
    }))
    yield* list(json ? items : named, ["seq", "at", "principal", "action", "resource", "result", "correlationId"])
  }),
).pipe(
  Command.withDescription("Who did what, newest first"),
  Command.withExamples([{ command: "stoa audit --result denied --json", description: "What was refused" }]),
)
