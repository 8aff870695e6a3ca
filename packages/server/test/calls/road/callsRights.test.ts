/** Who may call what, how often, and what each credential sees: asked at the doors that people use. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Principals } from "../../../src/access/identity/Principals.ts"
import { Tokens } from "../../../src/access/identity/Tokens.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { admin, callTool, configure, request, room, ruler, settled, stores, told } from "../callsKit.ts"
import { ask, Guest, house, roomy } from "../../house.ts"
import { newRequest } from "../../mcp/mcpKit.ts"
import { fresh, listen, someone, type Someone } from "../../spaces/spacesGuests.ts"

const slow = fresh("seldom")
const busy = fresh("busy")
const config = {
  limits: [
    { principal: "*", resource: `tools/${slow}`, count: 2, seconds: 3600 },
    { principal: "*", resource: `spaces/${busy}*`, count: 2, seconds: 3600 },
    ...roomy.limits,
  ],
}

for (const store of stores)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 30_000 })(
    `rights of calls on ${store}`,
    (it) => {
      it.effect("S4-99 agent-basic may not run web-search, and is told by whom it was refused", () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const change = { toolsets: ["skills"], roles: ["agent-basic"] }
          assert.strictEqual((yield* request(yield* admin, "PATCH", `/principals/${bot.id}`, change)).status, 200)
          const refused = yield* callTool(bot, "web-search", { input: { query: "stoa" } })
          assert.strictEqual(refused.status, 403)
          assert.strictEqual(told(refused).tag, "ToolAuthorizationError")
          // Stored with the call and read by clients of MCP, which cannot type commands.
          const { detail } = refused.body as { readonly detail: string }
          assert.include(detail, `an admin can grant ${bot.name} execute on tools/web-search`)
          assert.notMatch(detail, /\bstoa \w/)
          const audited = yield* request(yield* admin, "GET", `/audit?principal=${bot.name}&tool=web-search`)
          assert.deepInclude((audited.body["items"] as Array<object>)[0], { result: "denied", rule: "silence" })
        }),
      )

      it.effect(
        "G-10 S3-52 a limit on a tool is counted by call and by caller, at every door, and says when to come back",
        () =>
          Effect.gen(function* () {
            const { raw, url } = yield* Guest
            const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
            yield* configure({ name: slow })
            for (const _ of [1, 2]) assert.strictEqual((yield* callTool(bot, slow)).status, 200)
            const answer = yield* ask(() =>
              raw(`/api/v1/tools/${slow}/call`, {
                method: "POST",
                headers: { authorization: `Bearer ${bot.token}`, "content-type": "application/json" },
                body: "{}",
              }),
            )
            assert.strictEqual(answer.status, 429)
            assert.isAbove(Number(answer.headers.get("retry-after")), 60)
            // Over MCP it is told in words; nothing runs there either.
            const call = { name: slow, arguments: {} }
            const { body } = yield* ask(() => newRequest(`${url}/mcp`, bot.token, "tools/call", call))
            assert.match(JSON.stringify(body), /2 in 3600 s.*\d+ s/)
            assert.isUndefined(body.result?.structuredContent?.status)
            assert.strictEqual((yield* callTool(other, slow)).status, 200)
          }),
      )

      it.effect("G-10 what one says in a conversation is counted there and of them, at every door", () =>
        Effect.gen(function* () {
          const { raw } = yield* Guest
          const [ann, bot] = [yield* someone(), yield* someone("agent")]
          const members = [bot.id]
          const open = (name: string) =>
            Effect.map(request(ann, "POST", "/spaces", { name, kind: "private", members }), (made) => told(made).id)
          const name = `${busy}-${store}`
          const [space, other] = [yield* open(name), yield* open(`${name}-too`)]
          const say = (who: Someone, where: string) => request(who, "POST", `/spaces/${where}/messages`, { text: "hi" })
          for (const _ of [1, 2]) assert.strictEqual((yield* say(bot, space)).status, 201)
          const answer = yield* ask(() =>
            raw(`/api/v1/spaces/${space}/messages`, {
              method: "POST",
              headers: { authorization: `Bearer ${bot.token}`, "content-type": "application/json" },
              body: '{"text":"again"}',
            }),
          )
          assert.strictEqual(answer.status, 429)
          assert.isAbove(Number(answer.headers.get("retry-after")), 60)
          const late = told(yield* callTool(bot, "post_message", { input: { space, text: "again" } }))
          assert.deepStrictEqual([late.state, late.error?.tag], ["failed", "ToolExecutionError"])
          assert.match(late.error!.message, /2 in 3600 s.*\d+ s/)
          // A tool that is shown there was counted as a call; another place and another member have counts of their own.
          const computes = { operation: "evaluate", expression: "1 + 1" }
          const shown = yield* configure({ executionType: "gateway", execution: computes })
          assert.strictEqual((yield* callTool(bot, shown.name, { space })).status, 200)
          assert.strictEqual((yield* say(bot, other)).status, 201)
          assert.strictEqual((yield* say(ann, space)).status, 201)
          const { items } = (yield* request(ann, "GET", `/spaces/${space}/messages`)).body as { items: Array<unknown> }
          assert.lengthOf(items, 4)
        }),
      )

      it.effect("S2-06 X-28 one endpoint, three credentials, three lists", () =>
        Effect.gen(function* () {
          const { adminToken, url } = yield* Guest
          const { transact } = yield* Journal
          const bot = yield* someone("agent")
          const inside = yield* Effect.orDie(
            transact((yield* Tokens).issue({ principal: bot.id, context: "internal" })),
          )
          const outside = yield* Effect.orDie(
            transact((yield* Tokens).issue({ principal: bot.id, context: "crossroads" })),
          )
          const list = { tools: ["whoami", "post_message"] }
          assert.strictEqual((yield* request(yield* admin, "PUT", "/allow-lists/stoa/agent", list)).status, 200)
          const seen = (token: string) =>
            Effect.map(
              ask(() => newRequest(`${url}/mcp/stoa`, token, "tools/list")),
              ({ body }) => (body.result.tools as Array<{ name: string }>).map(({ name }) => name),
            )
          assert.deepStrictEqual((yield* seen(bot.token)).toSorted(), ["post_message", "whoami"])
          assert.deepStrictEqual(yield* seen(outside.token), [])
          assert.include(yield* seen(inside.token), "search_messages")
          assert.include(yield* seen(adminToken), "answer_decision")
          // Only the credential says where one stands: nothing a request carries does.
          const more = { context: "internal", _meta: { context: "internal", "stoa/context": "internal" } }
          const claimed = yield* ask(() =>
            newRequest(`${url}/mcp/stoa?context=internal`, outside.token, "tools/list", more),
          )
          assert.deepStrictEqual(claimed.body.result.tools, [])
          // What is not listed cannot be called either.
          const call = { name: "search_messages", arguments: { query: "x" } }
          const { body } = yield* ask(() => newRequest(`${url}/mcp/stoa`, bot.token, "tools/call", call))
          assert.strictEqual(body.error.code, -32602)
          assert.strictEqual(
            (yield* request(yield* admin, "PUT", "/allow-lists/stoa/agent", { tools: ["*"] })).status,
            200,
          )
        }),
      )

      it.effect("X-28 who configures a tool is shown it, also by a token whose context has no such tool", () =>
        Effect.gen(function* () {
          const boss = yield* admin
          const { transact } = yield* Journal
          const ann = yield* ruler()
          const { token } = yield* Effect.orDie(
            transact((yield* Tokens).issue({ principal: ann.id, context: "crossroads" })),
          )
          const list = "/allow-lists/configured/crossroads"
          assert.strictEqual((yield* request(boss, "PUT", list, { tools: ["another"] })).status, 200)
          const form = { name: fresh("tool"), description: "Says it.", inputSchema: { type: "object" } }
          const outside = { ...ann, token }
          const added = yield* request(outside, "POST", "/tools", { ...form, executionType: "internal" })
          assert.deepStrictEqual([added.status, added.body["name"]], [201, form.name])
          const change = { ...form, description: "Says more.", executionType: "internal" }
          const changed = yield* request(outside, "PUT", `/tools/${form.name}`, change)
          assert.deepStrictEqual([changed.status, changed.body["description"]], [200, "Says more."])
          assert.strictEqual((yield* request(outside, "GET", `/tools/${form.name}`)).status, 404)
          assert.strictEqual((yield* request(boss, "DELETE", list)).status, 200)
        }),
      )

      it.effect("S1-73 the deltas of two calls at once carry the call they belong to, and so do their messages", () =>
        Effect.gen(function* () {
          const [ann, bot] = [yield* someone(), yield* someone("agent")]
          const space = yield* room(ann, bot)
          const { name } = yield* configure({
            executionType: "gateway",
            execution: { operation: "evaluate", expression: "input.word" },
          })
          const stream = yield* listen(ann, { path: `/spaces/${space}/events?names=gateway` })
          const words = ["one", "two", "three", "four"]
          const calls = yield* Effect.forEach(
            words,
            (word) => Effect.map(callTool(bot, name, { input: { word }, space }), (answer) => told(answer).id),
            { concurrency: "unbounded" },
          )
          const begun = new Map<string, string>()
          const ended = new Map<string, unknown>()
          while (ended.size < words.length) {
            const { data, event } = yield* stream.next
            const body = data?.body as unknown as {
              call: string
              delta: string
              message: { call: { id: string; output: unknown } }
            }
            if (event === "tool-input-delta") begun.set(body.call, (begun.get(body.call) ?? "") + body.delta)
            if (event === "tool-call.complete") ended.set(body.message.call.id, body.message.call.output)
          }
          for (const [place, word] of words.entries()) {
            assert.deepStrictEqual(JSON.parse(begun.get(calls[place]!)!), { word })
            assert.strictEqual(ended.get(calls[place]!), word)
          }
        }).pipe(Effect.scoped),
      )

      it.effect("what is nested too deep is refused with a sentence, key or no key; odd types in _meta are too", () =>
        Effect.gen(function* () {
          const { raw, url } = yield* Guest
          const bot = yield* someone("agent")
          const { name } = yield* configure({ inputSchema: { type: "object" } })
          const deep = `{"input":${'{"a":'.repeat(8000)}1${"}".repeat(8000)}}`
          for (const key of [{}, { "idempotency-key": fresh("key") }]) {
            const headers = { authorization: `Bearer ${bot.token}`, "content-type": "application/json", ...key }
            const answer = yield* ask(() => raw(`/api/v1/tools/${name}/call`, { method: "POST", headers, body: deep }))
            assert.strictEqual(answer.status, 400)
            assert.include(yield* ask(() => answer.text()), "nested")
          }
          for (const meta of [{ "stoa/idempotencyKey": 77 }, { "stoa/space": { a: 1 } }]) {
            const call = { name, arguments: {} }
            const { body } = yield* ask(() => newRequest(`${url}/mcp`, bot.token, "tools/call", call, { meta }))
            assert.strictEqual(body.error.code, -32602)
          }
        }),
      )

      it.effect("a right to change one tool makes or changes no tool of another name", () =>
        Effect.gen(function* () {
          const boss = yield* admin
          const bot = yield* someone("agent")
          const [mine, other, there] = [fresh("mine"), fresh("payroll"), (yield* configure({})).name]
          const right = { principal: bot.id, resource: `tools/${mine}`, actions: ["admin"] }
          assert.strictEqual((yield* request(boss, "POST", "/grants", right)).status, 201)
          const form = { description: "Planted.", inputSchema: { type: "object" }, executionType: "internal" }
          const put = (name?: string) => request(bot, "PUT", `/tools/${mine}`, { ...form, name })
          const refusedFor = Effect.fnUntraced(function* (name: string) {
            const refused = yield* put(name)
            assert.deepStrictEqual([refused.status, told(refused).tag], [400, "BadInput"])
            const [issue, ...more] = told(refused).issues!
            assert.deepStrictEqual([issue!.path, more], ["name", []])
            assert.include(JSON.stringify(issue), mine)
            assert.include(JSON.stringify(issue), name)
          })
          // Whether or not there is a tool of either name.
          yield* refusedFor(other)
          assert.strictEqual((yield* request(boss, "GET", `/tools/${other}`)).status, 404)
          yield* refusedFor(there)
          assert.strictEqual((yield* put()).status, 200)
          assert.strictEqual((yield* put(mine)).status, 200)
          yield* refusedFor(other)
          assert.strictEqual((yield* request(boss, "GET", `/tools/${other}`)).status, 404)
        }),
      )

      it.effect(
        "a call that waited while its caller ceased to be an admin goes on in the token's present context",
        () =>
          Effect.gen(function* () {
            const boss = yield* admin
            const { name } = yield* configure({ requiresApproval: true })
            const alice = yield* ruler()
            const issued = yield* request(boss, "POST", "/tokens", { principal: alice.id, context: "internal" })
            const inside: Someone = { ...alice, token: (issued.body as { readonly token: string }).token }
            const ask = Effect.map(callTool(inside, name), told)
            const [kept, lost] = [yield* ask, yield* ask]
            const approve = ({ on }: { readonly on?: { readonly id: string } }) =>
              request(boss, "POST", `/decisions/${on!.id}/answer`, { verdict: "approve" })
            const list = "/allow-lists/configured/agent"
            assert.strictEqual((yield* request(boss, "PUT", list, { tools: [] })).status, 200)
            yield* Effect.gen(function* () {
              assert.strictEqual((yield* approve(kept)).status, 200)
              assert.strictEqual((yield* settled(inside, kept.id)).state, "done")
              const demoted = yield* request(boss, "PATCH", `/principals/${alice.id}`, { roles: ["member"] })
              assert.strictEqual(demoted.status, 200)
              assert.strictEqual((yield* approve(lost)).status, 200)
              const ended = yield* settled(inside, lost.id)
              assert.deepStrictEqual([ended.state, ended.error?.tag], ["refused", "ToolNotFoundError"])
            }).pipe(Effect.ensuring(Effect.orDie(request(boss, "DELETE", list))))
          }),
      )

      it.effect("S4-104 a right that is taken away is gone at the next call", () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const { name } = yield* configure()
          assert.strictEqual((yield* callTool(bot, name)).status, 200)
          const deny = { principal: bot.id, resource: `tools/${name}`, actions: ["execute"], effect: "deny" }
          const made = yield* request(yield* admin, "POST", "/grants", deny)
          assert.strictEqual((yield* callTool(bot, name)).status, 403)
          yield* request(yield* admin, "DELETE", `/grants/${told(made).id}`)
          assert.strictEqual((yield* callTool(bot, name)).status, 200)
          yield* Effect.orDie((yield* Journal).transact((yield* Principals).change(bot.id, { roles: ["guest"] })))
          assert.strictEqual((yield* callTool(bot, name)).status, 403)
        }),
      )
    },
  )
