/** What a page asks of the house beyond what programs do: where a call stands, what waits for me, and why. */
import { hash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import type { Stoa } from "@stoa/sdk"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"

let number = 0
const fresh = (word: string) => `${word}-${++number}`

const someone = Effect.fnUntraced(function* (kind: "person" | "agent", roles?: ReadonlyArray<"member">) {
  const { admin, as } = yield* Guest
  const one = yield* ask(() => admin.principals.add({ kind, name: fresh(kind), ...(roles && { roles }) }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: one.id }))
  return { ...one, client: as(token), token }
})

/** A tool that people see, and that asks first where it is told to. */
const tool = Effect.fnUntraced(function* (over: { readonly name?: string; readonly [key: string]: unknown } = {}) {
  const { admin } = yield* Guest
  const { name = fresh("tool") } = over
  yield* ask(() =>
    admin.tools.add({
      name,
      description: "Says the same thing.",
      inputSchema: { type: "object", properties: { text: { type: "string" } } },
      executionType: "gateway",
      execution: { operation: "evaluate", expression: "1 + 1" },
      ...over,
    }),
  )
  return name
})

/** Reads the feed until this happens. */
const heard = (stoa: Stoa, after: number, wanted: (kind: string, body: Record<string, unknown>) => boolean) =>
  ask(async () => {
    for await (const item of stoa.feed({ after }))
      if (item.type === "event" && wanted(item.event.kind, item.event.body)) return item.event.body
    throw new Error("the feed ended")
  })
const cursorOf = (stoa: Stoa) => ask(async () => (await stoa.page.start()).cursor)

