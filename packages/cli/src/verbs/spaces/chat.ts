/** Lasting conversations with one agent: started, resumed, renamed, deleted. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { withMessage } from "../../Failure.ts"
import { columns } from "../../output/columns.ts"
import { givenFlags, nameArgument, textFlag, wordsFlag } from "../../command/flags.ts"
import { textGiven } from "../../input/values.ts"
import { all, ask, client, list, show, printNote } from "../../command/root.ts"
import { printMessages } from "./conversation.ts"

const id = nameArgument("id", "The session's id, ses_…", 'Give a session; "stoa chat ls" lists yours')

const ls = Command.make(
  "ls",
  { agent: textFlag("agent", "Only with this agent") },
  Effect.fn(function* ({ agent }) {
    const stoa = yield* client
    const wanted = givenFlags({ agent })
    const items = yield* all((cursor) =>
      stoa.chatSessions.list({ limit: 100, ...wanted, ...(cursor === undefined ? {} : { cursor }) }),
    )
    // Sessions outlive their agent: only where there are none the name may be wrong.
    if (items.length === 0 && Option.isSome(agent)) yield* ask((house) => house.principals.get(agent.value))
    yield* list(items, columns.chats)
  }),
).pipe(Command.withDescription("List your chat sessions, the last used first"))

const begin = Command.make(
  "new",
  {
    agent: nameArgument("agent", "With whom: name or id", 'Give an agent; "stoa agents ls" lists them'),
    title: wordsFlag("title", "Its title (default: the beginning of your first message)"),
  },
  Effect.fn(function* ({ agent, title }) {
    const made = yield* ask((stoa) => stoa.chatSessions.add({ agent, ...givenFlags({ title }) }))
    yield* show(made, made.id)
  }),
).pipe(
  Command.withDescription("Start a chat session"),
  Command.withExamples([{ command: "stoa chat new hecate", description: "With the agent hecate" }]),
)

const say = Command.make(
  "say",
  {
    id,
    text: Argument.String("text").pipe(
      Argument.withDescription("The text; @file reads a file, @@ begins a text with @, - reads stdin"),
    ),
  },
  Effect.fn(function* ({ id, text }) {
    const words = yield* textGiven(text)
    const made = yield* ask((stoa) => stoa.chatSessions.post(id, { text: words }))
    yield* show(made, made.id)
  }),
).pipe(Command.withDescription("Say something in a session"))

const one = Command.make(
  "show",
  { id },
  Effect.fn(function* ({ id }) {
    const stoa = yield* client
    const items = yield* all((after) =>
      stoa.chatSessions.messages(id, { limit: 100, after: after === undefined ? 0 : Number(after) }),
    )
    yield* printMessages(items, ["seq", "author", "text"])
  }),
).pipe(Command.withDescription("The messages of a session, in order"))

const change = (name: string, description: string, changes: object, words: string) =>
  Command.make(
    name,
    { id },
    Effect.fn(function* ({ id }) {
      const made = yield* ask((stoa) => stoa.chatSessions.change(id, changes))
      yield* show(made, made.id)
      yield* printNote(`"${made.title}" ${words}`)
    }),
  ).pipe(Command.withDescription(description))

const rename = Command.make(
  "rename",
  { id, title: Argument.String("title").pipe(Argument.withDescription("Its new title")) },
  Effect.fn(function* ({ id, title }) {
    const made = yield* ask((stoa) => stoa.chatSessions.change(id, { title }))
    yield* show(made, made.id)
  }),
).pipe(Command.withDescription("Give a session another title"))

const rm = Command.make(
  "rm",
  { id },
  Effect.fn(function* ({ id }) {
    yield* Effect.mapError(
      ask((stoa) => stoa.chatSessions.remove(id)),
      (failure) =>
        failure.message.endsWith("Unpin it first.")
          ? withMessage(failure, `${failure.message} To unpin it: stoa chat unpin ${id}`)
          : failure,
    )
    yield* printNote(`${id} and its messages are deleted`)
  }),
).pipe(Command.withDescription("Delete a session permanently; a pinned one is refused"))

export const chat = Command.make("chat").pipe(
  Command.withDescription("Chat sessions: lasting conversations with an agent"),
  Command.withSubcommands([
    ls,
    begin,
    say,
    one,
    rename,
    change("pin", "Keep a session from being deleted", { pinned: true }, "is pinned"),
    change("unpin", "Let a session be deleted again", { pinned: false }, "is not pinned any more"),
    change("resume", "Go on with this session", { current: true }, "is the one you go on with"),
    rm,
  ]),
)
