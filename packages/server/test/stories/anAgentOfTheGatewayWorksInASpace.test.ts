/** Seed 001 through its toolset, over real MCP: an agent enters a space, talks there, and its visible tools are seen there. */
import { assert, layer } from "@effect/vitest"
import { toolNames } from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { connected, eras, said } from "../mcp/mcpClients.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { call as request, fresh, someone, type Someone } from "../spaces/spacesGuests.ts"

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { z: { type: "number", description: "last letter first" }, a: { enum: ["x", null] } },
  required: ["z"],
  "x-note": { 10: "ten", nested: [1, { deep: true }] },
}

const configure = Effect.fnUntraced(function* (over: object) {
  const { adminToken } = yield* Guest
  const form = { name: fresh("tool"), description: "Shows something.", inputSchema: schema, ...over }
  const made = yield* request({ token: adminToken } as Someone, "POST", "/tools", form)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return form.name
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`the gateway on ${store}`, (it) => {
    for (const era of eras)
      it.effect(
        `S1-01 S1-04 S1-13 S1-20 S1-21 S1-43 S1-62 S1-67 S1-111 X-24 an agent of the gateway, with ${era}`,
        () =>
          Effect.gen(function* () {
            const { transact } = yield* Journal
            const [ann, bot] = [yield* someone(), yield* someone("agent")]
            yield* Effect.orDie(transact((yield* Principals).change(bot.id, { toolsets: ["gateway"] })))
            const space = yield* ask(() =>
              ann.client.spaces.add({ name: fresh("room"), kind: "private", members: [bot.id] }),
            )
            const shown = yield* configure({
              executionType: "gateway",
              execution: { operation: "evaluate", expression: "{{input.z}} + 1" },
              display: { customUI: "chart" },
            })
            const client = yield* connected(era, bot)
            const tools = yield* client.tools
            // What a model is shown is what was configured, to the letter. Clients order keys anew, so the wire is read.
            const { url } = yield* Guest
            const wire = yield* ask(() => newRequest(`${url}/mcp`, bot.token, "tools/list"))
            assert.include(wire.text, `"inputSchema":${JSON.stringify(schema)}`)
            // Only the tools that lead somewhere name a space.
            const naming = tools.filter(({ inputSchema }) =>
              /space/i.test(JSON.stringify(Object.keys((inputSchema as { properties: object }).properties))),
            )
            assert.deepStrictEqual(naming.map(({ name }) => name).toSorted(), ["enter_space", "read_messages"])

            const lost = yield* client.call("send_message", { text: "anybody?" })
            assert.isTrue(lost.isError)
            assert.include(JSON.stringify(lost.content), "enter_space")
            assert.deepInclude(said(yield* client.call("enter_space", { spaceId: space.name })), { success: true })
            assert.isTrue((yield* client.call("send_message", {})).isError)
            const text = `here I am, @${ann.name}`
            const sent = said(yield* client.call("send_message", { text }))
            assert.deepInclude(sent, { success: true, status: "delivered" })
            const output = yield* client.call(shown, { z: 41 })
            assert.strictEqual(output.content[0]?.text, "42")
            const { body } = yield* request(ann, "GET", `/spaces/${space.id}/messages`)
            const items = body["items"] as Array<{
              text: string
              call: Record<string, unknown> | null
              mentions: unknown
            }>
            // One text message, no card for the built-in; one card for the visible tool, with its data.
            assert.lengthOf(items, 2)
            assert.deepInclude(items[0], { text, call: null, mentions: [ann.id] })
            assert.deepInclude(items[1]!.call!, { tool: shown, input: { z: 41 }, output: 42, customUI: "chart" })
            const replied = said(
              yield* client.call("send_reply", { text: "and again", replyToMessageId: sent["messageId"] }),
            )
            assert.deepInclude(replied, { success: true })
          }).pipe(Effect.scoped),
      )

    it.effect("S1-35 what is built in is internal and hidden", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const { transact } = yield* Journal
        yield* Effect.orDie(transact((yield* Principals).change(bot.id, { toolsets: ["gateway"] })))
        const { body } = yield* request(bot, "GET", "/tools?set=gateway")
        const tools = body["items"] as Array<{ name: string; executionType: string; visibility: string }>
        assert.sameMembers(
          tools.map(({ name }) => name),
          [...toolNames.gateway],
        )
        for (const tool of tools) assert.deepInclude(tool, { executionType: "internal", visibility: "hidden" })
      }),
    )

    it.effect("S1-20 S1-34 a configured tool cannot take the name, or the place, of one that is built in", () =>
      Effect.gen(function* () {
        const { adminToken } = yield* Guest
        const admin = { token: adminToken } as Someone
        const names = [...new Set(Object.values(toolNames).flat())]
        assert.includeMembers(names, [
          "enter_space",
          "do_nothing",
          "engram_get",
          "web-search",
          "remember",
          "spawn_agent",
        ])
        for (const name of names) {
          const form = { name, description: "d", inputSchema: { type: "object" }, executionType: "gateway" }
          const shown = { ...form, execution: { url: "https://a.example" }, visibility: "visible" }
          for (const [method, path] of [
            ["POST", "/tools"],
            ["PUT", `/tools/${name}`],
          ] as const) {
            const made = yield* request(admin, method, path, shown)
            const { issues } = made.body as { issues?: ReadonlyArray<{ path: string; message: string }> }
            assert.deepStrictEqual(
              [made.status, issues?.map((issue) => issue.path)],
              [400, ["name"]],
              `${method} ${name}`,
            )
            assert.match(issues![0]!.message, /is the name of a built-in tool/)
          }
        }
      }),
    )
  })
