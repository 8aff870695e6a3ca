/** What a page asks of the house beyond what programs do: where a call stands, what waits for me, and why. */
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
    },
  )
