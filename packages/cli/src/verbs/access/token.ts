import { DateTime, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { givenFlags, nameArgument, switchFlag, timeFlag, wordsFlag } from "../../command/flags.ts"
import { nameOf, namesForPeople } from "../../output/names.ts"
import { all, ask, client, list, root, show, printNote } from "../../command/root.ts"

const whose = 'Give a principal; "stoa people ls" and "stoa agents ls" list them'

const add = Command.make(
  "add",
  {
    principal: nameArgument("principal", "Whose token: name or id", whose),
    label: wordsFlag("label", "What it is for"),
    expires: timeFlag("expires", "When it ends"),
    context: Flag.Literals("context", ["agent", "crossroads", "internal"]).pipe(
      Flag.withDescription("Its context; rarely needed"),
      Flag.optional,
    ),
    certificate: switchFlag("certificate", "Lasts seven days; renew it with rotate"),
  },
  Effect.fn(function* ({ certificate, context, expires, label, principal }) {
    const made = yield* ask((stoa) =>
      stoa.tokens.add({
        principal,
        ...givenFlags({ label, expiresAt: expires, context }),
        ...(certificate ? { certificate } : {}),
      }),
    )
    yield* show(made, made.token)
    yield* printNote("This token is shown only once: keep it safe.")
  }),
).pipe(
  Command.withDescription("Make a token; it is shown once"),
  Command.withExamples([{ command: "stoa token add pam --json", description: "A token for Pam" }]),
)

interface Lasting {
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}
const stateOf = ({ expiresAt, revokedAt }: Lasting, now: DateTime.DateTime): string =>
  revokedAt !== null ? "revoked" : expiresAt !== null && expiresAt <= DateTime.formatIso(now) ? "expired" : "valid"

const ls = Command.make(
  "ls",
  { principal: nameArgument("principal", "Whose tokens: name or id", whose).pipe(Argument.optional) },
  Effect.fn(function* ({ principal }) {
    const stoa = yield* client
    const wanted = givenFlags({ principal })
    const items = yield* all((cursor) =>
      stoa.tokens.list({ limit: 100, ...wanted, ...(cursor === undefined ? {} : { cursor }) }),
    )
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const now = yield* DateTime.now
    const rows = items.map((one) => ({ ...one, principal: nameOf(one.principal, known), state: stateOf(one, now) }))
    yield* list(json ? items : rows, columns.tokens)
  }),
).pipe(Command.withDescription("List tokens, without their secrets"))

const id = nameArgument("id", "The token's id, tok_…", 'Give a token\'s id; "stoa token ls" lists them')

const rm = Command.make(
  "rm",
  { id },
  Effect.fn(function* ({ id }) {
    yield* ask((stoa) => stoa.tokens.revoke(id))
    yield* printNote(`${id} no longer works`)
  }),
).pipe(Command.withDescription("Revoke a token, at once"))

const rotate = Command.make(
  "rotate",
  { id },
  Effect.fn(function* ({ id }) {
    const made = yield* ask((stoa) => stoa.tokens.rotate(id))
    yield* show(made, made.token)
    yield* printNote("This token is shown only once; the old one no longer works.")
  }),
).pipe(Command.withDescription("Replace a token with a new one of the same expiry"))

const key = Command.make(
  "key",
  { service: nameArgument("service", "The service's name or id", "Give the service's name or id") },
  Effect.fn(function* ({ service }) {
    const found = yield* ask((stoa) => stoa.principals.signingKey(service))
    yield* show(found, found.key)
    yield* printNote("Whoever has this key can start runs as this service: give it only to the service.")
  }),
).pipe(Command.withDescription("The key with which a service signs its requests to agents"))

export const token = Command.make("token").pipe(
  Command.withDescription("Credentials"),
  Command.withSubcommands([add, ls, rm, rotate, key]),
)
