/** The reference server behind the house, over a pipe and over HTTP: a server nobody here has written. */
import { assert, layer } from "@effect/vitest"
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { newClient, oldClient } from "./proxiedKit.ts"
import { everything, freePort, serveEverything } from "../servers/serversKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }
const eras = ["old", "new"] as const
const able = { elicitation: { form: {}, url: {} }, sampling: {} }

const textOf = (result: unknown): string =>
  (result as { readonly content: ReadonlyArray<{ readonly text?: string }> }).content.map(({ text }) => text).join("\n")

/** A client whose person says their name, and whose model says it too. */
const named = (era: "old" | "new", place: string, token: string, name: string) => {
  const form = { action: "accept" as const, content: { name, check: true, interpretation: name } }
  const said = { role: "assistant" as const, content: { type: "text" as const, text: name }, model: name }
  return era === "old"
    ? oldClient(place, token, able, (it) => {
        it.setRequestHandler(ElicitRequestSchema, () => form)
        it.setRequestHandler(CreateMessageRequestSchema, () => said)
      })
    : newClient(place, token, able, (it) => {
        it.setRequestHandler("elicitation/create", () => form)
        it.setRequestHandler("sampling/createMessage", () => said)
      })
}
interface Calling {
  readonly callTool: (params: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>
}
const call = (client: unknown, name: string, given: Record<string, unknown> = {}) =>
  ask(() => (client as Calling).callTool({ name, arguments: given }))

layer(house({ store: "sqlite", config }), { excludeTestServices: true, timeout: 60_000 })(
  "the reference server",
  (it) => {
    for (const transport of ["stdio", "streamableHttp"] as const)
      it.effect(`over ${transport}: forms and models of clients of both eras`, () =>
        Effect.gen(function* () {
          const { admin, url } = yield* Guest
          const port = yield* freePort
          if (transport === "streamableHttp") yield* serveEverything(transport, port)
          const spec = transport === "stdio" ? everything("stdio") : { url: `http://127.0.0.1:${port}/mcp` }
          yield* ask(() => admin.mcpServers.add({ name: "every", ...spec }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
          const other = yield* ask(() => admin.tokens.add({ principal: "bob" }))
          const place = `${url}/mcp/servers/every`
          for (const era of eras) {
            const ada = yield* named(era, place, token, `ada-${era}`)
            assert.include(textOf(yield* call(ada, "trigger-elicitation-request")), `ada-${era}`)
            assert.include(textOf(yield* call(ada, "trigger-sampling-request", { prompt: "Who?" })), `ada-${era}`)
            if (transport === "stdio") continue
            // Both at once on one connection: each server's question goes to the one whose call it belongs to.
            const bob = yield* named(era, place, other.token, `bob-${era}`)
            const both = yield* Effect.all(
              [...Array.from({ length: 8 }).keys()].map((at) =>
                Effect.map(call(at % 2 === 0 ? ada : bob, "trigger-elicitation-request"), textOf),
              ),
              { concurrency: "unbounded" },
            )
            for (const [at, text] of both.entries()) {
              assert.include(text, at % 2 === 0 ? `ada-${era}` : `bob-${era}`)
              assert.notInclude(text, at % 2 === 0 ? "bob-" : "ada-")
            }
          }
          // Its one tool that is only ever a task, which asks on the stream of the request for its result.
          const asker = yield* named(transport === "stdio" ? "old" : "new", place, token, "snake")
          const given = { topic: "python", ambiguous: true }
          const report = textOf(yield* call(asker, "simulate-research-query", given))
          assert.include(report, "# Research Report: python (snake)")
          assert.include(report, `After receiving clarification ("snake")`)
          yield* ask(() => admin.mcpServers.remove("every"))
        }),
      )
  },
)
