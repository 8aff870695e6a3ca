/** What tells and ends one's own calls answers at every door; and what a client is told when it comes to the wrong one. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { times } from "../../../../test/long.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { admin, configure, request, room, stores } from "../calls/callsKit.ts"
import { Fixtures, scene } from "../proxied/proxiedKit.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"
import { initialized, newRequest, oldRequest, post } from "./mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }

const withSets = Effect.fnUntraced(function* (...toolsets: ReadonlyArray<"stoa" | "office" | "gateway" | "skills">) {
  const who = yield* someone("agent")
  const { transact } = yield* Journal
  yield* Effect.orDie(transact((yield* Principals).change(who.id, { toolsets: [...toolsets] })))
  return who
})

/** One call at a door, in either era. */
const at = (door: string, { token }: Pick<Someone, "token">, era: "old" | "new") =>
  Effect.fnUntraced(function* (method: string, params: Record<string, unknown>) {
    if (era === "new") return (yield* ask(() => newRequest(door, token, method, params))).body
    const session = yield* ask(() => initialized(door, token))
    return (yield* ask(() => oldRequest(door, token, method, params, session))).body
  })

for (const store of stores)
  layer(house({ store, config }).pipe(Layer.provideMerge(Fixtures.layer)), {
    excludeTestServices: true,
    timeout: 60_000,
  })(`every door on ${store}`, (it) => {
    for (const era of ["old", "new"] as const)
      it.effect(
        `S0-01 S2-02 X-16 a waiting call is told and ended at every door, listed there or not, ${era} era`,
        () =>
          Effect.gen(function* () {
            const { url } = yield* Guest
            const { name: server } = yield* scene(era)
            const form = yield* configure({ requiresApproval: true })
            const doors = {
              "/mcp": yield* withSets("stoa"),
              "/mcp/office": yield* withSets("office"),
              "/mcp/gateway": yield* withSets("gateway"),
              "/mcp/skills": yield* withSets("skills"),
              [`/mcp/servers/${server}`]: yield* withSets("office"),
            }
            const other = yield* withSets("office")
            for (const [door, who] of Object.entries(doors)) {
              // The call is made where all of one's tools are, and asked for at this door.
              const all = at(`${url}/mcp`, who, era)
              const here = at(url + door, who, era)
              const { result } = yield* all("tools/call", { name: form.name, arguments: {} })
              const { call, state } = result.structuredContent as { readonly call: string; readonly state: string }
              assert.strictEqual(state, "waiting")
              const words = (result.content as ReadonlyArray<{ readonly text: string }>)[1]!.text
              assert.include(words, `waits for a person to decide`)
              assert.include(words, `call_status {"call":"${call}"}`)
              assert.include(words, `cancel_call {"call":"${call}"}`)
              const listed = JSON.stringify(yield* here("tools/list", {}))
              assert.strictEqual(listed.includes('"call_status"'), door === "/mcp", door)
              const told = yield* here("tools/call", { name: "call_status", arguments: { call } })
              assert.deepInclude(told.result.structuredContent, { id: call, state: "waiting" }, door)
              // Another's call is nobody's.
              const theirs = yield* at(
                url + "/mcp/office",
                other,
                era,
              )("tools/call", {
                name: "call_status",
                arguments: { call },
              })
              assert.isTrue(theirs.result.isError, door)
              const ended = yield* here("tools/call", { name: "cancel_call", arguments: { call } })
              assert.deepInclude(ended.result.structuredContent, { state: "canceled" }, door)
              const over = yield* request(who, "POST", "/tools/call_status/call", { input: { call } })
              assert.strictEqual(over.status, 200)
            }
          }).pipe(Effect.scoped),
      )

    for (const era of ["old", "new"] as const)
      it.effect(`the spaces are resources for those who may read messages with a tool, at every door, ${era} era`, () =>
        Effect.gen(function* () {
          const { url } = yield* Guest
          const ada = yield* withSets("stoa")
          const clerk = yield* withSets("office")
          const open = yield* room(ada, clerk)
          const mine = Effect.fnUntraced(function* (who: Pick<Someone, "token">, door: string) {
            const here = at(url + door, who, era)
            const hello = {
              protocolVersion: "2025-11-25",
              capabilities: {},
              clientInfo: { name: "test", version: "1" },
            }
            const greeted =
              era === "old"
                ? (yield* ask(() => oldRequest(url + door, who.token, "initialize", hello))).body
                : yield* here("server/discover", {})
            const listed = yield* here("resources/list", {})
            const read = yield* here("resources/read", { uri: `stoa://spaces/${open}` })
            return {
              said: greeted.result.capabilities.resources !== undefined,
              listed: listed.result !== undefined,
              read: read.result !== undefined,
            }
          })
          const all = { said: true, listed: true, read: true }
          const none = { said: false, listed: false, read: false }
          for (const door of ["/mcp", "/mcp/stoa"]) assert.deepStrictEqual(yield* mine(ada, door), all, door)
          // Without the toolset.
          for (const door of ["/mcp", "/mcp/office"]) assert.deepStrictEqual(yield* mine(clerk, door), none, door)
          // In a context whose allow list is empty.
          const { admin: house } = yield* Guest
          const { token } = yield* ask(() => house.tokens.add({ principal: ada.id, context: "crossroads" }))
          for (const door of ["/mcp", "/mcp/stoa"]) assert.deepStrictEqual(yield* mine({ token }, door), none, door)
          // A rule against the tool, or one that asks a person first.
          for (const effect of ["deny", "ask"]) {
            const rule = { principal: ada.id, resource: "tools/read_messages", actions: ["execute"], effect }
            const made = yield* request(yield* admin, "POST", "/grants", rule)
            assert.strictEqual(made.status, 201)
            for (const door of ["/mcp", "/mcp/stoa"]) assert.deepStrictEqual(yield* mine(ada, door), none, effect)
            yield* request(yield* admin, "DELETE", `/grants/${(made.body as { readonly id: string }).id}`)
          }
          assert.deepStrictEqual(yield* mine(ada, "/mcp"), all)
        }),
      )

    it.effect("a result that waits names only the tools that its caller may use to follow the call", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const form = yield* configure({ requiresApproval: true })
        const who = yield* withSets("office")
        const words = Effect.fnUntraced(function* (era: "old" | "new") {
          const { result } = yield* at(`${url}/mcp`, who, era)("tools/call", { name: form.name, arguments: {} })
          return (result.content as ReadonlyArray<{ readonly text: string }>)[1]!.text
        })
        const rule = { principal: who.id, actions: ["execute"], effect: "deny" }
        const deny = (resource: string) =>
          admin.pipe(Effect.flatMap((by) => request(by, "POST", "/grants", { ...rule, resource })))
        assert.include(yield* words("new"), "call_status")
        assert.strictEqual((yield* deny("tools/call_status")).status, 201)
        for (const era of ["old", "new"] as const) {
          const told = yield* words(era)
          assert.notInclude(told, "call_status")
          assert.match(told, /Go on with other work; cancel_call \{"call":"[^"]+"\} gives it up\.$/)
        }
        const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
        const { body } = yield* ask(() => oldRequest(`${url}/mcp`, who.token, "initialize", hello))
        assert.notInclude(JSON.stringify(body), "call_status")
        assert.strictEqual((yield* deny("tools/cancel_call")).status, 201)
        assert.match(yield* words("new"), /Go on with other work\.$/)
      }),
    )

    it.effect("one's own calls are one's own, where grants speak of few tools; a rule against it holds", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const who = yield* withSets("office")
        const set = { roles: ["agent-basic"] }
        assert.strictEqual((yield* request(yield* admin, "PATCH", `/principals/${who.id}`, set)).status, 200)
        const here = at(`${url}/mcp/office`, who, "new")
        const missing = yield* here("tools/call", { name: "call_status", arguments: { call: "call_nothing" } })
        assert.include(JSON.stringify(missing.result), "There is no call")
        const deny = { principal: who.id, resource: "tools/call_status", actions: ["execute"], effect: "deny" }
        assert.strictEqual((yield* request(yield* admin, "POST", "/grants", deny)).status, 201)
        const denied = yield* here("tools/call", { name: "call_status", arguments: { call: "call_nothing" } })
        assert.strictEqual(denied.error.code, -32_602)
      }),
    )

    it.effect(
      "what is open to everybody is counted per network: too many requests without a token are told to wait",
      () =>
        Effect.gen(function* () {
          const { raw } = yield* Guest
          const post = ask(() =>
            raw("/mcp/jsonrpc", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
            }),
          )
          // Until one is refused: on a slow machine more are let in meanwhile.
          let last = yield* post
          for (let sent = 1; last.status === 200 && sent < 20_000; sent++) last = yield* post
          assert.strictEqual(last.status, 429)
          assert.isAbove(Number(last.headers.get("retry-after")), 0)
          // Whoever has a token is not counted with them.
          const who = yield* withSets("stoa")
          const mine = yield* ask(() => raw("/api/v1/spaces", { headers: { authorization: `Bearer ${who.token}` } }))
          assert.strictEqual(mine.status, 200)
        }),
    )

    it.effect(
      "a toolset that is not one's own refuses, says what to do, and is audited; of an unknown one it is said which one has",
      () =>
        Effect.gen(function* () {
          const { raw, url } = yield* Guest
          const who = yield* withSets("stoa")
          const post = (path: string) =>
            ask(() =>
              raw(path, {
                method: "POST",
                headers: { authorization: `Bearer ${who.token}`, "content-type": "application/json" },
                body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
              }),
            )
          const refused = yield* post("/mcp/office")
          assert.strictEqual(refused.status, 403)
          const { detail } = (yield* ask(() => refused.json())) as { readonly detail: string }
          assert.include(detail, "your toolsets are stoa")
          assert.include(detail, `An admin can give ${who.name} the toolset office.`)
          const unknown = Effect.fnUntraced(function* (path: string) {
            const answer = yield* post(path)
            assert.strictEqual(answer.status, 404)
            return (yield* ask(() => answer.json())) as {
              readonly tag: string
              readonly detail: string
              readonly meant?: string
            }
          })
          assert.deepInclude(yield* unknown("/mcp/nowhere"), {
            tag: "Missing",
            detail: 'There is no toolset "nowhere" that you can see. Yours: stoa.',
          })
          assert.deepInclude(yield* unknown("/mcp/stoas"), {
            tag: "Missing",
            detail: 'There is no toolset "stoas" that you can see. Did you mean "stoa"? Yours: stoa.',
            meant: "stoa",
          })
          // Nothing is suggested that would be refused.
          assert.notInclude((yield* unknown("/mcp/ofice")).detail, "Did you mean")
          assert.isString(url)
          const { items } = (yield* request(yield* admin, "GET", `/audit?principal=${who.id}&result=denied`)).body as {
            readonly items: ReadonlyArray<{ readonly resource: string }>
          }
          assert.deepStrictEqual(
            items.map(({ resource }) => resource),
            ["toolsets/office"],
            "written down once",
          )
        }),
    )

    it.effect("at the address of an unknown MCP server, it is said which ones there are", () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        const { name } = yield* scene("new")
        const { token } = yield* withSets("stoa")
        const unknown = Effect.fnUntraced(function* (ref: string) {
          const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
          const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
          const answer = yield* ask(() => raw(`/mcp/servers/${ref}`, { method: "POST", headers, body }))
          assert.strictEqual(answer.status, 404)
          return (yield* ask(() => answer.json())) as {
            readonly tag: string
            readonly detail: string
            readonly meant?: string
            readonly yours: ReadonlyArray<string>
          }
        })
        const { detail, tag, yours } = yield* unknown("nowhere-at-all")
        assert.strictEqual(tag, "Missing")
        assert.include(yours, name)
        assert.strictEqual(
          detail,
          `There is no MCP server "nowhere-at-all" that you can see. Yours: ${yours.join(", ")}.`,
        )
        assert.strictEqual((yield* unknown(`${name}s`)).meant, name)
      }),
    )

    it.effect("an unknown tool says what may have been meant, of what is listed; it is written down", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const who = yield* withSets("stoa")
        const { error } = yield* at(`${url}/mcp`, who, "new")("tools/call", { name: "list_space", arguments: {} })
        assert.deepInclude(error, { code: -32_602, message: 'Unknown tool: list_space. Did you mean "list_spaces"?' })
        const { items } = (yield* request(who, "GET", "/calls?state=refused")).body as {
          readonly items: ReadonlyArray<{ readonly tool: string }>
        }
        assert.deepStrictEqual(
          items.map(({ tool }) => tool),
          ["list_space"],
        )
      }),
    )

    it.effect("G-12 a switch for what nobody has is refused, and says what there is", () =>
      Effect.gen(function* () {
        const { name } = yield* scene("new")
        const pause = (subject: string) => Effect.flatMap(admin, (who) => request(who, "POST", "/pauses", { subject }))
        const tool = yield* configure()
        for (const nobody of ["servers/NOBODY", "tools/nobody", `servers/${name}x`]) {
          const { body, status } = yield* pause(nobody)
          assert.strictEqual(status, 400, nobody)
          assert.include(JSON.stringify(body), `nobody has \\"${nobody}\\"`)
        }
        const { body } = yield* pause(`servers/${name}x`)
        assert.include(JSON.stringify(body), `did you mean \\"servers/${name}\\"?`)
        for (const there of [`servers/${name.toUpperCase()}`, `tools/${tool.name}`, `tools/${name}/anything`]) {
          assert.strictEqual((yield* pause(there)).status, 201, there)
          const path = `/pauses/${encodeURIComponent(there)}`
          assert.strictEqual((yield* request(yield* admin, "DELETE", path)).status, 204, there)
        }
      }).pipe(Effect.scoped),
    )

    it.effect("a tool that reads like another is refused, whoever brings it", () =>
      Effect.gen(function* () {
        const own = yield* configure()
        const form = (name: string) => ({
          name,
          description: "Says it.",
          inputSchema: { type: "object" },
          executionType: "internal",
        })
        // Case, another script's letters, marks, full width.
        const alike = ["Whoami", "WHOAMI", "whоami", "whoamí", "ｗhoami", "Send_Message", own.name.toUpperCase()]
        for (const name of alike) {
          const { body, status } = yield* request(yield* admin, "POST", "/tools", form(name))
          assert.strictEqual(status, 400, `${name} ${JSON.stringify(body)}`)
          // Letters of another script are no letters of a tool's name at all.
          if (/^[ -~]+$/.test(name)) assert.match(JSON.stringify(body), /too similar to/, name)
          const host = { tools: [{ name, description: "Says it.", inputSchema: { type: "object" } }] }
          const hosted = yield* request(yield* admin, "PUT", `/hosts/mine`, host)
          assert.strictEqual(hosted.status, 400, `${name} ${JSON.stringify(hosted.body)}`)
        }
        const batch = ["pair-of-tools", "Pair-of-Tools"]
        for (const name of batch.slice(0, 1))
          assert.strictEqual((yield* request(yield* admin, "POST", "/tools", form(name))).status, 201)
        assert.strictEqual((yield* request(yield* admin, "POST", "/tools", form(batch[1]!))).status, 400)
      }),
    )

    it.effect("malformed cursors and escapes are -32602, never a failure of ours: many from a seed", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const { name, place, token } = yield* scene("new")
        let seed = 7
        const random = (most: number) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) % most
        const bits = ["_x110000_", "_xffffffffff_", "_x_", "__", "%", "%zz", "%E0%A4%A", "\ud800", "🙂", name, "/", "a"]
        const some = () => Array.from({ length: 1 + random(5) }, () => bits[random(bits.length)]).join("")
        const asks: ReadonlyArray<() => readonly [string, Record<string, unknown>]> = [
          () => ["tools/call", { name: some(), arguments: {} }],
          () => ["prompts/get", { name: some() }],
          () => ["resources/read", { uri: `stoa-mcp://${some()}/${some()}` }],
          () => [
            "completion/complete",
            { ref: { type: "ref/prompt", name: some() }, argument: { name: "a", value: "" } },
          ],
          () => ["tools/list", { cursor: some() }],
          () => ["prompts/list", { cursor: some() }],
          () => ["resources/list", { cursor: some() }],
          () => ["resources/templates/list", { cursor: some() }],
        ]
        for (let round = 0; round < times(120, 400); round++) {
          const [method, params] = asks[round % asks.length]!()
          const door = random(2) === 0 ? `${url}/mcp` : place
          const sent = { jsonrpc: "2.0", id: 1, method, params }
          const { body, status } = yield* ask(() => post(door, token, sent))
          const about = `${door} ${JSON.stringify(sent)} ${status} ${JSON.stringify(body)}`
          assert.strictEqual(status, 200, about)
          assert.isTrue(body.error === undefined || [-32_602, -32_601, -32_002].includes(body.error.code), about)
          if ("cursor" in params) assert.strictEqual(body.error?.code, -32_602, about)
        }
      }).pipe(Effect.scoped),
    )

    it.effect("X-01 office and gateway together: one send_message with both inputs and the keys of both answers", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const who = yield* withSets("office", "gateway")
        const [named, active] = [yield* room(who), yield* room(who)]
        const here = at(`${url}/mcp`, who, "new")
        const { tools } = (yield* here("tools/list", {})).result as {
          readonly tools: ReadonlyArray<{ readonly name: string; readonly inputSchema: Record<string, unknown> }>
        }
        const same = tools.filter(({ name }) => name === "send_message")
        assert.lengthOf(same, 1)
        const { properties, required } = same[0]!.inputSchema as { properties: object; required: unknown }
        assert.sameMembers(Object.keys(properties), ["channelId", "text", "wait"])
        assert.deepStrictEqual(required, ["text"])
        const send = (input: Record<string, unknown>) =>
          Effect.map(here("tools/call", { name: "send_message", arguments: input }), ({ result }) => result)
        const texts = Effect.fnUntraced(function* (space: string) {
          const { items } = (yield* request(who, "GET", `/spaces/${space}/messages`)).body as {
            readonly items: ReadonlyArray<{ readonly text: string }>
          }
          return items.map(({ text }) => text)
        })
        const keys = ["success", "status", "messageId"]
        // Neither names a place, and none is entered.
        assert.isTrue((yield* send({ text: "nowhere" })).isError)
        yield* here("tools/call", { name: "enter_space", arguments: { spaceId: active } })
        assert.sameMembers(Object.keys((yield* send({ text: "there", channelId: named })).structuredContent), keys)
        assert.sameMembers(Object.keys((yield* send({ text: "here" })).structuredContent), keys)
        assert.isTrue((yield* send({ text: "both", channelId: named, wait: true })).isError)
        assert.isTrue((yield* send({ text: "who", channelId: named, recipient: "pam" })).isError)
        assert.deepStrictEqual([yield* texts(named), yield* texts(active)], [["there"], ["here"]])
        // Each seed's own face is as it was.
        for (const [set, wants] of [
          ["office", ["channelId", "text"]],
          ["gateway", ["text"]],
        ] as const) {
          const own = (yield* at(`${url}/mcp/${set}`, who, "new")("tools/list", {})).result as { tools: typeof tools }
          const one = own.tools.find(({ name }) => name === "send_message")!
          assert.deepStrictEqual(one.inputSchema["required"], wants)
        }
        // Of one alone there is nothing to unite.
        const alone = yield* withSets("office", "stoa")
        const its = (yield* at(`${url}/mcp`, alone, "new")("tools/list", {})).result as { tools: typeof tools }
        const one = its.tools.find(({ name }) => name === "send_message")!
        assert.deepStrictEqual(one.inputSchema["required"], ["channelId", "text"])
      }),
    )
  })
