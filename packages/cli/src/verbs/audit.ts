import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { nameOf, namesForPeople, withNames } from "../names.ts"
import { ask, list, root } from "../root.ts"

export const audit = Command.make(
  "audit",
  {
    principal: Flag.String("principal").pipe(Flag.withDescription("Name or id"), Flag.optional),
    tool: Flag.String("tool").pipe(Flag.withDescription("A tool's name"), Flag.optional),
    result: Flag.Literals("result", ["success", "failure", "denied"]).pipe(Flag.optional),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many, at most 100"), Flag.withDefault(50)),
  },
  Effect.fn(function* ({ limit, principal, result, tool }) {
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
