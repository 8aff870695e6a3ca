/** Grants: an admin's rules for one principal, and the verdict they lead to. */
import { Action, Verdict } from "@stoa/contract"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { givenFlags, nameArgument, timeFlag } from "../../command/flags.ts"
import { nameOf, namesForPeople } from "../../output/names.ts"
import { idOf } from "../../command/ids.ts"
import { shortIds } from "../../output/shortIds.ts"
import { change } from "../../command/change.ts"
import { all, ask, client, list, root, show, printNote, terminalOf } from "../../command/root.ts"

const principal = nameArgument(
  "principal",
  "Name or id",
  'Give a principal; "stoa people ls" and "stoa agents ls" list them',
)
const resource = nameArgument(
  "resource",
  "A path such as tools/web-search; * matches any characters",
  "Give a resource, such as tools/web-search",
)

const given = Effect.fnUntraced(function* (whose: { readonly principal?: string }) {
  const stoa = yield* client
  return yield* all((cursor) => stoa.grants.list({ limit: 100, ...whose, ...(cursor === undefined ? {} : { cursor }) }))
})

const ls = Command.make(
  "ls",
  { principal: principal.pipe(Argument.optional) },
  Effect.fn(function* ({ principal }) {
    const { json } = yield* root
    const items = yield* given(givenFlags({ principal }))
    const known = yield* namesForPeople(items)
    // At a terminal the ids leave room for the rest; "grants rm" takes their beginnings. A list of one principal's shows
    // them whole: others' may begin alike.
    const isShort = terminalOf() !== undefined && Option.isNone(principal)
    const short = isShort ? shortIds(items.map(({ id }) => id)) : new Map<string, string>()
    const rows = items.map(({ actions, effect, expiresAt, id, principal, resource, source }) => ({
      who: nameOf(principal, known),
      what: `${effect} ${actions.join(", ")}`,
      where: resource,
      until: expiresAt,
      source,
      id: short.get(id) ?? id,
    }))
    yield* list(json ? items : rows, columns.grants)
  }),
).pipe(Command.withDescription("List grants: everybody's, or one principal's"))

const add = Command.make(
  "add",
  {
    principal,
    resource,
    action: Flag.Literals("action", Action.literals).pipe(
      Flag.withDescription("The action; can be given several times (default: execute)"),
      Flag.between(0, 5),
    ),
    effect: Flag.Literals("effect", Verdict.literals).pipe(
      Flag.withDescription("allow, ask (a person decides each time) or deny"),
      Flag.withDefault("allow"),
    ),
    expires: timeFlag("expires", "When it ends"),
  },
  Effect.fn(function* ({ action, effect, expires, principal, resource }) {
    const made = yield* change((stoa) =>
      stoa.grants.add({
        principal,
        resource,
        actions: action.length > 0 ? action : ["execute"],
        effect,
        ...givenFlags({ expiresAt: expires }),
      }),
    )
    yield* show(made, `${made.id}: ${effect} ${principal} to ${made.actions.join(", ")} ${made.resource}`)
  }),
).pipe(
  Command.withDescription("Add a grant"),
  Command.withExamples([
    { command: "stoa grants add pam tools/wipe --effect ask", description: "Pam may, once a person has said yes" },
    { command: "stoa grants add pam 'spaces/*' --action read --action write", description: "Read and write in spaces" },
  ]),
)

const rm = Command.make(
  "rm",
  {
    id: nameArgument(
      "id",
      "The grant: its id, gnt_…, or the first characters of it",
      'Give a grant; "stoa grants ls" lists them',
    ),
  },
  Effect.fn(function* ({ id: beginning }) {
    const id = yield* idOf(beginning, {
      noun: "grant",
      where: '"stoa grants ls" lists them.',
      ids: Effect.map(given({}), (all) => all.map(({ id }) => id)),
    })
    yield* change((stoa) => stoa.grants.revoke(id))
    yield* printNote(`${id} is revoked`)
  }),
).pipe(Command.withDescription("Revoke a grant, at once"))

const judge = Command.make(
  "judge",
  { principal, action: Argument.Literals("action", Action.literals), resource },
  Effect.fn(function* ({ action, principal, resource }) {
    const judged = yield* ask((stoa) => stoa.grants.judge({ principal, action, resource }))
    yield* show(judged, `${judged.verdict}  (rule: ${judged.rule})`)
  }),
).pipe(
  Command.withDescription("Show the verdict for a principal, and the rule that decides"),
  Command.withExamples([{ command: "stoa grants judge pam execute tools/wipe", description: "Ask before you grant" }]),
)

export const grants = Command.make("grants").pipe(
  Command.withDescription("What principals may do beyond their roles"),
  Command.withSubcommands([ls, add, rm, judge]),
)
