// edge: stdin, stdout and signals belong to the protocol here.
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { failureOf, refusal } from "../../Failure.ts"
import { textFlag } from "../../command/flags.ts"
import { embedHere } from "../../local.ts"
import { root } from "../../command/root.ts"
import { clientSettings } from "../../Settings.ts"
import { bridge } from "../../mcp/stdio.ts"
import { House } from "../../mcp/house.ts"
import { fetchOver } from "../../mcp/socket.ts"

const say = (line: string): void => void process.stderr.write(`stoa: ${line}\n`)
/**
 * How long to wait for a house at a given address. A house that we start ourselves is ready within seconds or reports
 * why not.
 */
const patienceMs = 30_000

/** Signals end the input, with the same consequences as when the client closes it. */
const endOnSignal = (): void => {
  const end = () => void process.stdin.destroy()
  process.on("SIGINT", end).on("SIGTERM", end).on("disconnect", end)
}

const named = (name: string): string => encodeURIComponent(name)

export const mcp = Command.make(
  "mcp",
  {
    toolset: textFlag("toolset", "Only this toolset, such as office"),
    server: textFlag("server", "Only the tools of this MCP server, under its own names"),
    socket: textFlag("socket", "The Unix socket of the house, where there is no network"),
  },
  Effect.fn(function* ({ server, socket, toolset }) {
    if (Option.isSome(server) && Option.isSome(toolset)) return yield* refusal("Give --toolset or --server, not both.")
    const path = Option.match(toolset, {
      onSome: (name) => `/mcp/${named(name)}`,
      onNone: () => Option.match(server, { onSome: (name) => `/mcp/servers/${named(name)}`, onNone: () => "/mcp" }),
    })
    const flags = yield* root
    const target = () =>
      clientSettings({ url: Option.getOrUndefined(flags.url), token: Option.getOrUndefined(flags.token) })
    const through = Option.match(socket, { onSome: (path) => ({ fetch: fetchOver(path) }), onNone: () => ({}) })
    const house = new House({ target, embed: embedHere, say, ...through })
    endOnSignal()
    yield* Effect.tryPromise({
      try: async () => {
        // A mistyped address in a client's settings is reported in the client's log.
        if (target().given) void house.look()
        else await house.find(patienceMs)
        await bridge({ house, path, input: process.stdin, output: process.stdout, say })
      },
      catch: failureOf,
    }).pipe(Effect.ensuring(Effect.promise(() => house.close())))
  }),
).pipe(
  Command.withDescription("Speak MCP on stdin and stdout, for clients that start programs"),
  Command.withExamples([
    { command: "stoa mcp", description: "The tools of the local house's admin" },
    { command: "STOA_TOKEN=… stoa mcp --toolset office", description: "The toolset office, as that token's agent" },
  ]),
)
