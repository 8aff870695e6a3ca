/** Seed 001's goals, memories and plans, called over HTTP by agents of that toolset. */
import { assert, layer } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { Effect } from "effect"
import { ask, Guest, house } from "../house.ts"

const agent = Effect.fnUntraced(function* (name: string) {
  const { admin, url } = yield* Guest
  yield* ask(() => admin.principals.add({ kind: "agent", name, toolsets: ["gateway", "office"] }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
  const stoa = connect({ url, token })
  const call = (tool: string, input: object) => ask(() => stoa.tools.call(tool, { input: input as never }))
  const done = (tool: string, input: object) =>
    Effect.map(call(tool, input), (result) => {
      assert.deepInclude(result, { state: "done" }, JSON.stringify(result))
      return (result as unknown as { readonly output: Record<string, never> }).output
    })
  const failed = (tool: string, input: object) =>
    Effect.map(call(tool, input), (result) => {
      assert.deepInclude(result, { state: "failed" })
      return (result as unknown as { error: { message: string } }).error.message
    })
  const kept = (kind: string) =>
    Effect.map(
      ask(() => stoa.memory.list({ namespace: "gateway", kind })),
      ({ items }) => items.map(({ content, key }) => [key, content]).toSorted(),
    )
  const prompt = ask(() => stoa.agents.prompt(name))
  return { stoa, name, call, done, failed, kept, prompt }
})

/** What somebody else's block says, without the frame that the house puts around it. */
const unfenced = (text: string): string =>
  /<shared:(\w+) author="ann4" title="team">(.*)<\/shared:\1>/s.exec(text)?.[2] ?? text

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`gateway memory on ${store}`, (it) => {
    it.effect("S1-54 S1-55 goals are created, updated and deleted by their ids; another's goal is untouched", () =>
      Effect.gen(function* () {
        const [ann, bob] = [yield* agent("ann1"), yield* agent("bob1")]
        const goal = { id: "goal-1", description: "Finish the report", status: "active" }
        assert.deepStrictEqual(yield* ann.done("set_goals", { goals: [goal] }), {
          success: true,
          count: 1,
          goals: [goal],
        } as never)
        const theirs = ["goal-1", "goal-2"].map((id) => ({ id, description: "Bob's own" }))
        yield* bob.done("set_goals", { goals: theirs })
        // Not even where it is shown to one, to read or to write.
        for (const key of ["goal-1", "goal-2"]) {
          const { items } = yield* ask(() => bob.stoa.memory.list({ namespace: "gateway", kind: "goal", key }))
          yield* ask(() => bob.stoa.memory.share(items[0]!.id, "ann1", { right: "write" }))
          yield* ask(() => ann.stoa.memory.answer(items[0]!.id, { taken: true }))
        }
        assert.include(yield* ann.failed("set_goals", { goals: [{ id: "goal-2" }] }), "give its description")
        const { goals } = yield* ann.done("set_goals", {
          goals: [
            { id: "goal-1", status: "completed" },
            { description: "Without an id", priority: 3, isLongTerm: true },
          ],
        })
        const [first, second] = goals as unknown as ReadonlyArray<Record<string, unknown>>
        assert.deepStrictEqual(first, { ...goal, status: "completed" })
        assert.deepInclude(second!, { description: "Without an id", status: "active", priority: 3, isLongTerm: true })
        assert.match(String(second!["id"]), /^[0-9a-f]{8}-/)
        yield* ann.done("set_goals", { goals: [{ id: second!["id"], isCompleted: true }] })
        const { text } = yield* ann.prompt
        assert.include(text, "# GOALS")
        assert.include(text, "[goal-1] Finish the report (completed)")
        assert.include(text, "Without an id (completed)")
        assert.notInclude(text, "Bob's own")
        assert.include(yield* ann.failed("set_goals", { goals: [{ id: "new one" }] }), "give its description")
        assert.deepStrictEqual(yield* ann.done("delete_goals", { ids: ["goal-1", "goal-1", "goal-2", "unknown"] }), {
          success: true,
          count: 1,
        } as never)
        assert.deepStrictEqual(
          yield* bob.kept("goal"),
          theirs.map(({ description, id }) => [id, description]),
        )
        assert.lengthOf(yield* ann.kept("goal"), 3, "one of hers, and two that are shown to her")
      }),
    )

    it.effect("S1-56 S1-57 memories are upserted and deleted by their exact keys; similar texts never collide", () =>
      Effect.gen(function* () {
        const [ann, bob] = [yield* agent("ann2"), yield* agent("bob2")]
        const set = (...memories: ReadonlyArray<readonly [string, string]>) => ({
          memories: memories.map(([key, value]) => ({ key, value })),
        })
        const two = { success: true, count: 2 } as never
        assert.deepStrictEqual(yield* ann.done("set_memories", set(["due", "28 May"], ["due_date", "28 May too"])), two)
        assert.deepStrictEqual(yield* ann.done("set_memories", set(["due", "29 May"], ["due_date", "28 May too"])), two)
        yield* bob.done("set_memories", set(["due", "Bob's"]))
        assert.deepStrictEqual(yield* ann.kept("memory"), [
          ["due", "29 May"],
          ["due_date", "28 May too"],
        ])
        assert.deepStrictEqual(yield* ann.done("delete_memories", { keys: ["28 May", "du"] }), {
          success: true,
          count: 0,
        } as never)
        assert.deepStrictEqual(yield* ann.done("delete_memories", { keys: ["due", "never"] }), {
          success: true,
          count: 1,
        } as never)
        assert.deepStrictEqual(yield* ann.kept("memory"), [["due_date", "28 May too"]])
        assert.deepStrictEqual(yield* bob.kept("memory"), [["due", "Bob's"]])
        assert.deepInclude((yield* ann.prompt).sections, {
          name: "MEMORIES",
          text: "- due_date: 28 May too",
          size: 22,
          tokens: 6,
        })
      }),
    )

    it.effect(
      "S1-58 S1-59 plans: exactly one schedule, the next time at once, refusals in a sentence, read by status",
      () =>
        Effect.gen(function* () {
          const [ann, bob] = [yield* agent("ann3"), yield* agent("bob3")]
          const plan = { name: "Report", instruction: "Write it" }
          const before = Date.now()
          const { plans } = yield* ann.done("set_plans", { plans: [{ ...plan, runAfter: "2 hours" }] })
          const [made] = plans as unknown as ReadonlyArray<{ id: string; nextRunAt: string; status: string }>
          assert.closeTo(Date.parse(made!.nextRunAt), before + 7_200_000, 60_000)
          assert.strictEqual(made!.status, "active")
          for (const [more, why] of [
            [{ runAfter: "1 hour", cron: "0 9 * * *" }, /exactly one/],
            [{}, /exactly one/],
            [{ cron: "every day" }, /not a cron line/],
          ] as const)
            assert.match(yield* ann.failed("set_plans", { plans: [{ ...plan, ...more }] }), why)
          const get = (who: typeof ann, input: object = {}) =>
            Effect.map(
              who.done("get_plans", input),
              ({ plans: all }) => all as unknown as ReadonlyArray<Record<string, unknown>>,
            )
          // A batch is whole: what was refused left nothing.
          assert.lengthOf(yield* get(ann), 1)
          assert.lengthOf(yield* get(bob), 0)
          assert.match(yield* bob.failed("set_plans", { plans: [{ id: made!.id, name: "Mine" }] }), /plan/)
          assert.deepStrictEqual((yield* bob.done("delete_plans", { ids: [made!.id] }))["count"], 0 as never)
          yield* ann.done("set_plans", { plans: [{ id: made!.id, name: "Report again", cron: "0 9 * * 1-5" }] })
          const [changed] = yield* get(ann, { status: "active" })
          assert.deepInclude(changed!, {
            id: made!.id,
            name: "Report again",
            instruction: "Write it",
            cron: "0 9 * * 1-5",
          })
          assert.notProperty(changed!, "runAfter")
          assert.include((yield* ann.prompt).text, "Report again: Write it")
          // One that is due soon is completed, and is read as such.
          const { admin } = yield* Guest
          const short = (yield* ann.done("set_plans", { plans: [{ ...plan, name: "Soon", runAfter: "1 second" }] }))[
            "plans"
          ] as unknown as ReadonlyArray<{ id: string }>
          yield* ask(async () => {
            for await (const item of admin.feed({ after: 0 }))
              if (item.type === "event" && JSON.stringify(item.event).includes(`"plan":"mem_${short[0]!.id}"`)) return
          })
          for (let all: ReadonlyArray<unknown> = []; all.length === 0;) all = yield* get(ann, { status: "completed" })
          const [completed] = yield* get(ann, { status: "completed" })
          assert.deepInclude(completed!, { id: short[0]!.id, status: "completed", nextRunAt: null })
          assert.isString(completed!["lastRunAt"])
          assert.sameMembers(
            (yield* get(ann)).map(({ id }) => id),
            [made!.id, short[0]!.id],
            "all of them, where no status is asked for",
          )
          assert.deepStrictEqual(
            (yield* ann.done("delete_plans", { ids: [made!.id, short[0]!.id] }))["count"],
            2 as never,
          )
          assert.lengthOf(yield* get(ann), 0)
        }),
    )

    it.effect(
      "S0-36 S0-37 S0-38 blocks are in the prompt under their labels, those of others that are shared too",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [ann, bob] = [yield* agent("ann4"), yield* agent("bob4")]
          yield* ann.done("update_memory", { label: "team", content: "We are three." })
          yield* bob.done("update_memory", { label: "personality", content: "Dry." })
          const [block] = (yield* ask(() => ann.stoa.memory.list({ kind: "block" }))).items
          yield* ask(() => ann.stoa.memory.share(block!.id, "bob4", { right: "write" }))
          const offered = (yield* bob.prompt).sections.slice(1, -1)
          assert.deepStrictEqual(
            offered.map(({ name }) => name),
            ["personality", "More of your memory"],
          )
          assert.include(offered[1]!.text, "Others offer you 1 record")
          yield* ask(() => bob.stoa.memory.answer(block!.id, { taken: true }))
          assert.deepStrictEqual(
            // Between who it is and how it works here.
            (yield* bob.prompt).sections.slice(1, -1).map(({ name, text }) => [name, unfenced(text)]),
            [
              ["personality", "Dry."],
              ["Shared by ann4", "We are three."],
            ],
          )
          assert.include((yield* bob.prompt).text, ' author="ann4" title="team">')
          assert.include((yield* bob.prompt).text, "Shared with you by ann4.")
          // Its owner's block stays as it is when a reader writes its own of that label.
          yield* bob.done("update_memory", { label: "team", content: "Bob's view." })
          assert.strictEqual((yield* ask(() => ann.stoa.memory.get(block!.id))).content, "We are three.")
          yield* ann.done("update_memory", { label: "team", content: "We are four." })
          assert.deepStrictEqual(
            (yield* bob.prompt).sections.slice(1, -1).map(({ text }) => unfenced(text)),
            ["Dry.", "Bob's view.", "We are four."],
          )
          assert.lengthOf((yield* ask(() => ann.stoa.memory.shares(block!.id))).items, 1)
          yield* ask(() => ann.stoa.memory.remove(block!.id, { permanent: "true" }))
          assert.lengthOf((yield* bob.prompt).sections, 4)
          // What somebody is told is its own business, and that of whoever rules the house.
          const other = yield* Effect.flip(ask(() => ann.stoa.agents.prompt("bob4")))
          assert.strictEqual((other as { status?: number }).status, 403)
          assert.include((yield* ask(() => admin.agents.prompt("bob4"))).text, "# personality\n\nDry.")
        }),
    )
  })
