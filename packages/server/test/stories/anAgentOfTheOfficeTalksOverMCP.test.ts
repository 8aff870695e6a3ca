/** Seed 000 through its toolset, over real MCP: an agent of the office says something, reacts, and keeps silent. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, house } from "../house.ts"
import { connected, eras, said } from "../mcp/mcpClients.ts"
import { call as request, fresh, listen, someone } from "../spaces/spacesGuests.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`the office on ${store}`, (it) => {
    for (const era of eras)
      it.effect(`S0-03 S0-04 S0-08 S0-11 S0-12 S0-23 S0-51 S0-53 X-02 X-56 an agent of the office, with ${era}`, () =>
        Effect.gen(function* () {
          const { transact } = yield* Journal
          const [michael, jim, dwight] = [yield* someone(), yield* someone("agent"), yield* someone("agent")]
          for (const { id } of [jim, dwight])
            yield* Effect.orDie(transact((yield* Principals).change(id, { toolsets: ["office"] })))
          const space = yield* ask(() =>
            michael.client.spaces.add({ name: fresh("general"), kind: "private", members: [jim.id, dwight.id] }),
          )
          const stream = yield* listen(michael, { path: `/spaces/${space.id}/events?names=office` })
          const client = yield* connected(era, jim, "/mcp/office")
          const tools = yield* client.tools
          assert.deepStrictEqual(tools.map(({ name }) => name).toSorted(), [
            "do_nothing",
            "react_to_message",
            "search_memory",
            "send_message",
            "store_memory",
            "update_memory",
          ])
          // Who calls is never an argument, under whatever name, and where to is always one.
          const properties = tools.map(({ inputSchema, name }) => {
            const schema = inputSchema as { properties?: object; additionalProperties?: unknown }
            return [name, [Object.keys(schema.properties ?? {}).toSorted(), schema.additionalProperties]] as const
          })
          assert.deepStrictEqual(Object.fromEntries(properties), {
            do_nothing: [[], false],
            react_to_message: [["emoji", "messageId"], false],
            search_memory: [["query"], false],
            send_message: [["channelId", "text"], false],
            store_memory: [["content", "tags"], false],
            update_memory: [["content", "label"], false],
          })
          const send = tools.find(({ name }) => name === "send_message")!.inputSchema as { required: Array<string> }
          assert.deepStrictEqual(send.required, ["channelId", "text"])

          const sent = yield* client.call("send_message", { channelId: space.name, text: "Bears. Beets." })
          assert.lengthOf(sent.content, 1)
          const { messageId } = said(sent) as { messageId: string }
          for (;;) {
            const frame = yield* stream.next
            if (frame.event !== "message_created") continue
            const { message } = frame.data!.body as unknown as { message: { id: string; author: object; text: string } }
            assert.strictEqual(message.id, messageId)
            assert.deepInclude(message.author, { id: jim.id })
            // The row was readable before the event came.
            assert.strictEqual((yield* request(michael, "GET", `/messages/${message.id}`)).status, 200)
            break
          }
          const other = yield* connected(era, dwight, "/mcp/office")
          assert.deepStrictEqual(said(yield* other.call("react_to_message", { messageId, emoji: "👍" })), {
            success: true,
          })
          for (;;) {
            const frame = yield* stream.next
            if (frame.event !== "reaction_added") continue
            assert.deepInclude(frame.data!.body as object, { by: dwight.id, emoji: "👍" })
            break
          }
          // Whoever says that they are somebody else is refused by every tool, and nothing is changed.
          const sql = yield* SqlClient.SqlClient
          const state = Effect.all([
            sql`SELECT id, author, text FROM messages ORDER BY id`,
            sql`SELECT * FROM reactions ORDER BY message, emoji, principal`,
            sql`SELECT id, owner, key, content FROM memory_records ORDER BY id`,
          ])
          const before = yield* state
          const inputs = {
            send_message: { channelId: space.name, text: "hi" },
            react_to_message: { messageId, emoji: "👀" },
            do_nothing: {},
            update_memory: { label: "personality", content: "meek" },
            search_memory: { query: "beets" },
            store_memory: { content: "a note" },
          }
          for (const [name, input] of Object.entries(inputs)) {
            const forged = yield* other.call(name, { ...input, agentId: jim.id })
            assert.isTrue(forged.isError, name)
            assert.include(JSON.stringify(forged.content), "agentId", name)
          }
          assert.deepStrictEqual(yield* state, before)
          assert.deepStrictEqual(said(yield* client.call("do_nothing")), { action: "none" })
          const wrong = yield* client.call("send_message", { channelId: space.name })
          assert.isTrue(wrong.isError)
          // S0-51: also the bad call has its row with the error.
          const rows = yield* sql<{ state: string; error: string }>`SELECT state, error FROM calls
            WHERE principal = ${jim.id} AND state = 'refused'`
          assert.lengthOf(rows, 1)
          assert.include(rows[0]!.error, "ToolValidationError")
        }).pipe(Effect.scoped),
      )
  })