const config = {
  ...roomy,
  policies: [{ principal: "*", resource: "tools/asked-*", actions: ["execute"], effect: "ask" }],
}

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 60_000 })(
    `a page's needs on ${store}`,
    (it) => {
      it.effect("a member of the space sees where a call stands, by which rule, and which question it waits for", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [pam, bot] = [yield* someone("person"), yield* someone("agent")]
          const space = yield* ask(() =>
            admin.spaces.add({ name: fresh("room"), kind: "private", members: [pam.id, bot.id] }),
          )
          const line = () => ask(async () => (await pam.client.spaces.messages(space.id)).items.at(-1)!.call!)
          const plain = yield* tool()
          yield* ask(() => bot.client.tools.call(plain, { input: { text: "a" }, space: space.id }))
          const done = yield* line()
          assert.deepInclude(done, { tool: plain, state: "done", rule: "role:agent-standard", output: 2 })
          assert.isAtLeast(done.durationMs!, 0)
          assert.notProperty(done, "decision")

          const asking = yield* tool({ requiresApproval: true })
          const after = yield* cursorOf(pam.client)
          const made = yield* ask(() =>
            bot.client.tools.call(asking, { input: { text: "b" }, space: space.id, wait: 0 }),
          )
          const { id, on } = made as { readonly id: string; readonly on: { readonly id: string } }
          assert.deepInclude(yield* line(), { id, state: "waiting", decision: on.id })
          yield* ask(() => admin.decisions.answer(on.id, { verdict: "approve", input: { text: "c" } }))
          // It goes on before it ends, and the same message says so, with the input as it was changed.
          type Told = { readonly message: { readonly call: { readonly state: string; readonly input: unknown } } }
          const running = yield* heard(pam.client, after, (kind) => kind === "message.changed")
          assert.deepInclude((running as unknown as Told).message.call, { state: "running", input: { text: "c" } })
          yield* heard(pam.client, after, (kind) => kind === "message.settled")
          assert.deepInclude(yield* line(), { id, state: "done", decision: on.id, output: 2 })
        }),
      )

      it.effect("a decision says why it is asked, and the list for me has what I may answer, with how many", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const [pam, eve, bot] = [yield* someone("person"), yield* someone("person"), yield* someone("agent")]
          const space = yield* ask(() =>
            admin.spaces.add({ name: fresh("room"), kind: "private", members: [pam.id, bot.id] }),
          )
          const asked = Effect.fnUntraced(function* (name: string) {
            const made = yield* ask(() => bot.client.tools.call(name, { input: {}, space: space.id, wait: 0 }))
            return (made as unknown as { readonly on: { readonly id: string } }).on.id
          })
          const byTool = yield* asked(yield* tool({ requiresApproval: true }))
          const byRisk = yield* asked(yield* tool({ riskLevel: "high" }))
          const byRule = yield* asked(yield* tool({ name: fresh("asked") }))
          const reasons = yield* ask(async () => {
            const all = await Promise.all([byTool, byRisk, byRule].map((id) => pam.client.decisions.get(id)))
            return all.map(({ rule }) => rule)
          })
          assert.deepStrictEqual(reasons, ["tool", "risk:high", "policy:0"])

          const forMe = (who: Stoa, limit?: number) =>
            ask(() => who.decisions.list({ for: "me", ...(limit === undefined ? {} : { limit }) }))
          const mine = yield* forMe(pam.client, 2)
          assert.deepStrictEqual([mine.count, mine.items.map(({ id }) => id)], [3, [byTool, byRisk]])
          const rest = yield* ask(() => pam.client.decisions.list({ for: "me", limit: 2, cursor: mine.next! }))
          assert.deepStrictEqual([rest.count, rest.items.map(({ id }) => id), rest.next], [3, [byRule], null])
          assert.deepStrictEqual(yield* forMe(eve.client), { items: [], next: null, count: 0 })
          // Whoever asked sees its own questions, and none of them waits for it.
          assert.strictEqual((yield* ask(() => bot.client.decisions.list({}))).items.length, 3)
          assert.deepStrictEqual(yield* forMe(bot.client), { items: [], next: null, count: 0 })
          yield* ask(() => pam.client.decisions.answer(byTool, { verdict: "deny" }))
          assert.strictEqual((yield* forMe(pam.client)).count, 2)
          assert.notProperty(yield* ask(() => as(pam.token).decisions.list({ state: "open" })), "count")
        }),
      )

      it.effect("a judgement explained has every rule that fits, the one that decides first, and the gates", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [pam, bot] = [yield* someone("person"), yield* someone("agent")]
          const name = yield* tool({ name: fresh("asked") })
          yield* ask(() =>
            admin.grants.add({
              principal: bot.id,
              resource: `tools/${name}`,
              actions: ["execute"],
              effect: "deny",
            }),
          )
          const asked = { action: "execute", resource: `tools/${name}`, explain: "true" } as const
          const told = yield* ask(() => admin.grants.judge({ ...asked, principal: bot.name }))
          assert.strictEqual(told.verdict, "deny")
          assert.deepStrictEqual(
            told.rules!.map(({ decides, effect, from }) => [from, effect, decides]),
            [
              ["house", "deny", true],
              ["role", "allow", false],
              ["file", "ask", false],
            ],
          )
          assert.match(told.rules![1]!.words, /^The role agent-standard allows .*execute on tools\/\*\.$/)
          assert.deepStrictEqual(
            told.gates!.map(({ gate, passes }) => [gate, passes]),
            [
              ["tool", true],
              ["toolset", true],
              ["allow-list", true],
              ["pause", true],
              ["limit", true],
            ],
          )
          // Allowed by every rule, and a person is asked all the same: that is said too.
          const careful = yield* tool({ name: fresh("careful"), requiresApproval: true })
          const first = yield* ask(() => bot.client.grants.judge({ ...asked, resource: `tools/${careful}` }))
          assert.deepStrictEqual([first.verdict, first.gates!.at(-1)!.gate], ["allow", "approval"])
          yield* ask(() => admin.pauses.set({ subject: `tools/${name}`, reason: "today" }))
          const paused = yield* ask(() => admin.grants.judge({ ...asked, principal: bot.name, space: "nowhere" }))
          const stops = paused.gates!.filter(({ passes }) => !passes).map(({ gate }) => gate)
          assert.deepStrictEqual(stops, ["pause", "space"])
          // Of somebody else only whoever may read their grants; of oneself nothing that one does not see.
          const denied = yield* Effect.flip(ask(() => pam.client.grants.judge({ ...asked, principal: bot.name })))
          assert.strictEqual((denied as { readonly tag: string }).tag, "Forbidden")
          const own = yield* ask(() => bot.client.grants.judge({ ...asked, resource: "tools/no-such-tool" }))
          assert.deepStrictEqual(
            own.gates!.map(({ gate, passes }) => [gate, passes]),
            [["tool", false]],
          )
          assert.notProperty(yield* ask(() => bot.client.grants.judge({ action: "read", resource: "x" })), "rules")
        }),
      )

      it.effect(
        "a tool that works unlisted, one for turns only, and one of two toolsets are explained as they behave",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const { id, name } = yield* someone("agent")
            const asked = (tool: string, explain?: "true") =>
              ask(() =>
                admin.grants.judge({
                  principal: name,
                  action: "execute",
                  resource: `tools/${tool}`,
                  ...(explain && { explain }),
                }),
              )
            const stops = Effect.fnUntraced(function* (tool: string) {
              const { gates } = yield* asked(tool, "true")
              return gates!.filter(({ passes }) => !passes).map((one) => one.gate)
            })
            // Its toolset is another's, and its role names no tool of the house: its own calls it sees all the same.
            yield* ask(() => admin.principals.change(id, { toolsets: ["gateway"], roles: ["agent-basic"] }))
            const bot = yield* ask(async () => (await admin.tokens.add({ principal: id })).token)
            const { as } = yield* Guest
            const used = yield* ask(() => as(bot).tools.call("call_status", { input: { call: "none" } }))
            // It ran, and found no such call.
            assert.nestedPropertyVal(used, "error.tag", "ToolExecutionError")
            assert.deepStrictEqual(yield* stops("call_status"), [])
            assert.strictEqual((yield* asked("call_status")).verdict, "allow")
            const told = yield* asked("call_status", "true")
            assert.strictEqual(told.verdict, "allow")
            assert.deepInclude(told.rules![0]!, { name: told.rule, decides: true })
            const { leftOut } = yield* ask(() => admin.tools.list({ as: name }))
            const why = (tool: string) => leftOut!.find((one) => one.name === tool)?.gate
            assert.isUndefined(why("call_status"))
            assert.strictEqual(why("post_message"), "toolset")
            // It has the tool of this name that its toolset brings, whichever toolset was offered first.
            assert.deepStrictEqual(yield* stops("read_messages"), [])
            assert.deepStrictEqual(yield* stops("post_message"), ["toolset"])
            // Not even a member of a team has it outside its turn.
            yield* ask(() => admin.principals.change(id, { toolsets: ["team"], roles: ["agent-standard"] }))
            assert.deepStrictEqual(yield* stops("permit_use"), ["tool"])
            assert.deepStrictEqual(yield* stops("allow_use"), [])
          }),
      )

      it.effect("the tools as somebody gets them, and what leaves the others out", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const bot = yield* someone("agent")
          const [given, denied] = [yield* tool(), yield* tool()]
          yield* ask(() =>
            admin.grants.add({
              principal: bot.id,
              resource: `tools/${denied}`,
              actions: ["execute"],
              effect: "deny",
            }),
          )
          const page = yield* ask(() => admin.tools.list({ as: bot.name, limit: 100 }))
          const names = page.items.map(({ name }) => name)
          assert.include(names, given)
          assert.notInclude(names, denied)
          const why = (name: string) => page.leftOut!.find((one) => one.name === name)
          assert.deepInclude(why(denied), { gate: "rule", set: "configured" })
          const office = page.leftOut!.find(({ set }) => set === "office")
          assert.strictEqual(office?.gate, "toolset")
          assert.match(office!.why, new RegExp(`toolset office; ${bot.name} has stoa`))
          const refused = yield* Effect.flip(ask(() => bot.client.tools.list({ as: "admin" })))
          assert.strictEqual((refused as { readonly tag: string }).tag, "Forbidden")
          assert.notProperty(yield* ask(() => bot.client.tools.list({})), "leftOut")
        }),
      )

      it.effect("a program that comes in over MCP is told of, once, with what it is and finds", () =>
        Effect.gen(function* () {
          const { admin, raw } = yield* Guest
          const bot = yield* someone("agent")
          const after = yield* cursorOf(admin)
          const send = (clientInfo: object) =>
            ask(() =>
              raw("/mcp", {
                method: "POST",
                headers: {
                  authorization: `Bearer ${bot.token}`,
                  "content-type": "application/json",
                  accept: "application/json, text/event-stream",
                },
                body: JSON.stringify({
                  jsonrpc: "2.0",
                  id: 1,
                  method: "initialize",
                  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
                }),
              }),
            )
          yield* send({ name: "first", version: "1.2" })
          yield* send({ name: "first", version: "1.2" })
          yield* send({ name: "second", version: "3" })
          const seen: Array<unknown> = []
          yield* heard(admin, after, (kind, body) => {
            if (kind === "client.connected" && body["principal"] === bot.id)
              seen.push([body["client"], body["version"]])
            return seen.length === 2
          })
          assert.deepStrictEqual(seen, [
            ["first", "1.2"],
            ["second", "3"],
          ])
          const body = yield* heard(bot.client, after, (kind) => kind === "client.connected")
          assert.deepInclude(body, { protocol: "2025-06-18" })
          assert.isAbove((body as unknown as { readonly tools: number }).tools, 5)
        }),
      )

      it.effect("a server is looked at before it is added, and nothing of it is kept", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const name = fresh("server")
          const everything = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
          /** As the page does: shown, then confirmed. */
          const confirmed = (spec: {
            readonly name: string
            readonly command: string
            readonly args?: Array<string>
          }) =>
            ask(async () => {
              const { program } = await admin.mcpServers.look(spec, {})
              return admin.mcpServers.look(spec, { confirm: program!.digest })
            })
          const look = yield* confirmed({ name, command: process.execPath, args: [everything] })
          assert.deepInclude(look, { dryRun: true, status: "connected" })
          assert.include(
            look.tools.map((one) => one.name),
            "echo",
          )
          assert.isNotEmpty(look.log)
          const failed = yield* confirmed({ name, command: "/no/such/program" })
          assert.deepInclude(failed, { status: "error", failed: "program", tools: [] })
          assert.notInclude(
            (yield* ask(() => admin.mcpServers.list())).items.map((one) => one.name),
            name,
          )
          // One that is there says what became of it.
          yield* ask(() => admin.mcpServers.add({ name, command: process.execPath, args: [everything] }))
          const lines = (yield* ask(() => admin.mcpServers.log(name))).items.map(({ text }) => text)
          assert.match(lines.join("\n"), /^connected: .*, \d+ tools$/m)
          yield* ask(() => admin.mcpServers.remove(name))
        }),
      )

      it.effect("G-41 the trail is exported whole, with what an outsider needs to verify it", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          yield* someone("agent")
          const lines = yield* ask(async () => {
            const text = await new Response(await admin.audit.export()).text()
            return text
              .trimEnd()
              .split("\n")
              .map((line) => JSON.parse(line) as Record<string, unknown>)
          })
          const [first, ...rest] = lines
          const last = rest.pop()!
          assert.deepInclude(first, { format: "stoa-audit", version: 1 })
          assert.deepInclude(last, { end: true, rows: rest.length })
          // As docs/operations/audit.md says: each hash is of the one before and of the entry.
          let { hash: before, seq } = first!["begins"] as { readonly hash: string; readonly seq: number }
          for (const row of rest) {
            assert.strictEqual(row["seq"], ++seq)
            const tail = row["space"] == null && row["durationMs"] == null ? [] : [row["space"], row["durationMs"]]
            const names = ["seq", "at", "principal", "action", "resource", "result", "rule", "call", "correlationId"]
            const words = JSON.stringify([before, ...names.map((name) => row[name] ?? null), ...tail])
            assert.strictEqual(hash("sha256", words, "hex"), row["hash"])
            before = row["hash"] as string
          }
          assert.deepStrictEqual(last["ends"], { seq, hash: before })
          assert.deepInclude(last["chain"], { whole: true, brokenAt: null })
          assert.deepInclude(yield* ask(() => admin.audit.chain()), { whole: true, rows: rest.length })
          const { correlationId } = rest.at(-1)! as { readonly correlationId: string }
          const near = yield* ask(() => admin.audit.list({ correlation: correlationId }))
          assert.isNotEmpty(near.items)
          assert.isTrue(near.items.every((one) => one.correlationId === correlationId))
        }),
      )
    },
  )
