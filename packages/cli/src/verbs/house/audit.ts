// edge: writes an export to stdout as it comes.
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { givenFlags, switchFlag, textFlag } from "../../command/flags.ts"
import { nameOf, namesForPeople, withNames } from "../../output/names.ts"
import { ask, list, root } from "../../command/root.ts"

/** Streamed: a trail may be larger than memory. */
const exported = ask(async (stoa) => {
  for await (const chunk of await stoa.audit.export())
    await new Promise<void>((done, fail) =>
      process.stdout.write(chunk, (cause) => (cause === null || cause === undefined ? done() : fail(cause))),
    )
})

export const audit = Command.make(
  "audit",
  {
    principal: textFlag("principal", "Name or id"),
    tool: textFlag("tool", "A tool's name"),
    result: Flag.Literals("result", ["success", "failure", "denied"]).pipe(Flag.optional),
    export: switchFlag("export", "Export all of it as JSON Lines, oldest first, for verification"),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, at most 100"), Flag.withDefault(50)),
  },
  Effect.fn(function* ({ export: whole, limit, principal, result, tool }) {
    if (whole) return yield* exported
    const { items } = yield* ask((stoa) =>
      stoa.audit.list({
        limit,
        ...givenFlags({ principal, tool, result }),
      }),
    )
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const named = items.map((one) => ({
      ...one,
      principal: nameOf(one.principal, known),
      resource: withNames(one.resource, known),
    }))
    yield* list(json ? items : named, {
      shown: ["seq", "at", "principal", "action", "result", "rule", "resource"],
      spare: ["seq"],
    })
  }),
).pipe(
  Command.withDescription("Who did what, newest first"),
  Command.withExamples([{ command: "stoa audit --result denied --json", description: "What was refused" }]),
)
