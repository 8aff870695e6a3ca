/** The demo office: made once in a new house, alive without a key, within a budget, and taken away whole. */
import { assert, layer } from "@effect/vitest"
import type { FeedEvent, Stoa } from "@stoa/sdk"
import { Effect } from "effect"
import { Demo } from "../../src/demo/Demo.ts"
import { ask, Guest, house } from "../house.ts"

/** Everything that happened from the beginning, until something has. */
const heard = async (admin: Stoa, enough: (seen: ReadonlyArray<FeedEvent>) => boolean) => {
  const seen: Array<FeedEvent> = []
  for await (const item of admin.feed({ after: 0 })) {
    if (item.type !== "event") continue
    seen.push(item.event)
    if (enough(seen)) break
  }
  return seen
}
const asks = (tool: string) => (seen: ReadonlyArray<FeedEvent>) =>
  seen.some((one) => one.kind === "decision.asked" && one.body.tool === tool)
const says = (name: string, words: RegExp) => (seen: ReadonlyArray<FeedEvent>) =>
  seen.some(
    (one) =>
      one.kind === "message.created" && one.body.message.author.name === name && words.test(one.body.message.text),
  )

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, env: { ANTHROPIC_API_KEY: "a-key-that-nobody-has" } }), {
    excludeTestServices: true,
    timeout: "2 minutes",
  })(`the demo on ${store}`, (it) => {
    it.effect("is not made where it is not wanted", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        yield* (yield* Demo).open({ wanted: false })
        const { parts, state } = yield* ask(() => admin.demo.get())
        assert.deepStrictEqual([state, parts.length], ["none", 0])
        assert.strictEqual((yield* ask(() => admin.page.start())).house.demo, null)
      }),
    )

    it.effect(
      "lives by itself: talks, remembers, reacts, calls, asks, waits, plans, and hands work on",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const demo = yield* Demo
          yield* demo.open({ wanted: true })
          const seen = yield* ask(() =>
            heard(
              admin,
              (all) =>
                asks("order")(all) &&
                asks("lunch")(all) &&
                asks("code-execute")(all) &&
                says("planner", /finder says/)(all),
            ),
          )
          const kinds = new Set(seen.map(({ kind }) => kind))
          for (const kind of [
            "space.added",
            "message.created",
            "reaction.added",
            "memory.written",
            "tool.added",
            "server.connected",
            "call.settled",
            "decision.asked",
            "run.waiting",
            "run.resumed",
            "run.ended",
            "timer.fired",
          ] as const)
            assert.isTrue(kinds.has(kind), kind)
          // What waits for a person was looked for above.
          const called = new Set(
            seen.flatMap((one) =>
              one.kind === "call.received" || one.kind === "call.waiting" || one.kind === "call.settled"
                ? [one.body.tool]
                : [],
            ),
          )
          for (const tool of ["total", "order", "research", "town/week", "recall", "set_plans", "react"])
            assert.isTrue(called.has(tool), tool)
          // A plan and a sub-agent have made runs of their own, and somebody waits for a person's reply.
          const { items } = yield* ask(() => admin.runs.list({ limit: 50 }))
          assert.includeMembers(
            items.map(({ trigger }) => trigger.kind),
            ["service", "message", "plan", "agent"],
          )
          assert.include(
            items.map(({ state }) => state),
            "waiting_reply",
          )
          assert.isEmpty(items.filter(({ state }) => state === "failed"))
        }),
      100_000,
    )

    it.effect("answers people, and ticks the steps they take", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        yield* ask(() => admin.spaces.post("with-clerk", { text: "Hello there" }))
        yield* ask(() => admin.spaces.post("with-planner", { text: "How is the weather?" }))
        yield* ask(() =>
          heard(admin, (all) => says("clerk", /^Hello, and welcome/)(all) && says("planner", /18 °C and clear/)(all)),
        )
        const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
        const order = items.find(({ call }) => call?.tool === "order")!
        yield* ask(() => admin.decisions.answer(order.id, { verdict: "approve" }))
        yield* ask(() =>
          heard(
            admin,
            (all) =>
              says("clerk", /^Ordered 4 × Coffee/)(all) &&
              all.some((one) => one.kind === "demo.changed" && one.body.step === "decided"),
          ),
        )
        const { steps } = yield* ask(() => admin.demo.get())
        assert.isNotNull(steps.find(({ step }) => step === "decided")!.at)
        assert.isNull(steps.find(({ step }) => step === "connected")!.at)
      }),
    )

    it.effect("is made once, thinks with what can be asked, and has a budget", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const before = yield* ask(() => admin.demo.get())
        yield* (yield* Demo).open({ wanted: true })
        const after = yield* ask(() => admin.demo.get())
        assert.deepStrictEqual(after.parts, before.parts)
        assert.deepStrictEqual([after.state, after.model, after.budget.perDay], ["on", "scripted", 1])
        const unknown = yield* Effect.flip(ask(() => admin.demo.change({ model: "nomodel" })))
        assert.match((unknown as Error).message, /there is no model "nomodel"; there are: scripted, demo-/)
        const refused = yield* Effect.flip(ask(() => admin.demo.change({ model: "demo-openai" })))
        assert.match((refused as Error).message, /OPENAI_API_KEY/)
        const cheaper = yield* ask(() => admin.demo.change({ budget: 0.4 }))
        assert.strictEqual(cheaper.budget.perDay, 0.4)
        assert.strictEqual((yield* ask(() => admin.agents.get("clerk"))).limits.perDay?.cost, 0.1)
        // A key is there, and nothing thinks with it until somebody says so.
        assert.strictEqual((yield* ask(() => admin.agents.get("clerk"))).model, "demo-scripted")
        const real = yield* ask(() => admin.demo.change({ model: "demo-anthropic", budget: 2 }))
        assert.deepStrictEqual([real.model, real.budget], ["demo-anthropic", { perDay: 2, spent: 0 }])
        const clerk = yield* ask(() => admin.agents.get("clerk"))
        assert.deepStrictEqual([clerk.model, clerk.limits.perDay?.cost], ["demo-anthropic", 0.5])
        yield* ask(() =>
          heard(admin, (all) => all.some((one) => one.kind === "demo.changed" && one.body.step === "model")),
        )
        assert.strictEqual((yield* ask(() => admin.demo.change({ model: "scripted" }))).model, "scripted")
      }),
    )

    it.effect("goes whole and alone, and does not come back", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        yield* ask(() => admin.principals.add({ kind: "agent", name: "mate" }))
        yield* ask(() => admin.spaces.add({ name: "harbour", kind: "public" }))
        yield* ask(() => admin.demo.remove())
        const names = <A extends { readonly name: string }>(page: { readonly items: ReadonlyArray<A> }) =>
          page.items.map(({ name }) => name)
        assert.deepStrictEqual(names(yield* ask(() => admin.principals.agents())), ["mate"])
        assert.deepStrictEqual(names(yield* ask(() => admin.spaces.list())), ["harbour"])
        assert.isEmpty((yield* ask(() => admin.mcpServers.list())).items)
        assert.isEmpty((yield* ask(() => admin.models.list())).items)
        assert.notInclude(names(yield* ask(() => admin.tools.list())), "order")
        // What its agents had asked is withdrawn.
        const closed = ["decision.answered", "decision.canceled"]
        const count = (all: ReadonlyArray<FeedEvent>, ...kinds: ReadonlyArray<string>) =>
          all.filter(({ kind }) => kinds.includes(kind)).length
        yield* ask(() =>
          heard(
            admin,
            (all) => count(all, "principal.retired") === 4 && count(all, ...closed) === count(all, "decision.asked"),
          ),
        )
        yield* (yield* Demo).open({ wanted: true })
        const { parts, state } = yield* ask(() => admin.demo.get())
        assert.deepStrictEqual([state, parts.length], ["removed", 0])
        const again = yield* Effect.flip(ask(() => admin.demo.remove()))
        assert.strictEqual((again as { tag: string }).tag, "WrongState")
        // Its names are free.
        yield* ask(() => admin.spaces.add({ name: "office", kind: "public" }))
        yield* ask(() => admin.principals.add({ kind: "agent", name: "greeter" }))
      }),
    )
  })
