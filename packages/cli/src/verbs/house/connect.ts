/** `stoa connect claude-code`: the line to paste, with a new token for the agent the program acts as. */
import { connectableClients, type ConnectableName, type ConnectionLine, StoaError } from "@stoa/sdk"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { textFlag } from "../../command/flags.ts"
import { ask, client, target, show, printNote } from "../../command/root.ts"

const names = Object.keys(connectableClients) as [ConnectableName, ...Array<ConnectableName>]

/** How long a program's token is valid. */
const days = 90

/** The agent of this name; created if there is none. */
const agentOf = Effect.fnUntraced(function* (name: string) {
  const stoa = yield* client
  return yield* ask(async () => {
    try {
      return await stoa.principals.get(name)
    } catch (cause) {
      if (!(cause instanceof StoaError) || cause.status !== 404) throw cause
      return await stoa.principals.add({ kind: "agent", name })
    }
  })
})

export const connect = Command.make(
  "connect",
  {
    client: Argument.Literals("client", names).pipe(Argument.withDescription("Which program")),
    agent: textFlag("agent", "The agent it acts as; added if it does not exist (default: named after the program)"),
  },
  Effect.fn(function* ({ agent, client: which }) {
    const { url } = yield* target
    const who = yield* agentOf(Option.getOrElse(agent, () => which))
    const expiresAt = DateTime.formatIso(DateTime.add(yield* DateTime.now, { days }))
    const label = `stoa connect ${which}`
    const { token } = yield* ask((stoa) => stoa.tokens.add({ principal: who.id, label, expiresAt }))
    const line: ConnectionLine = connectableClients[which].line({ url, token })
    yield* show({ client: which, agent: who.name, ...line }, line.text)
    if (who.kind === "person")
      yield* printNote(`${who.name} is a person: this program can act and answer decisions in that person's name.`)
    yield* printNote(line.file === undefined ? "Paste it as it is." : `Put it into ${line.file}.`)
    yield* printNote(`The program acts as ${who.name}, with a token that is valid for ${days} days. ${line.afterwards}`)
  }),
).pipe(
  Command.withDescription("Print what to paste into an MCP client to connect it to this house"),
  Command.withExamples([
    { command: "stoa connect claude-code --agent scout", description: "Claude Code, acting as scout" },
  ]),
)
