import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { refusal } from "../../Failure.ts"
import { givenFlags, nameArgument, textFlag } from "../../command/flags.ts"
import { all, ask, client, list, show, printNote } from "../../command/root.ts"
import { printMessages } from "./conversation.ts"
import { isLongEnough, matchingIds } from "../../output/shortIds.ts"

const space = nameArgument("space", "Name or id of the space", 'Give a space; "stoa spaces ls" lists yours')
const principal = nameArgument(
  "principal",
  "Name or id",
  'Give a principal; "stoa people ls" and "stoa agents ls" list them',
)

const add = Command.make(
  "add",
  {
    name: nameArgument("name", "Its name, such as general", "Give the new space a name"),
    kind: Flag.Literals("kind", ["public", "private", "dm", "team"]).pipe(
      Flag.withDescription("Who may see it"),
      Flag.withDefault("private"),
    ),
    member: Flag.String("member").pipe(
      Flag.withDescription("A member; can be given several times"),
      Flag.between(0, 1000),
    ),
    trigger: Flag.Literals("trigger", ["dm", "mention", "human-all", "team-edge"]).pipe(
      Flag.withDescription("Which agents a message is for"),
      Flag.optional,
    ),
    topic: Flag.String("topic").pipe(Flag.optional),
  },
  Effect.fn(function* ({ kind, member, name, topic, trigger }) {
    const made = yield* ask((stoa) =>
      stoa.spaces.add({
        name,
        kind,
        ...(member.length > 0 ? { members: member } : {}),
        ...givenFlags({ trigger, topic }),
      }),
    )
    yield* show(made, `${made.name} is created: ${made.id}`)
  }),
).pipe(
  Command.withDescription("Create a space"),
  Command.withExamples([{ command: "stoa spaces add general --kind public", description: "A space for everybody" }]),
)

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const stoa = yield* client
    const items = yield* all((cursor) => stoa.spaces.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) }))
    yield* list(items, columns.spaces)
  }),
).pipe(Command.withDescription("List the spaces you may see"))

const read = Command.make(
  "read",
  { space, limit: Flag.Int("limit").pipe(Flag.withDescription("How many, at most 100"), Flag.withDefault(20)) },
  Effect.fn(function* ({ limit, space }) {
    const { items } = yield* ask((stoa) => stoa.spaces.messages(space, { limit }))
    yield* printMessages(items, ["seq", "createdAt", "author", "id", "text"])
  }),
).pipe(Command.withDescription("Read the newest messages of a space"))

const join = Command.make(
  "join",
  { space, principal },
  Effect.fn(function* ({ principal, space }) {
    yield* ask((stoa) => stoa.spaces.addMember(space, principal))
    yield* printNote(`${principal} is in ${space}`)
  }),
).pipe(Command.withDescription("Add a member"))

const leave = Command.make(
  "leave",
  { space, principal: principal.pipe(Argument.optional) },
  Effect.fn(function* ({ principal: member, space }) {
    if (Option.isNone(member))
      return yield* refusal(
        `Say who leaves, such as: stoa spaces leave ${space} Jim. To leave it yourself, give your own name.`,
      )
    yield* ask((stoa) => stoa.spaces.removeMember(space, member.value))
    yield* printNote(`${member.value} is no longer in ${space}`)
  }),
).pipe(
  Command.withDescription("Remove a member, or leave"),
  Command.withExamples([{ command: "stoa spaces leave harbour Jim", description: "Jim is no longer in harbour" }]),
)

export const spaces = Command.make("spaces").pipe(
  Command.withDescription("Spaces: where people and agents talk"),
  Command.withSubcommands([add, ls, read, join, leave]),
)

/** The message a person means: its id, or a beginning of it that only one of the newest messages has. */
const messageOf = Effect.fnUntraced(function* (space: string, given: string) {
  if (!/^(msg_)?[0-9a-f-]{6,35}$/.test(given) || !isLongEnough(given)) return given
  const { items } = yield* ask((stoa) => stoa.spaces.messages(space, { limit: 100 }))
  const found = matchingIds(
    given,
    items.map((one) => one.id),
  )
  if (found.length === 1) return found[0]!
  return yield* refusal(
    found.length === 0
      ? `None of the newest 100 messages in ${space} begins with "${given}". "stoa spaces read ${space}" shows them.`
      : `"${given}" begins ${found.length} messages in ${space}. Give more of the id; "stoa spaces read ${space}" shows enough of it.`,
  )
})

export const say = Command.make(
  "say",
  {
    space,
    text: Argument.String("text").pipe(Argument.withDescription("What to say")),
    replyTo: textFlag("reply-to", "The message it replies to: its id, or the first characters of it"),
  },
  Effect.fn(function* ({ replyTo, space, text }) {
    const reply = Option.isSome(replyTo) ? { replyTo: yield* messageOf(space, replyTo.value) } : {}
    const said = yield* ask((stoa) => stoa.spaces.post(space, { text, ...reply }))
    yield* show(said, `${said.seq}  ${said.id}`)
  }),
).pipe(
  Command.withDescription("Post a message in a space"),
  Command.withExamples([
    { command: 'stoa say general "good morning" --json', description: "Say it, and print the message" },
  ]),
)
