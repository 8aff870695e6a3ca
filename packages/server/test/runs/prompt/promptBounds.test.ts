/** However much others have piled up, a prompt has its bounds, and says what is left out. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { estimatedTokens } from "../../../src/models/text/Estimate.ts"
import { conversation, type PastStep } from "../../../src/runs/prompt/conversation.ts"
import { fitTools, fitToWindow } from "../../../src/runs/prompt/fit.ts"
import { shortenedAll } from "../../../src/runs/prompt/shorten.ts"
import { readExcerpts } from "../../../src/spaces/messages/MessageExcerpts.ts"
import { ask, Guest } from "../../house.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { dm, ended, inState, room, runsHouse, setRules, stores, thinker } from "../runsKit.ts"

/** The window of a model that declares none. */
const window = 100_000
const giant = (word: string) => `${word} `.repeat(Math.floor(250_000 / Buffer.byteLength(`${word} `)))

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 120_000 })(
    `bounds of prompts on ${store}`,
    (it) => {
      const told = Effect.fnUntraced(function* (run: { readonly id: string }) {
        const { admin } = yield* Guest
        const { items } = yield* ask(() => admin.runs.messages(run.id))
        const texts = (kind: string) => items.filter((one) => one.kind === kind).map(({ text }) => text ?? "")
        return [texts("system_message").join(""), texts("user_message").join("")] as const
      })

      it.effect("giant records of every kind, its own and shared, take a quarter of the window at most", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker({ toolsets: ["gateway", "office"] })
          const plan = { name: "tea", instruction: giant("plan"), runAfter: "1 day" }
          for (const [namespace, kind, content] of [
            ["office", "block", giant("own")],
            ["gateway", "goal", giant("goal")],
            ["gateway", "memory", giant("漢字")],
            ["gateway", "plan", JSON.stringify(plan)],
          ] as const)
            for (let n = 0; n < 8; n++)
              yield* ask(() => bot.client.memory.put({ namespace, kind, key: `${"k".repeat(400)}${n}`, content }))
          for (let n = 0; n < 12; n++) {
            const key = `${"s".repeat(400)}${n}`
            const content = giant("shared")
            const { id } = yield* ask(() => ada.client.memory.put({ namespace: "office", kind: "block", key, content }))
            yield* ask(() => ada.client.memory.share(id, bot.id, { right: "read" }))
            yield* ask(() => bot.client.memory.answer(id, { taken: true }))
          }
          const stored = yield* sql<{ n: number | string }>`SELECT sum(octet_length(content)) AS n FROM memory_records`
          assert.isAbove(Number(stored[0]!.n), 10_000_000)
          const preview = yield* ask(() => admin.agents.prompt(bot.name))
          const memory = preview.sections.slice(1, -1)
          const tokens = memory.reduce((sum, one) => sum + one.tokens, 0)
          assert.isBelow(tokens, window / 4 + 4000)
          assert.include(preview.text, "Not shown here, for want of room:")
          assert.match(preview.text, /\d+ more blocks that others share with you/)
          assert.match(preview.text, /\d+ more bytes of it are not shown/)
          // A text that another adds displaces none that was taken before.
          assert.include(preview.text, `title="${"s".repeat(400)}0"`)
          assert.notInclude(preview.text, `title="${"s".repeat(400)}11"`)
        }),
      )

      it.effect(
        "of a space full of long messages and calls no more is read than there is room for, and the rest is counted",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const [ada, bot] = [yield* someone(), yield* thinker({ toolsets: ["stoa"] })]
            const space = yield* room("public", ada, bot)
            const long = "漢".repeat(20_000)
            const ids: Array<string> = []
            for (let n = 0; n < 56; n++)
              ids.push((yield* ask(() => ada.client.spaces.post(space.id, { text: `${n}. ${long}` }))).id)
            const call = { id: "call_x", tool: 'a "tool"', input: { text: "\u0000".repeat(50_000) }, state: "done" }
            yield* sql`UPDATE messages SET text = '', call = ${JSON.stringify(call)} WHERE id = ${ids[54]!}`
            const [letters, limit] = [30_000, 51]
            const stored = yield* sql<{
              n: number
            }>`SELECT CAST(sum(octet_length(text)) AS INTEGER) AS n FROM messages WHERE space = ${space.id}`
            assert.isAbove(stored[0]!.n, 3_000_000)
            const read = yield* readExcerpts(sql, space.id as never, { letters, limit, besides: [ids[52]!] })
            assert.lengthOf(read, limit)
            assert.isBelow(Buffer.byteLength(JSON.stringify(read)), letters * 3 + limit * 1000)
            const size = (n: number) => long.length + `${n}. `.length
            const by = (n: number) => read.find(({ id }) => id === ids[n])!
            assert.deepStrictEqual(
              [55, 53, 52, 51, 10].map((n) => [by(n).text.length, by(n).left]),
              [
                [15_000, size(55) - 15_000],
                [15_000, size(53) - 15_000],
                [0, size(52)],
                [0, size(51)],
                [0, size(10)],
              ],
            )
            assert.deepStrictEqual(
              [by(54).call?.tool, by(54).call?.input],
              ['a "tool"', JSON.stringify(call.input).slice(0, 500)],
            )
            // The same in a thread, and in the prompt of a run that a message at the end of it wakes.
            const root = ids[55]!
            yield* ask(() => ada.client.spaces.post(space.id, { text: long, replyTo: root as never }))
            const thread = yield* readExcerpts(sql, space.id as never, { letters, limit, besides: [], thread: root })
            assert.deepStrictEqual(
              thread.map(({ text }) => text.length),
              [15_000, 15_000],
            )
            yield* setRules([{ when: { agent: bot.name }, say: "read" }])
            const asked = `@${bot.name} what of it? ${"x".repeat(4000)}`
            yield* ask(() => ada.client.spaces.post(space.id, { text: asked }))
            const [run] = yield* ended(bot, 1)
            const [, user] = yield* told(run!)
            assert.include(user, asked)
            // A character counts for a token, and one message has half of an eighth of the window.
            const shown = window / 16
            assert.include(user, `>${"漢".repeat(shown)} (${long.length - shown} more characters are not shown)`)
            assert.include(user, `> (${size(10)} more characters are not shown)`)
            assert.isBelow(user.length, 60_000)
          }),
      )

      it.effect(
        "many long mentions that join one run, and a space full of long messages, have their room, and no more",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const ada = yield* someone()
            const bot = yield* thinker({ toolsets: ["stoa"] })
            const space = yield* room("public", ada, bot)
            const other = yield* dm(ada, bot)
            yield* setRules([
              { when: { agent: bot.name, text: "hold" }, say: "long", waitMs: 60_000 },
              { when: { agent: bot.name }, say: "read" },
            ])
            yield* ask(() => ada.client.spaces.post(other.id, { text: "hold" }))
            const held = yield* inState(bot, "running")
            const long = giant("mention").slice(0, 60_000)
            for (let n = 0; n < 60; n++)
              yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} number ${n}. ${long}` }))
            yield* ask(() => admin.runs.cancel(held.id))
            const [, run] = yield* ended(bot, 2)
            const [system, user] = yield* told(run!)
            assert.isBelow(estimatedTokens(system) + estimatedTokens(user), window / 2)
            assert.isBelow(user.length, 200_000)
            assert.include(user, "number 59.")
            assert.match(user, /\d+ more messages woke you before these\./)
            assert.match(user, /more characters are not shown/)
          }),
      )
    },
  )

const hugeStep = (number: number, calls: number, size: number): PastStep => ({
  number,
  model: "m",
  parts: Array.from(
    { length: calls },
    (_, at) => ({ type: "call", id: `${number}.${at}`, tool: "read", input: {} }) as const,
  ),
  results: Array.from({ length: calls }, (_, at) => ({
    place: at + 1,
    outcome: at % 2 === 0 ? ("done" as const) : ("failed" as const),
    output: { text: "x".repeat(size) },
    error: at % 2 === 0 ? null : "y".repeat(size),
    from: "a tool" as const,
  })),
})

layer(runsHouse({ store: "sqlite" }), { excludeTestServices: true })("bounds of a conversation", (it) => {
  it.effect("results, news and steps fit the window together, and each call that is told has its result", () =>
    Effect.sync(() => {
      fc.assert(
        fc.property(
          fc.array(fc.record({ calls: fc.nat(12), size: fc.nat(70_000), news: fc.nat(60_000) }), {
            minLength: 1,
            maxLength: 12,
          }),
          fc.constantFrom(8000, 32_000, 100_000),
          (made, tokens) => {
            const steps = made.map(({ calls, size }, at) => hugeStep(at + 1, calls, size))
            const rows = [
              { kind: "user", body: "begin", step: 0 } as const,
              ...made.map(
                ({ news }, at) =>
                  ({ kind: "user", body: "n".repeat(Math.min(news, tokens / 8)), step: at + 1 }) as const,
              ),
            ]
            const fitted = fitToWindow(steps, rows, tokens)
            const prompt = conversation(fitted.promptRows, fitted.steps, "m")
            const all = JSON.stringify(prompt).length
            assert.isAtMost(all, tokens * 3 + 20_000)
            const ids = (role: string) =>
              prompt
                .filter((one) => one.role === role)
                .flatMap(({ content }) =>
                  (content as ReadonlyArray<{ toolCallId?: string }>).map(({ toolCallId }) => toolCallId),
                )
            assert.deepStrictEqual(ids("assistant"), ids("tool"))
            assert.isTrue(fitted.steps.at(-1)!.number === made.length, "the latest step stays")
          },
        ),
        { numRuns: 60 },
      )
    }),
  )

  it.effect("tools and texts take no more than their room, and the rest is counted", () =>
    Effect.sync(() => {
      fc.assert(
        fc.property(fc.array(fc.nat(40_000), { maxLength: 60 }), (sizes) => {
          const tools = sizes.map((size, at) => ({ name: `t${at}`, description: "d".repeat(size) }))
          const { left, tools: shown } = fitTools(tools, window)
          assert.isBelow(JSON.stringify(shown).length, (window / 8) * 3 + 200)
          assert.strictEqual(shown.length + left, tools.length)
          const texts = shortenedAll(
            sizes.map((size) => ({ text: "漢".repeat(size) })),
            1000,
          )
          assert.lengthOf(texts, sizes.length)
          assert.isBelow(
            texts.reduce((sum, { text }) => sum + estimatedTokens(text), 0),
            1000 + 12 * sizes.length,
          )
        }),
      )
    }),
  )
})
