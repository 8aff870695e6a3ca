/** The talking toolsets over the one road, on both databases: a story for seed 000, one for seed 001, one for the house's own. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { toolNames } from "@stoa/contract"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Confidential } from "../../src/access/secrets/Confidential.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { eventsOf } from "../calls/callsKit.ts"
import { ask, Guest, house } from "../house.ts"
import { call as request, fresh, someone, type Someone } from "../spaces/spacesGuests.ts"
import { until } from "../stores.ts"

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const agentWith = Effect.fnUntraced(function* (...toolsets: ReadonlyArray<"office" | "gateway" | "stoa" | "skills">) {
  const bot = yield* someone("agent")
  const { transact } = yield* Journal
  yield* Effect.orDie(transact((yield* Principals).change(bot.id, { toolsets })))
  return bot
})
const use = (who: Someone, tool: string, input: object = {}, more: object = {}) =>
  request(who, "POST", `/tools/${tool}/call`, { input, ...more })
const done = Effect.fnUntraced(function* (who: Someone, tool: string, input: object = {}, more: object = {}) {
  const { body, status } = yield* use(who, tool, input, more)
  assert.strictEqual(status, 200, JSON.stringify(body))
  assert.strictEqual(body["state"], "done", JSON.stringify(body))
  return body["output"] as Record<string, unknown>
})
const failed = Effect.fnUntraced(function* (who: Someone, tool: string, input: object = {}, more: object = {}) {
  const { body } = yield* use(who, tool, input, more)
  assert.strictEqual(body["state"], "failed", JSON.stringify(body))
  return (body["error"] as { message: string }).message
})
const room = (owner: Someone, members: ReadonlyArray<Someone>, over: object = {}) =>
  ask(() =>
    owner.client.spaces.add({ name: fresh("room"), kind: "private", members: members.map((one) => one.id), ...over }),
  )
const count = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return (yield* sql<{ n: number }>`SELECT count(*) AS n FROM ${sql(table)}`)[0]!.n
  })

const searchKey = "tavily-key-that-nobody-may-read"
const env = { TAVILY_API_KEY: searchKey }

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, env }), { excludeTestServices: true, timeout: 30_000 })(`toolsets on ${store}`, (it) => {
    it.effect(
      "the house's own tools are said in letters of one byte: one other would double the cost of every list",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const names: Array<string> = []
          let cursor: string | undefined
          do {
            const page = yield* ask(() => admin.tools.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) }))
            for (const tool of page.items) {
              names.push(tool.name)
              assert.notMatch(JSON.stringify(tool), /[\u0100-\uffff]/, tool.name)
            }
            cursor = page.next ?? undefined
          } while (cursor !== undefined)
          for (const tool of ["remember", "post_message", "run_agent"]) assert.include(names, tool)
        }),
    )

    it.effect(
      "S0-07 S0-08 S0-09 S0-10 S0-15 S0-16 S0-19 S0-48 S0-54 X-48 the office's send_message: one row by the caller, a bare id, and nothing where it may not",
      () =>
        Effect.gen(function* () {
          const [pam, dwight] = [yield* someone(), yield* agentWith("office")]
          const open = yield* room(pam, [], { kind: "public" })
          const inside = yield* room(pam, [dwight])
          // Others of his stand before and after it.
          yield* room(yield* someone(), [dwight], { kind: "dm" })
          const dm = yield* room(pam, [pam, dwight], { kind: "dm" })
          yield* room(yield* someone(), [dwight], { kind: "dm" })
          const outside = yield* room(pam, [])
          // A dm is found by its two members, in either order.
          const pair = [`dm-${dwight.name}-${pam.name}`, `dm-${pam.name}-${dwight.name}`]
          for (const [channelId, space] of [
            [open.name, open],
            [inside.id, inside],
            [dm.id, dm],
            [inside.id.slice(4), inside],
            ...pair.map((name) => [name, dm] as const),
          ] as const) {
            const rows = yield* count("messages")
            const output = yield* done(dwight, "send_message", { channelId, text: "hi" })
            assert.strictEqual(yield* count("messages"), rows + 1)
            assert.deepStrictEqual(Object.keys(output), ["messageId"])
            assert.match(String(output["messageId"]), uuid)
            const { body } = yield* request(pam, "GET", `/messages/msg_${String(output["messageId"])}`)
            assert.deepInclude(body["author"] as object, { id: dwight.id })
            assert.deepStrictEqual([body["space"], body["text"], body["replyTo"]], [space.id, "hi", null], channelId)
          }
          const before = yield* count("messages")
          const first = (yield* ask(() => pam.client.spaces.messages(open.id))).items[0]!.id
          yield* failed(dwight, "send_message", { channelId: outside.id, text: "hi" })
          yield* failed(dwight, "send_message", { channelId: "nowhere", text: "hi" })
          for (const input of [
            { text: "hi" },
            { channelId: open.id },
            { channelId: 1, text: "hi" },
            { channelId: open.id, text: "" },
            { channelId: "", text: "hi" },
            // It has no parameter to begin or answer a thread with, whatever that would be called.
            ...["replyToMessageId", "replyTo", "parentId", "threadId"].map((name) => ({
              channelId: open.id,
              text: "hi",
              [name]: first,
            })),
          ])
            assert.strictEqual((yield* use(dwight, "send_message", input)).status, 400, JSON.stringify(input))
          assert.strictEqual(yield* count("messages"), before)
        }),
    )

    it.effect(
      "S0-21 S0-22 S0-24 S0-25 S0-28 S0-29 S0-30 S0-48 reactions once, an unknown message is an error, and doing nothing does nothing but be a call",
      () =>
        Effect.gen(function* () {
          const [pam, jim] = [yield* someone(), yield* agentWith("office")]
          const space = yield* room(pam, [jim])
          const { id } = yield* ask(() => pam.client.spaces.post(space.id, { text: "lunch?" }))
          for (let twice = 0; twice < 2; twice++)
            assert.deepStrictEqual(yield* done(jim, "react_to_message", { messageId: id.slice(4), emoji: "👍" }), {
              success: true,
            })
          const { body } = yield* request(pam, "GET", `/messages/${id}`)
          assert.deepStrictEqual<unknown>(body["reactions"], [{ emoji: "👍", by: [jim.id] }])
          const messageId = id.slice(4)
          for (const input of [
            {},
            { messageId },
            { emoji: "👀" },
            { messageId, emoji: "" },
            { messageId, emoji: 1 },
            { messageId: 1, emoji: "👀" },
            { messageId: "", emoji: "👀" },
            { messageId, emoji: "👀", channelId: space.id },
          ])
            assert.strictEqual((yield* use(jim, "react_to_message", input)).status, 400, JSON.stringify(input))
          yield* failed(jim, "react_to_message", { messageId: "00000000-0000-0000-0000-000000000000", emoji: "👍" })
          assert.deepStrictEqual<unknown>((yield* request(pam, "GET", `/messages/${id}`)).body["reactions"], [
            { emoji: "👍", by: [jim.id] },
          ])
          const tables = [
            "messages",
            "reactions",
            "spaces",
            "members",
            "decisions",
            "timers",
            "runs",
            "triggers",
            "waits",
          ]
          tables.push("memory_records", "memory_versions", "memory_tags", "files")
          const before = yield* Effect.forEach(tables, count)
          const calls = yield* count("calls")
          const nothing = (yield* use(jim, "do_nothing")).body
          assert.deepInclude(nothing, { state: "done", output: { action: "none" } })
          assert.deepStrictEqual(yield* Effect.forEach(tables, count), before)
          // Recorded like any other: one row, a call and its return.
          assert.strictEqual(yield* count("calls"), calls + 1)
          assert.deepStrictEqual(yield* eventsOf(String(nothing["id"])), ["call.received", "call.settled"])
          // It takes no arguments: with some it is refused, and nothing is done.
          assert.strictEqual((yield* use(jim, "do_nothing", { channelId: space.id, text: "hi" })).status, 400)
          assert.deepStrictEqual(yield* Effect.forEach(tables, count), before)
        }),
    )

    it.effect(
      "S1-36 S1-37 S1-38 S1-44 S1-45 X-63 entering a space is kept with the token; sending goes there and nowhere else",
      () =>
        Effect.gen(function* () {
          const { as } = yield* Guest
          const [pam, bot] = [yield* someone(), yield* agentWith("gateway")]
          const [one, other, closed] = [yield* room(pam, [bot]), yield* room(pam, [bot]), yield* room(pam, [])]
          assert.include(yield* failed(bot, "send_message", { text: "lost" }), "enter_space")
          yield* ask(() => pam.client.spaces.post(one.id, { text: "welcome" }))
          const entered = yield* done(bot, "enter_space", { spaceId: one.id })
          assert.deepInclude(entered, { success: true, spaceId: one.id.slice(4), name: one.name, total: 1 })
          assert.deepInclude((entered["history"] as Array<object>)[0], {
            content: "welcome",
            seen: false,
            senderName: pam.name,
          })
          const sent = yield* done(bot, "send_message", { text: "thanks" })
          const { messageId, ...rest } = sent
          assert.deepStrictEqual(rest, { success: true, status: "delivered" })
          assert.match(String(messageId), uuid)
          assert.deepInclude((yield* request(pam, "GET", `/messages/msg_${String(messageId)}`)).body, {
            text: "thanks",
          })
          yield* failed(bot, "enter_space", { spaceId: closed.id })
          const second = yield* Effect.orDie((yield* Journal).transact((yield* Tokens).issue({ principal: bot.id })))
          const twin = { ...bot, token: second.token, client: as(second.token) }
          assert.include(yield* failed(twin, "send_message", { text: "lost too" }), "enter_space")
          yield* done(twin, "enter_space", { spaceId: other.name })
          yield* done(bot, "send_message", { text: "still here" })
          yield* done(bot, "send_message", { text: "for once there" }, { space: other.id })
          const texts = (space: string) =>
            Effect.map(request(pam, "GET", `/spaces/${space}/messages`), ({ body }) =>
              (body["items"] as Array<{ text: string }>).map(({ text }) => text),
            )
          assert.deepStrictEqual(yield* texts(one.id), ["welcome", "thanks", "still here"])
          assert.deepStrictEqual(yield* texts(other.id), ["for once there"])
          // What was read before is seen, the rest is not; a limit shortens the history, and not the total.
          for (const text of ["four", "five"]) yield* ask(() => pam.client.spaces.post(one.id, { text }))
          const again = yield* done(bot, "enter_space", { spaceId: one.id, limit: 3 })
          assert.strictEqual(again["total"], 5)
          assert.deepStrictEqual(
            (again["history"] as Array<{ content: string; seen: boolean }>).map(({ content, seen }) => [content, seen]),
            [
              ["still here", true],
              ["four", false],
              ["five", false],
            ],
          )
          assert.strictEqual((yield* use(bot, "enter_space", { limit: 3 })).status, 400)
        }),
    )

    /** Over MCP, without a session: whoever calls is known by the token alone. */
    const overMCP = Effect.fnUntraced(function* (who: Someone, method: string, params: object) {
      const { raw } = yield* Guest
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
      const headers = {
        authorization: `Bearer ${who.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      }
      return (yield* Effect.promise(async () => (await raw("/mcp", { method: "POST", headers, body })).json())) as {
        readonly result: { readonly isError?: boolean; readonly tools: ReadonlyArray<{ readonly name: string }> }
      }
    })

    it.effect("X-63 two tokens of one agent stand in two spaces over MCP, too", () =>
      Effect.gen(function* () {
        const { as } = yield* Guest
        const [pam, bot] = [yield* someone(), yield* agentWith("gateway")]
        const [one, other] = [yield* room(pam, [bot]), yield* room(pam, [bot])]
        const second = yield* Effect.orDie((yield* Journal).transact((yield* Tokens).issue({ principal: bot.id })))
        const twin = { ...bot, token: second.token, client: as(second.token) }
        const say = (who: Someone, text: string) =>
          Effect.map(
            overMCP(who, "tools/call", { name: "send_message", arguments: { text } }),
            ({ result }) => result.isError === true,
          )
        const enter = (who: Someone, spaceId: string) =>
          overMCP(who, "tools/call", { name: "enter_space", arguments: { spaceId } })
        yield* enter(bot, one.id)
        assert.isTrue(yield* say(twin, "nowhere yet"))
        yield* enter(twin, other.id)
        assert.isFalse(yield* say(bot, "for one"))
        assert.isFalse(yield* say(twin, "for the other"))
        for (const [space, text] of [
          [one, "for one"],
          [other, "for the other"],
        ] as const) {
          const { body } = yield* request(pam, "GET", `/spaces/${space.id}/messages`)
          assert.deepStrictEqual(
            (body["items"] as Array<{ text: string }>).map((it) => it.text),
            [text],
          )
        }
      }),
    )

    it.effect("a right that ends by itself is gone from what MCP shows, and back, without any other change", () =>
      Effect.gen(function* () {
        const bot = yield* agentWith("gateway")
        const listed = Effect.map(overMCP(bot, "tools/list", {}), ({ result }) =>
          result.tools.some(({ name }) => name === "send_message"),
        )
        assert.isTrue(yield* listed)
        const { adminToken } = yield* Guest
        const now = yield* Effect.clockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe()))
        const denied = yield* request({ ...bot, token: adminToken }, "POST", "/grants", {
          principal: bot.id,
          resource: "tools/send_message",
          actions: ["execute"],
          effect: "deny",
          expiresAt: new Date(now + 1500).toISOString(),
        })
        assert.strictEqual(denied.status, 201, JSON.stringify(denied.body))
        assert.isFalse(yield* listed)
        yield* until(listed)
      }),
    )

    it.effect("S1-50 S1-51 reading back by offset has no gap and no repeat while others write", () =>
      Effect.gen(function* () {
        const [pam, bot] = [yield* someone(), yield* agentWith("gateway")]
        const space = yield* room(pam, [bot])
        const say = (text: string) => ask(() => pam.client.spaces.post(space.id, { text }))
        for (let n = 1; n <= 25; n++) yield* say(String(n))
        yield* done(bot, "enter_space", { spaceId: space.id })
        const seen: Array<string> = []
        for (let offset = 0; offset < 25; offset += 10) {
          const { messages, total } = yield* done(bot, "read_messages", { limit: 10, offset })
          assert.isAtLeast(total as number, 25)
          seen.unshift(...(messages as Array<{ content: string }>).map(({ content }) => content))
          yield* say(`meanwhile ${offset}`)
        }
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 25 }, (_, at) => String(at + 1)),
        )
        // Without a number it gives fifty at most, of the space that was entered; a given space is read in its place.
        for (let n = 26; n <= 52; n++) yield* say(String(n))
        const newest = (yield* done(bot, "read_messages"))["messages"] as Array<{ content: string }>
        assert.deepStrictEqual([newest.length, newest.at(-1)!.content], [50, "52"])
        const other = yield* room(pam, [bot])
        yield* ask(() => pam.client.spaces.post(other.id, { text: "over here" }))
        const given = yield* done(bot, "read_messages", { spaceId: other.id })
        assert.deepStrictEqual(
          [given["total"], (given["messages"] as Array<{ content: string }>).map(({ content }) => content)],
          [1, ["over here"]],
        )
        // It is read back by offset as the other is, and counted from its own end.
        const back: Array<string> = []
        for (let n = 1; n <= 5; n++) yield* ask(() => pam.client.spaces.post(other.id, { text: `there ${n}` }))
        for (let offset = 0; offset < 6; offset += 2) {
          const page = yield* done(bot, "read_messages", { spaceId: other.id, limit: 2, offset })
          back.unshift(...(page["messages"] as Array<{ content: string }>).map(({ content }) => content))
          yield* ask(() => pam.client.spaces.post(other.id, { text: "meanwhile" }))
          yield* say("meanwhile")
        }
        assert.deepStrictEqual(back, ["over here", ...[1, 2, 3, 4, 5].map((n) => `there ${n}`)])
        const closed = yield* room(pam, [])
        yield* failed(bot, "read_messages", { spaceId: closed.id })
        yield* failed(yield* agentWith("gateway"), "read_messages", {})
        // Each says who sent it, what they are, and when.
        const two = yield* room(pam, [bot])
        const shown = []
        for (const [who, senderType] of [
          [pam, "human"],
          [bot, "agent"],
        ] as const) {
          const { createdAt, id } = yield* ask(() => who.client.spaces.post(two.id, { text: `a ${senderType}` }))
          const named = { id: id.slice(4), content: `a ${senderType}`, senderName: who.name, senderType }
          shown.push({ ...named, timestamp: createdAt })
        }
        assert.deepStrictEqual<unknown>((yield* done(bot, "read_messages", { spaceId: two.id }))["messages"], shown)
      }),
    )

    it.effect("G-22 what is said, answered and reacted by tools under one key happens once, retried or at once", () =>
      Effect.gen(function* () {
        const [pam, jim, bot] = [yield* someone(), yield* agentWith("office"), yield* agentWith("gateway")]
        const space = yield* room(pam, [jim, bot])
        const { id } = yield* ask(() => pam.client.spaces.post(space.id, { text: "lunch?" }))
        yield* done(bot, "enter_space", { spaceId: space.id })
        const from = (yield* (yield* Journal).read({ after: 0, limit: 100_000 })).length
        for (const [who, tool, input] of [
          [jim, "send_message", { channelId: space.id, text: "yes" }],
          [jim, "react_to_message", { messageId: id.slice(4), emoji: "👍" }],
          [bot, "send_message", { text: "me too" }],
          [bot, "send_reply", { text: "when?", replyToMessageId: id.slice(4) }],
        ] as const) {
          const key = fresh("key")
          const once = request(who, "POST", `/tools/${tool}/call`, { input }, key)
          const burst = yield* Effect.all([once, once, once, once], { concurrency: "unbounded" })
          const answers = [...burst, yield* once]
          for (const { body, status } of answers) {
            assert.strictEqual(status, 200, JSON.stringify(body))
            assert.deepStrictEqual([body["id"], body["output"]], [answers[0]!.body["id"], answers[0]!.body["output"]])
          }
          // A reaction that was taken back is not given again by a retry.
          if (tool !== "react_to_message") continue
          yield* ask(() => jim.client.messages.unreact(id, "👍"))
          yield* once
        }
        const { body } = yield* request(pam, "GET", `/spaces/${space.id}/messages`)
        assert.deepStrictEqual(
          (body["items"] as Array<{ text: string; reactions: Array<unknown> }>).map((one) => [one.text, one.reactions]),
          ["lunch?", "yes", "me too", "when?"].map((text) => [text, []]),
        )
        const events = (yield* (yield* Journal).read({ after: 0, limit: 100_000 })).slice(from)
        assert.deepStrictEqual(
          events.filter((event) => event.space === space.id && !event.kind.startsWith("call.")).map(({ kind }) => kind),
          ["message.created", "reaction.added", "reaction.removed", "message.created", "message.created"],
        )
      }),
    )

    it.effect("S1-47 S1-65 a reply carries what it answers; a tool's message cannot be answered", () =>
      Effect.gen(function* () {
        const [pam, bot] = [yield* someone(), yield* agentWith("gateway")]
        const space = yield* room(pam, [bot])
        const { id } = yield* ask(() => pam.client.spaces.post(space.id, { text: "when?" }))
        yield* done(bot, "enter_space", { spaceId: space.id })
        const { messageId } = yield* done(bot, "send_reply", { text: "now", replyToMessageId: id.slice(4) })
        const { body } = yield* request(pam, "GET", `/messages/msg_${String(messageId)}`)
        assert.strictEqual(body["replyTo"], id)
        assert.strictEqual((yield* use(bot, "send_reply", { text: "now" })).status, 400)
        const { admin } = yield* Guest
        const name = fresh("shown")
        yield* ask(() =>
          admin.tools.add({
            name,
            description: "Counts.",
            inputSchema: { type: "object", properties: {} },
            executionType: "gateway",
            execution: { operation: "evaluate", expression: "1 + 1" },
          }),
        )
        yield* done(bot, name, {}, { space: space.id })
        const said = Effect.map(
          ask(() => pam.client.spaces.messages(space.id)),
          ({ items }) => items,
        )
        const before = yield* said
        const shown = before.at(-1)!
        assert.strictEqual(shown.call?.tool, name)
        const wanted = { text: "well done", replyToMessageId: shown.id.slice(4) }
        assert.include(yield* failed(bot, "send_reply", wanted), "cannot be replied to")
        assert.deepStrictEqual(yield* said, before)
      }),
    )

    it.effect("much text is told in parts, in order, and none of it is lost", () =>
      Effect.gen(function* () {
        const [pam, bot] = [yield* someone(), yield* agentWith("stoa")]
        const space = yield* room(pam, [bot])
        for (let n = 0; n < 7; n++)
          yield* ask(() => pam.client.spaces.post(space.id, { text: `${n} ${"x".repeat(20_000)}` }))
        const told: Array<number> = []
        const parts: Array<number> = []
        for (;;) {
          const { messages } = yield* done(bot, "wait_for_messages", { seconds: 0 })
          const some = (messages as Array<{ text: string; seq: number }>).map(({ seq, text }) => [seq, text] as const)
          if (some.length === 0) break
          parts.push(some.length)
          told.push(...some.map(([, text]) => Number(text.split(" ")[0])))
          yield* done(bot, "mark_read", { space: space.id, seq: some.at(-1)![0] })
        }
        assert.deepStrictEqual(told, [0, 1, 2, 3, 4, 5, 6])
        assert.deepStrictEqual(parts, [2, 2, 2, 1])
      }),
    )

    it.effect(
      "G-04 a client with the house's own tools lives here: it waits, reads, answers, and follows its calls",
      () =>
        Effect.gen(function* () {
          const [pam, bot] = [yield* someone(), yield* agentWith("stoa")]
          const space = yield* room(pam, [bot])
          assert.deepInclude(yield* done(bot, "whoami"), { id: bot.id, kind: "agent" })
          const waiting = yield* Effect.forkChild(done(bot, "wait_for_messages", { seconds: 20 }))
          yield* ask(() => pam.client.spaces.post(space.id, { text: `@${bot.name} hello` }))
          const { messages, timedOut } = yield* Fiber.join(waiting)
          assert.isFalse(timedOut)
          assert.deepInclude((messages as Array<object>)[0], { text: `@${bot.name} hello`, space: space.name, seq: 1 })
          yield* done(bot, "mark_read", { space: space.id, seq: 1 })
          assert.deepStrictEqual(yield* done(bot, "wait_for_messages", { seconds: 0 }), {
            messages: [],
            timedOut: true,
          })
          const posted = yield* done(bot, "post_message", { space: space.name, text: "hello pam" })
          yield* done(bot, "react", { message: (messages as Array<{ id: string }>)[0]!.id, emoji: "👋" })
          const read = yield* done(bot, "read_messages", { space: space.id })
          assert.deepStrictEqual(
            (read["items"] as Array<{ id: string }>).map(({ id }) => id),
            [(messages as Array<{ id: string }>)[0]!.id, posted["id"]],
          )
          const found = yield* done(bot, "search_messages", { query: "hello", space: space.id })
          assert.lengthOf(found["items"] as Array<unknown>, 2)
          assert.include(JSON.stringify(yield* done(bot, "list_spaces")), space.id)
          assert.include(JSON.stringify(yield* done(bot, "list_members", { space: space.id })), pam.id)
        }),
    )

    it.effect("a decision is listed and answered by a tool, by whoever may and by nobody else", () =>
      Effect.gen(function* () {
        const { adminToken } = yield* Guest
        const [pam, bot] = [yield* someone(), yield* agentWith("stoa")]
        const space = yield* room(pam, [bot])
        const name = fresh("danger")
        const form = {
          name,
          description: "Wipes.",
          inputSchema: { type: "object" },
          executionType: "internal",
          riskLevel: "high",
        }
        assert.strictEqual((yield* request({ token: adminToken } as Someone, "POST", "/tools", form)).status, 201)
        const asked = yield* use(bot, name, {}, { space: space.id })
        assert.strictEqual(asked.status, 202)
        const { id: decision } = asked.body["on"] as { id: string }
        assert.include(JSON.stringify(yield* done(pam, "list_decisions")), decision)
        yield* failed(bot, "answer_decision", { decision, verdict: "approve" })
        assert.deepInclude(yield* done(bot, "call_status", { call: asked.body["id"] }), { state: "waiting" })
        assert.deepInclude(yield* done(pam, "answer_decision", { decision, verdict: "approve" }), { state: "answered" })
        const { body } = yield* request(bot, "GET", `/calls/${String(asked.body["id"])}?wait=20`)
        assert.strictEqual(body["state"], "done")
      }),
    )

    it.effect(
      "X-53 S2-05 whoever has not the toolset finds no such tool; a list takes a tool away at listing and at calling",
      () =>
        Effect.gen(function* () {
          const { adminToken } = yield* Guest
          const admin = { token: adminToken } as Someone
          const [office, plain] = [yield* agentWith("office"), yield* agentWith("stoa")]
          assert.strictEqual((yield* use(plain, "do_nothing")).status, 404)
          const names = Effect.map(request(office, "GET", "/tools?set=office"), ({ body }) =>
            (body["items"] as Array<{ name: string }>).map(({ name }) => name),
          )
          assert.deepStrictEqual(yield* names, [
            "do_nothing",
            "react_to_message",
            "search_memory",
            "send_message",
            "store_memory",
            "update_memory",
          ])
          const list = (tools: ReadonlyArray<string>) => request(admin, "PUT", "/allow-lists/office/agent", { tools })
          assert.strictEqual((yield* list(["send_message"])).status, 200)
          assert.deepStrictEqual(yield* names, ["send_message"])
          assert.strictEqual((yield* use(office, "do_nothing")).status, 404)
          assert.strictEqual((yield* list(["*"])).status, 200)
          assert.strictEqual((yield* use(office, "do_nothing")).status, 200)
        }),
    )

    it.effect(
      "X-50 S3-08 S2-07 no toolset is larger than a client takes, and what is served is what contract names",
      () =>
        Effect.gen(function* () {
          for (const [set, names] of Object.entries(toolNames)) assert.isAtMost(names.length, 40, set)
          const bot = yield* agentWith("stoa", "office", "gateway", "skills")
          for (const set of ["stoa", "office", "gateway", "skills"] as const) {
            const { body } = yield* request(bot, "GET", `/tools?set=${set}&limit=100`)
            const served = (body["items"] as Array<{ name: string }>).map(({ name }) => name)
            assert.sameMembers(served, [...toolNames[set]], set)
          }
        }),
    )

    it.effect("X-06 doing nothing is the office's alone, and no code but its toolset's looks at the name", () =>
      Effect.gen(function* () {
        const all = yield* agentWith("stoa", "gateway", "skills")
        assert.lengthOf(toolNames.gateway, 13)
        for (const [set, names] of Object.entries(toolNames))
          assert.strictEqual(names.includes("do_nothing"), set === "office", set)
        assert.strictEqual((yield* use(all, "do_nothing")).status, 404)
        const source = join(import.meta.dirname, "../../src")
        const knowing = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
          (file) => file.endsWith(".ts") && /["'`]do_nothing["'`]/.test(readFileSync(join(source, file), "utf8")),
        )
        assert.deepStrictEqual(knowing, [join("toolsets", "office.ts")])
        const office = yield* agentWith("office")
        const { body } = yield* request(office, "GET", "/tools/do_nothing")
        assert.deepInclude(body, { executionType: "internal", visibility: "hidden" })
      }),
    )

    it.effect("S4-96 the skills' files lie in a folder of their own, and the house's keys are out of reach", () =>
      Effect.gen(function* () {
        const { folder } = yield* Guest
        const bot = yield* agentWith("skills")
        assert.include(yield* failed(bot, "file-read", { path: "../admin.token" }), "admin.token")
        yield* failed(bot, "file-read", { path: `${folder}/admin.token` })
        const wants = yield* use(bot, "file-write", { path: "note.txt", content: "hi" })
        assert.strictEqual(wants.status, 202)
        const { adminToken } = yield* Guest
        const decision = (wants.body["on"] as { id: string }).id
        yield* request({ token: adminToken } as Someone, "POST", `/decisions/${decision}/answer`, {
          verdict: "approve",
        })
        const written = (yield* request(bot, "GET", `/calls/${String(wants.body["id"])}?wait=20`)).body
        assert.deepInclude(written, { state: "done", output: { written: true, path: "note.txt", bytes: 2 } })
        assert.strictEqual(readFileSync(join(folder, "workspace", "note.txt"), "utf8"), "hi")
        const read = yield* use(bot, "file-read", { path: "note.txt" })
        assert.strictEqual(read.body["output"], "hi")
      }),
    )

    it.effect("S4-85 the key of the web search is in no answer of a skill, and in no line of the log", () =>
      Effect.gen(function* () {
        const { folder } = yield* Guest
        const bot = yield* agentWith("skills")
        writeFileSync(join(folder, "workspace", "keys.txt"), `the key is ${searchKey}.`)
        const { body } = yield* use(bot, "file-read", { path: "keys.txt" })
        assert.strictEqual(body["state"], "done")
        assert.match(String(body["output"]), /^the key is /)
        assert.notInclude(JSON.stringify(body), searchKey)
        assert.notInclude((yield* Confidential).text(`asking with ${searchKey}`), searchKey)
      }),
    )
  })
