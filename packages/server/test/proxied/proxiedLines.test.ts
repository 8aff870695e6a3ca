/** What travels beside answers: progress, cancelling, logs, changes; and what a server that hangs or is held costs the others. */
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { Servers } from "../../src/servers/Servers.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { Fixtures, joined, newClient, oldClient, scene, until } from "./proxiedKit.ts"
import { served, text } from "./proxiedServer.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { changing, raw } from "../servers/serversKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }
const Test = house({ store: "sqlite", config }).pipe(Layer.provideMerge(Fixtures.layer))
const eras = ["old", "new"] as const

layer(Test, { excludeTestServices: true, timeout: 60_000 })("lines through the gateway", (it) => {
  for (const client of eras)
    for (const serverEra of eras)
      it.effect(
        `${client} client, ${serverEra} server: progress comes as it happens, under the client's own token`,
        () =>
          Effect.gen(function* () {
            const { place, server, token } = yield* scene(serverEra)
            const steps: Array<number> = []
            const onprogress = ({ progress }: { readonly progress: number }) => void steps.push(progress)
            const params = { name: "test_tool_with_progress", arguments: {} }
            if (client === "old") {
              const it = yield* oldClient(place, token)
              yield* ask(() => it.callTool(params, undefined, { onprogress }))
            } else {
              const it = yield* newClient(place, token)
              yield* ask(() => it.callTool(params, { onprogress }))
            }
            assert.deepStrictEqual(steps, [0, 50, 100])
            const sent = server.heard.find(({ body }) => body.method === "tools/call")!.body.params._meta as object
            const reserved = Object.keys(sent).filter((key) => key.startsWith("io.modelcontextprotocol/"))
            assert.strictEqual(reserved.length > 0, serverEra === "new")
          }),
      )

  for (const serverEra of eras)
    it.effect(`cancelling reaches a server of the ${serverEra} era, and the call is canceled`, () =>
      Effect.gen(function* () {
        const { admin, name, place, server, token } = yield* scene(serverEra)
        const it = yield* oldClient(place, token)
        const stop = new AbortController()
        const calling = yield* Effect.forkScoped(
          Effect.exit(
            ask(() =>
              it.callTool({ name: "slow_compute", arguments: { seconds: 60 } }, undefined, { signal: stop.signal }),
            ),
          ),
        )
        yield* until(() => server.heard.some(({ body }) => body.method === "tools/call"))
        stop.abort("enough")
        yield* Fiber.join(calling)
        const state = Effect.map(
          ask(() => admin.calls.list({ tool: `${name}/slow_compute` })),
          ({ items }) => items[0]?.state,
        )
        yield* until(() => Effect.map(state, (now) => now === "canceled"))
        // The old era says so; of the new one the stream is closed.
        if (serverEra === "old")
          yield* until(() => server.heard.some(({ body }) => body.method === "notifications/cancelled"))
      }),
    )

  for (const serverEra of eras)
    it.effect(
      `the log of a call on a server of the ${serverEra} era goes to whoever made it, at their level, and to nobody else`,
      () =>
        Effect.gen(function* () {
          const server = yield* served(serverEra, {
            talk: ({ params, tell }) => {
              const least = params._meta?.["io.modelcontextprotocol/logLevel"] as string | undefined
              for (const level of ["debug", "info", "warning", "error"])
                // As a server of the new era has to, and as one that forgets itself now and then.
                if (serverEra === "old" || least !== undefined) tell("notifications/message", { level, data: level })
              return text("talked")
            },
          })
          const { place, token } = yield* joined(server.url)
          const params = { name: "talk", arguments: {} }
          const listening = (level: "debug" | "info" | "error" | undefined) =>
            Effect.gen(function* () {
              const heard: Array<unknown> = []
              const it = yield* oldClient(place, token, {}, (one) =>
                one.setNotificationHandler(
                  LoggingMessageNotificationSchema,
                  ({ params }) => void heard.push(params.data),
                ),
              )
              if (level !== undefined) yield* ask(() => it.setLoggingLevel(level))
              return { heard, call: ask(() => it.callTool(params)) }
            })
          const asked = () => server.sent("logging/setLevel").map(({ params }) => params.level as string)
          const idle = yield* listening("debug")
          const usual = yield* listening(undefined)
          const loud = yield* listening("error")
          yield* Effect.all([usual.call, loud.call], { concurrency: "unbounded" })
          // Nobody who called wanted more: neither was more asked for.
          if (serverEra === "old") assert.deepStrictEqual(asked(), ["info"])
          const all = yield* listening("debug")
          yield* Effect.all([all.call, usual.call, loud.call], { concurrency: "unbounded" })
          if (serverEra === "old") assert.deepStrictEqual(asked(), ["info", "debug"])
          assert.deepStrictEqual(all.heard, ["debug", "info", "warning", "error"])
          assert.deepStrictEqual(usual.heard, ["info", "warning", "error", "info", "warning", "error"])
          assert.deepStrictEqual(loud.heard, ["error", "error"])
          assert.deepStrictEqual(idle.heard, [])
          // The new era says with each request what it wants to hear of it, and without a word hears nothing.
          const said = (level: string | undefined) =>
            Effect.map(
              ask(() =>
                newRequest(place, token, "tools/call", params, level === undefined ? {} : { meta: { [key]: level } }),
              ),
              ({ text }) =>
                [...text.matchAll(/"method":"notifications\/message","params":\{"level":"(\w+)"/g)].map(
                  (one) => one[1],
                ),
            )
          const key = "io.modelcontextprotocol/logLevel"
          const [none, warning, debug] = yield* Effect.all([said(undefined), said("warning"), said("debug")], {
            concurrency: "unbounded",
          })
          assert.deepStrictEqual([none, warning], [[], ["warning", "error"]])
          assert.deepStrictEqual(debug, ["debug", "info", "warning", "error"])
          const levels = server.sent("tools/call").map((one) => one.params._meta?.[key] as string | undefined)
          assert.deepStrictEqual(
            levels.map(String).toSorted(),
            serverEra === "old"
              ? levels.map(() => "undefined")
              : ["debug", "debug", "error", "error", "info", "info", "undefined", "warning"],
          )
        }),
    )

  it.effect("G-31 a held tool is gone from the lists of clients, told, and back when it is accepted", () =>
    Effect.gen(function* () {
      const { admin, adminToken, url } = yield* Guest
      const server = changing({ mail: "sends mail", other: "stays" })
      yield* ask(() => admin.mcpServers.add({ name: "holds", ...server.spec }))
      let told = 0
      const it = yield* oldClient(`${url}/mcp/servers/holds`, adminToken, {}, (one) =>
        one.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++),
      )
      const names = Effect.map(
        ask(() => it.listTools()),
        ({ tools }) => tools.map((tool) => tool.name).toSorted(),
      )
      assert.deepStrictEqual(yield* names, ["mail", "other", "reload"])
      server.write({ mail: "sends mail to everybody", other: "stays" })
      yield* ask(() => it.callTool({ name: "reload", arguments: {} }))
      yield* until(() => told === 1)
      assert.deepStrictEqual(yield* names, ["other", "reload"])
      const { items } = yield* ask(() => admin.mcpServers.tools("holds"))
      const { digest } = items.find(({ name }) => name === "mail")!.held!
      yield* ask(() => admin.mcpServers.accept("holds", "mail", { digest }))
      yield* until(() => told === 2)
      assert.deepStrictEqual(yield* names, ["mail", "other", "reload"])
      yield* ask(() => admin.mcpServers.remove("holds"))
    }),
  )

  it.effect("G-25 a server that hangs costs its own tools only", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      const good = yield* scene("old")
      const bad = yield* scene("new")
      bad.server.hangs = true
      const it = yield* newClient(`${url}/mcp`, good.token)
      const stuck = yield* Effect.forkScoped(
        ask(() => it.callTool({ name: `${bad.name}__test_simple_text`, arguments: {} })),
      )
      yield* until(() => bad.server.heard.some(({ body }) => body.method === "tools/call"))
      const { tools } = yield* ask(() => it.listTools())
      assert.include(
        tools.map((tool) => tool.name),
        `${good.name}__test_simple_text`,
      )
      yield* ask(() => it.listResources())
      yield* ask(() => it.listPrompts())
      yield* ask(() => it.callTool({ name: `${good.name}__test_simple_text`, arguments: {} }))
      // All of that while the other one still hangs.
      assert.isUndefined(stuck.pollUnsafe())
      yield* Fiber.interrupt(stuck)
      yield* ask(() => admin.mcpServers.remove(bad.name))
    }),
  )

  for (const serverEra of eras)
    it.effect(`X-30 what is hidden is unknown: a server of the ${serverEra} era and all it has`, () =>
      Effect.gen(function* () {
        const { admin, name, place, token, url } = yield* scene(serverEra)
        yield* ask(() =>
          admin.grants.add({ principal: "bob", resource: `tools/${name}/*`, actions: ["execute"], effect: "deny" }),
        )
        const { token: bob } = yield* ask(() => admin.tokens.add({ principal: "bob" }))
        const hidden = yield* ask(() => newRequest(place, bob, "resources/list"))
        assert.strictEqual(hidden.status, 404)
        const mine = yield* newClient(`${url}/mcp`, token)
        const uri = `stoa-mcp://${name}/test://static-text`
        const seen = (yield* ask(() => mine.listResources())).resources.map((one) => one.uri)
        assert.include(seen, uri)
        const read = yield* ask(() => newRequest(`${url}/mcp`, bob, "resources/read", { uri }))
        const nowhere = yield* ask(() =>
          newRequest(`${url}/mcp`, bob, "resources/read", { uri: "stoa-mcp://nowhere/test://static-text" }),
        )
        assert.deepStrictEqual([read.status, read.body.error.code], [nowhere.status, nowhere.body.error.code])
      }),
    )

  for (const serverEra of eras)
    it.effect(`a resource of a server of the ${serverEra} era is watched once for all, and told to whoever asked`, () =>
      Effect.gen(function* () {
        const { name, server, token, url } = yield* scene(serverEra)
        const servers = yield* Servers
        const one = servers.connected().find((it) => it.name === name)!
        const heard: Array<string> = []
        const uris = ["test://watched-resource"]
        const first = yield* one.watch(uris, (uri) => Effect.sync(() => heard.push(`first ${uri}`)))
        const second = yield* one.watch(uris, (uri) => Effect.sync(() => heard.push(`second ${uri}`)))
        const asked = () =>
          server.heard.filter(({ body }) =>
            serverEra === "old"
              ? body.method === "resources/subscribe"
              : body.method === "subscriptions/listen" &&
                JSON.stringify(body.params.notifications).includes("watched-resource"),
          ).length
        assert.strictEqual(asked(), 1)
        first()
        assert.strictEqual(server.heard.filter(({ body }) => body.method === "resources/unsubscribe").length, 0)
        second()
        if (serverEra === "old")
          yield* until(() => server.heard.some(({ body }) => body.method === "resources/unsubscribe"))
        // A client's own wish goes the same way.
        const it = yield* oldClient(`${url}/mcp/servers/${name}`, token)
        yield* ask(() => it.subscribeResource({ uri: uris[0]! }))
        yield* until(() => asked() === 2)
        assert.deepStrictEqual(heard, [])
      }),
    )

  it.effect("prompts of a server that come and go are told to clients of both eras", () =>
    Effect.gen(function* () {
      const { name, place, token, url } = yield* scene("new")
      const told = yield* Deferred.make<void>()
      const it = yield* newClient(`${url}/mcp`, token, {}, (one) =>
        one.setNotificationHandler("notifications/prompts/list_changed", () => {
          Deferred.doneUnsafe(told, Effect.void)
        }),
      )
      yield* ask(() => it.listen({ promptsListChanged: true }))
      const own = yield* oldClient(place, token)
      yield* ask(() => own.callTool({ name: "test_trigger_prompt_change", arguments: {} }))
      yield* Deferred.await(told)
      const before = (yield* ask(() => it.listPrompts())).prompts.filter((one) =>
        one.name.startsWith(`${name}__`),
      ).length
      yield* ask(() => own.callTool({ name: "test_trigger_prompt_change", arguments: {} }))
      for (;;) {
        const { prompts } = yield* ask(() => it.listPrompts())
        if (prompts.filter((one) => one.name.startsWith(`${name}__`)).length !== before) break
      }
    }),
  )

  it.effect("over stdio a question belongs to the one call there is; with two at once it is nobody's", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      const server = raw()
      yield* ask(() => admin.mcpServers.add({ name: "pipe", ...server.spec }))
      const { token } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
      const place = `${url}/mcp/servers/pipe`
      const question = {
        method: "elicitation/create",
        params: { message: "Who?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } },
      }
      const params = { name: "ask", arguments: question }
      const one = yield* ask(() =>
        newRequest(place, token, "tools/call", params, { capabilities: { elicitation: {} } }),
      )
      assert.strictEqual(one.body.result.resultType, "input_required")
      const [key] = Object.keys(one.body.result.inputRequests as object)
      const done = yield* ask(() =>
        newRequest(
          place,
          token,
          "tools/call",
          {
            ...params,
            requestState: one.body.result.requestState,
            inputResponses: { [key!]: { action: "accept", content: { a: "me" } } },
          },
          { capabilities: { elicitation: {} } },
        ),
      )
      assert.include(done.body.result.content[0].text, '"content":{"a":"me"}')
      const other = yield* Effect.forkScoped(
        ask(() => newRequest(place, token, "tools/call", { name: "hang", arguments: {} })),
      )
      yield* until(() => server.heard().some((line) => line.includes('"hang"')))
      const two = yield* ask(() =>
        newRequest(place, token, "tools/call", params, { capabilities: { elicitation: {} } }),
      )
      assert.include(two.body.result.content[0].text, '"action":"cancel"')
      yield* Fiber.interrupt(other)
      yield* ask(() => admin.mcpServers.remove("pipe"))
    }),
  )

  it.effect("a resource is watched once for all callers, and each is told of its own", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      const args = [fileURLToPath(new URL("proxiedFixture.ts", import.meta.url))]
      yield* ask(() => admin.mcpServers.add({ name: "mem", command: process.execPath, args }))
      const watching = (who: string, place: string, ...uris: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const { token } = yield* ask(() => admin.tokens.add({ principal: who }))
          const heard: Array<string> = []
          const it = yield* oldClient(url + place, token, {}, (one) =>
            one.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri)),
          )
          for (const uri of uris) yield* ask(() => it.subscribeResource({ uri }))
          return { it, heard }
        })
      const all = ["stoa-mcp://mem/mem://one", "stoa-mcp://mem/mem://two"] as const
      const ada = yield* watching("ada", "/mcp/servers/mem", "mem://one")
      const bob = yield* watching("bob", "/mcp", ...all)
      const mine = (uri?: string) =>
        Effect.map(
          ask(() => ada.it.callTool({ name: uri === undefined ? "subscribed" : "touch", arguments: { uri } })),
          (result) => (result.content as ReadonlyArray<{ readonly text: string }>)[0]!.text,
        )
      yield* until(() => Effect.map(mine(), (now) => now === "mem://one mem://two"))
      yield* mine("mem://two")
      yield* until(() => bob.heard.length === 1)
      yield* mine("mem://one")
      yield* until(() => bob.heard.length === 2 && ada.heard.length === 1)
      assert.deepStrictEqual(ada.heard, ["mem://one"])
      assert.deepStrictEqual(bob.heard, [all[1], all[0]])
      // The last one who watches it ends the watching.
      yield* ask(() => bob.it.unsubscribeResource({ uri: all[0] }))
      yield* ask(() => bob.it.unsubscribeResource({ uri: all[1] }))
      yield* until(() => Effect.map(mine(), (now) => now === "mem://one"))
      yield* ask(() => admin.mcpServers.remove("mem"))
    }),
  )

  it.effect("a server that dies with its question open fails the call, and takes the decision back", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      yield* ask(() => admin.mcpServers.add({ name: "dies", ...raw().spec }))
      const { token } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
      const call = (name: string, given: object) =>
        ask(() => newRequest(`${url}/mcp/servers/dies`, token, "tools/call", { name, arguments: given }))
      const question = {
        method: "elicitation/create",
        params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
      }
      const { body } = yield* call("ask", question)
      const { call: id, decision } = body.result.structuredContent as {
        readonly call: string
        readonly decision: string
      }
      yield* call("die", {})
      const failed = yield* ask(() => admin.calls.get(id as never, { wait: 20 }))
      assert.strictEqual(failed.state, "failed")
      assert.match(failed.error!.message, /not known/)
      for (;;) {
        const { state } = yield* ask(() => admin.decisions.get(decision as never))
        if (state === "canceled") break
      }
      yield* ask(() => admin.mcpServers.remove("dies"))
    }),
  )

  it.effect("a server that wants an address visited first: the client is shown it, and the call is made anew", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      const args = [fileURLToPath(new URL("proxiedFixture.ts", import.meta.url))]
      yield* ask(() => admin.mcpServers.add({ name: "gate", command: process.execPath, args }))
      const { token } = yield* ask(() => admin.tokens.add({ principal: "ada" }))
      const capabilities = { elicitation: { url: {} } }
      const place = `${url}/mcp/servers/gate`
      const params = { name: "enter", arguments: {} }
      const first = yield* ask(() => newRequest(place, token, "tools/call", params, { capabilities }))
      assert.deepStrictEqual(first.body.result.inputRequests, {
        "visit-1": {
          method: "elicitation/create",
          params: { mode: "url", message: "Sign in", url: "https://sign-in.example/" },
        },
      })
      const again = {
        ...params,
        requestState: first.body.result.requestState,
        inputResponses: { "visit-1": { action: "accept" } },
      }
      const done = yield* ask(() => newRequest(place, token, "tools/call", again, { capabilities }))
      assert.deepStrictEqual(done.body.result.content, [{ type: "text", text: "" }])
      yield* ask(() => admin.mcpServers.remove("gate"))
    }),
  )

  for (const serverEra of eras)
    it.effect(`a tool's failure on a server of the ${serverEra} era is told in the server's own words`, () =>
      Effect.gen(function* () {
        const { admin, name, place, token } = yield* scene(serverEra)
        for (const client of eras) {
          const it = yield* (client === "old" ? oldClient : newClient)(place, token)
          const told = yield* ask(() => it.callTool({ name: "test_error_handling", arguments: {} }) as Promise<unknown>)
          const { content, isError } = told as { readonly content: unknown; readonly isError?: boolean }
          const text = "This tool intentionally returns an error for testing"
          assert.deepStrictEqual([isError, content], [true, [{ type: "text", text }]])
        }
        const { items } = yield* ask(() => admin.calls.list({ tool: `${name}/test_error_handling` }))
        assert.deepStrictEqual(
          items.map(({ state }) => state),
          ["failed", "failed"],
        )
      }),
    )

  it.effect("a result too large for a row reaches the client whole", () =>
    Effect.gen(function* () {
      const { admin, adminToken, url } = yield* Guest
      yield* ask(() => admin.mcpServers.add({ name: "big", ...raw().spec }))
      const params = { name: "huge", arguments: { bytes: 300_000 } }
      const { body } = yield* ask(() => newRequest(`${url}/mcp/servers/big`, adminToken, "tools/call", params))
      assert.strictEqual(body.result.content[0].text, "x".repeat(300_000))
      yield* ask(() => admin.mcpServers.remove("big"))
    }),
  )
})
