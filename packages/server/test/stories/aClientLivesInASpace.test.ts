/** The house's own toolset over real MCP: a client hears that something was said, reads it, waits for more, and answers. */
import { assert, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { Deferred, Effect, Fiber } from "effect"
import { ask, Guest, house } from "../house.ts"
import { connected, eras, said } from "../mcp/mcpClients.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { call as request, fresh, someone } from "../spaces/spacesGuests.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`the house's own tools on ${store}`, (it) => {
    for (const era of eras)
      it.effect(`G-04 a client waits, reads, answers and is answered, with ${era}`, () =>
        Effect.gen(function* () {
          const [pam, bot] = [yield* someone(), yield* someone("agent")]
          const space = yield* ask(() =>
            pam.client.spaces.add({ name: fresh("room"), kind: "private", members: [bot.id] }),
          )
          const client = yield* connected(era, bot)
          const names = (yield* client.tools).map(({ name }) => name)
          assert.includeMembers(names, [
            "whoami",
            "post_message",
            "wait_for_messages",
            "call_status",
            "answer_decision",
          ])
          const waiting = yield* Effect.forkChild(client.call("wait_for_messages", { seconds: 20 }))
          yield* ask(() => pam.client.spaces.post(space.id, { text: "are you there?" }))
          const heard = said(yield* Fiber.join(waiting)) as {
            messages: Array<{ id: string; text: string; space: string }>
          }
          assert.deepInclude(heard.messages[0], { text: "are you there?", space: space.name })
          const answer = { space: space.id, text: "I am", replyTo: heard.messages[0]!.id }
          const { id } = said(yield* client.call("post_message", answer)) as { id: string }
          const { body } = yield* request(pam, "GET", `/messages/${id}`)
          assert.deepInclude(body, { text: "I am", replyTo: heard.messages[0]!.id })
        }).pipe(Effect.scoped),
      )

    it.effect("a space is a resource that is read and subscribed to, by those who are in it and while they are", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const [pam, bot, stranger] = [yield* someone(), yield* someone("agent"), yield* someone("agent")]
        const space = yield* ask(() =>
          pam.client.spaces.add({ name: fresh("room"), kind: "private", members: [bot.id] }),
        )
        const uri = `stoa://spaces/${space.id}`
        const client = new Client({ name: "story", version: "1" })
        let updated = Deferred.makeUnsafe<string>()
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
          Deferred.doneUnsafe(updated, Effect.succeed(params.uri))
        })
        const requestInit = { headers: { authorization: `Bearer ${bot.token}` } }
        const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit })
        yield* Effect.acquireRelease(
          ask(() => client.connect(transport as never)),
          () => Effect.promise(() => client.close()),
        )
        const { resources } = yield* ask(() => client.listResources())
        assert.include(
          resources.map((one) => one.uri),
          uri,
        )
        yield* ask(() => client.subscribeResource({ uri }))
        yield* ask(() => pam.client.spaces.post(space.id, { text: "news" }))
        assert.strictEqual(yield* Deferred.await(updated), uri)
        const { contents } = yield* ask(() => client.readResource({ uri }))
        const told = JSON.parse((contents[0] as { text: string }).text) as { messages: Array<{ text: string }> }
        assert.deepStrictEqual(
          told.messages.map(({ text }) => text),
          ["news"],
        )
        // Whoever is not in it cannot tell it from one that does not exist.
        const hidden = yield* ask(() => newRequest(`${url}/mcp`, stranger.token, "resources/read", { uri }))
        const unknown = yield* ask(() =>
          newRequest(`${url}/mcp`, stranger.token, "resources/read", { uri: "stoa://spaces/spc_nowhere" }),
        )
        assert.strictEqual(hidden.body.error.code, unknown.body.error.code)
        // And whoever was put out hears nothing more: the next who are told are those who stayed.
        updated = Deferred.makeUnsafe()
        yield* ask(() => pam.client.spaces.removeMember(space.id, bot.id))
        yield* ask(() => pam.client.spaces.post(space.id, { text: "between us" }))
        const after = yield* ask(() => newRequest(`${url}/mcp`, bot.token, "resources/read", { uri }))
        assert.isDefined(after.body.error)
        assert.isUndefined(Deferred.isDoneUnsafe(updated) ? "told" : undefined)
      }).pipe(Effect.scoped),
    )
  })
