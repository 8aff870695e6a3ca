/** Agents that wait for each other's answers, and how far they may wake each other. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Waits } from "../../../src/runs/waiting/Waits.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../../house.ts"
import { refused, someone } from "../../spaces/spacesGuests.ts"
import { dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker, until } from "../runsKit.ts"
import { firstOutput, gateway, waitOf } from "../repliesKit.ts"

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(`replies on ${store}`, (it) => {
    it.effect(
      "S1-46 S1-98 S1-103 S1-106 S1-109 X-08 an agent asks another and waits; the reply goes on with its run and starts none",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const [asks, answers] = [yield* thinker(gateway), yield* thinker(gateway)]
          const space = yield* room("private", ada, asks, answers)
          yield* setRules([
            {
              when: { agent: asks.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${answers.name} how much?`, wait: true } }],
            },
            {
              when: { agent: asks.name, step: 2, outcome: "done" },
              call: [{ tool: "send_message", input: { text: "thanks" } }],
            },
            {
              when: { agent: answers.name, step: 1 },
              call: [
                { tool: "send_reply", input: { text: `@${asks.name} forty-two`, replyToMessageId: "{{message}}" } },
              ],
            },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} start` }))
          const [first] = yield* ended(asks)
          yield* ended(answers)
          yield* (yield* Readers).receipt("runs")
          assert.deepInclude(first!, { state: "completed", step: 3 })
          assert.strictEqual((yield* runsOf(asks)).length, 1, "the reply started nothing")
          const output = yield* firstOutput(first!)
          assert.deepInclude(output, { status: "resolved", missing: [] })
          assert.deepInclude(output.replies[0]!, { text: `@${asks.name} forty-two`, authorId: answers.id })
          const [other] = yield* runsOf(answers)
          assert.deepInclude(other!, { chainDepth: 1, state: "completed" })
          // Who was asked was told by whom, and that it is waited for; who woke the asking one does not wait.
          const userOf = Effect.fnUntraced(function* (id: string) {
            const { items } = yield* ask(() => admin.runs.messages(id))
            return items.find(({ kind }) => kind === "user_message")!.text!
          })
          assert.include(
            yield* userOf(other!.id),
            `A message woke you: ${other!.triggerMessage}, by ${asks.name} (agent, ${asks.id}), who waits for your answer.`,
          )
          assert.include(
            yield* userOf(first!.id),
            `A message woke you: ${first!.triggerMessage}, by ${ada.name} (person, ${ada.id}).`,
          )
          assert.include(yield* userOf(other!.id), `"${space.name}" (${space.id})`)
          const events = yield* (yield* Journal).read({
            after: 0,
            limit: 100_000,
            kinds: ["run.waiting", "run.resumed"],
          })
          assert.deepStrictEqual(
            events.flatMap(({ body, kind }) => {
              const { run, state } = body as { readonly run: string; readonly state?: string }
              return run === first!.id ? [[kind, state]] : []
            }),
            [
              ["run.waiting", "waiting_reply"],
              ["run.resumed", undefined],
            ],
          )
          assert.strictEqual(
            (yield* ask(() => admin.waits.list())).items.filter(({ agent }) => agent === asks.id).length,
            0,
          )
        }),
    )

    it.effect(
      "S1-98 S1-99 S1-100 S1-101 G-01 G-02 all who are mentioned are waited for; who waits is shown, released and timed out",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [ada, ben] = [yield* someone(), yield* someone()]
          const bot = yield* thinker(gateway)
          const space = yield* room("private", ada, ben, bot)
          yield* setRules([
            {
              when: { agent: bot.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${ada.name} @${ben.name} agreed?`, wait: true } }],
            },
          ])
          const begin = Effect.fnUntraced(function* (count: number) {
            yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
            const run = yield* inState(bot, "waiting_reply")
            assert.strictEqual((yield* runsOf(bot)).length, count)
            return run
          })
          const run = yield* begin(1)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "yes" }))
          yield* (yield* Readers).receipt("runs")
          assert.deepInclude((yield* runsOf(bot))[0]!, { state: "waiting_reply" })
          const { items } = yield* ask(() => admin.waits.list())
          const shown = items.find(({ run: id }) => id === run.id)!
          assert.deepInclude(shown, { agent: bot.id, space: space.id, needed: 2, ring: false })
          // The message, the call that waits, and from when until when: five minutes.
          const [posted] = (yield* ask(() => admin.spaces.messages(space.id))).items.filter(
            ({ author }) => author.id === bot.id,
          )
          const sql = yield* SqlClient.SqlClient
          const [asking] = yield* sql<{ id: string }>`SELECT id FROM calls WHERE run = ${run.id}`
          assert.deepInclude(shown, { message: posted!.id, call: asking!.id, state: "open" })
          assert.strictEqual(Date.parse(shown.until!) - Date.parse(shown.since), 300_000)
          assert.isAtLeast(Date.parse(shown.since), Date.parse(posted!.createdAt))
          assert.sameDeepMembers(
            [...shown.for],
            [
              { id: ada.id, state: "replied" },
              { id: ben.id, state: "awaited" },
            ],
          )
          yield* ask(() => ben.client.spaces.post(space.id, { text: "and me" }))
          yield* ended(bot)
          const resolved = yield* firstOutput(run)
          assert.deepInclude(resolved, { status: "resolved", missing: [] })
          assert.deepStrictEqual(
            resolved.replies.map(({ authorId, text }) => [authorId, text]),
            [
              [ada.id, "yes"],
              [ben.id, "and me"],
            ],
          )
          const times = yield* sql<{ openedAt: string; closedAt: string }>`SELECT opened_at, closed_at FROM waits
            WHERE run = ${run.id}`
          assert.strictEqual(resolved.waitedMs, Date.parse(times[0]!.closedAt) - Date.parse(times[0]!.openedAt))
          assert.isAbove(resolved.waitedMs, 0)

          const second = yield* begin(2)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "yes" }))
          yield* (yield* Readers).receipt("runs")
          const { transact } = yield* Journal
          yield* transact((yield* Waits).expire((yield* waitOf(second)).id))
          yield* ended(bot, 2)
          const partial = yield* firstOutput(second)
          assert.deepInclude(partial, { status: "partial_timeout", missing: [ben.id] })
          assert.deepStrictEqual(
            partial.replies.map(({ authorId, text }) => [authorId, text]),
            [[ada.id, "yes"]],
          )

          const third = yield* begin(3)
          yield* transact((yield* Waits).expire((yield* waitOf(third)).id))
          yield* ended(bot, 3)
          assert.deepInclude(yield* firstOutput(third), { status: "timeout", replies: [] })

          const fourth = yield* begin(4)
          const { id } = yield* waitOf(fourth)
          assert.strictEqual((yield* refused(() => ben.client.waits.release(id))).status, 404)
          assert.deepInclude(yield* ask(() => admin.waits.release(id)), { state: "released" })
          assert.strictEqual((yield* refused(() => admin.waits.release(id))).status, 409)
          yield* ended(bot, 4)
          assert.deepInclude(yield* firstOutput(fourth), { status: "timeout", ended: "released" })
        }),
    )

    it.effect(
      "S1-99 S1-100 a wait for several goes on while somebody who was asked can still answer, people included",
      () =>
        Effect.gen(function* () {
          const ada = yield* someone()
          const [bot, idle, failing] = [yield* thinker(gateway), yield* thinker(gateway), yield* thinker(gateway)]
          const space = yield* room("private", ada, bot, idle, failing)
          const text = `@${idle.name} @${failing.name} @${ada.name} agreed?`
          yield* setRules([
            { when: { agent: bot.name, step: 1 }, call: [{ tool: "send_message", input: { text, wait: true } }] },
            { when: { agent: failing.name }, fail: "400" },
          ])
          const begin = Effect.fnUntraced(function* (count: number) {
            yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
            for (const agent of [idle, failing]) yield* ended(agent, count)
            yield* (yield* Readers).receipt("runs")
            return yield* inState(bot, "waiting_reply")
          })
          const first = yield* begin(1)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "yes" }))
          yield* ended(bot)
          const partial = yield* firstOutput(first)
          assert.deepInclude(partial, { status: "partial_timeout", ended: "silent" })
          assert.deepStrictEqual(
            partial.replies.map(({ authorId }) => authorId),
            [ada.id],
          )
          assert.sameMembers([...partial.missing], [idle.id, failing.id])
          // One that had ended its run without an answer replies after all: that counts.
          const second = yield* begin(2)
          const { message } = yield* waitOf(second)
          for (const who of [idle, failing, ada])
            yield* ask(() => who.client.spaces.post(space.id, { text: "late", replyTo: message }))
          yield* ended(bot, 2)
          assert.deepInclude(yield* firstOutput(second), { status: "resolved", missing: [] })
        }),
    )

    it.effect("X-09 an answer that mentions the waiting agent starts a new run, and the wait stays until a reply", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const [asks, answers] = [yield* thinker(gateway), yield* thinker(gateway)]
        const space = yield* room("private", ada, asks, answers)
        const send = (text: string, wait?: true) => ({ tool: "send_message", input: { text, ...(wait && { wait }) } })
        yield* setRules([
          { when: { agent: asks.name, step: 1, text: "start" }, call: [send(`@${answers.name} how much?`, true)] },
          { when: { agent: answers.name, step: 1 }, call: [send(`@${asks.name} forty-two`)] },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} start` }))
        yield* ended(answers)
        yield* (yield* Readers).receipt("runs")
        yield* until(Effect.map(runsOf(asks), (rows) => (rows.length === 2 ? rows : undefined)))
        const waiting = yield* inState(asks, "waiting_reply")
        const { message } = yield* waitOf(waiting)
        yield* ask(() => answers.client.spaces.post(space.id, { text: "forty-two", replyTo: message }))
        const runs = yield* ended(asks, 2)
        assert.deepInclude(yield* firstOutput(waiting), { status: "resolved", missing: [] })
        assert.strictEqual(runs.length, 2)
      }),
    )

    it.effect("S1-99 without a mention it waits as well, for the first message of anybody else", () =>
      Effect.gen(function* () {
        const [ada, ben] = [yield* someone(), yield* someone()]
        const bot = yield* thinker(gateway)
        const space = yield* room("private", ada, ben, bot)
        const send = (text: string, wait: boolean) => ({ tool: "send_message", input: { text, wait } })
        yield* setRules([
          { when: { agent: bot.name, step: 1 }, call: [send("agreed?", true), send("I would like to know.", false)] },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
        const run = yield* until(
          Effect.map(runsOf(bot), (rows) =>
            rows.find(({ state }) => state === "waiting_reply" || state === "completed"),
          ),
        )
        // Its own message was no answer.
        yield* (yield* Readers).receipt("runs")
        assert.deepInclude((yield* runsOf(bot))[0]!, { id: run.id, state: "waiting_reply" })
        yield* ask(() => ben.client.spaces.post(space.id, { text: "I do" }))
        yield* ask(() => ada.client.spaces.post(space.id, { text: "me too" }))
        yield* ended(bot)
        const { missing, replies, status } = yield* firstOutput(run)
        assert.deepStrictEqual([status, missing], ["resolved", []])
        assert.deepStrictEqual(
          replies.map(({ authorId, text }) => [authorId, text]),
          [[ben.id, "I do"]],
        )
      }),
    )

    it.effect("X-30 G-01 who is removed from a space while it waits there is not told what had come", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const [ada, ben] = [yield* someone(), yield* someone()]
        const bot = yield* thinker(gateway)
        const space = yield* room("private", ada, ben, bot)
        yield* setRules([
          {
            when: { agent: bot.name, step: 1 },
            call: [{ tool: "send_message", input: { text: `@${ada.name} @${ben.name} agreed?`, wait: true } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
        const run = yield* inState(bot, "waiting_reply")
        yield* ask(() => ada.client.spaces.post(space.id, { text: "the vault is open" }))
        yield* (yield* Readers).receipt("runs")
        yield* ask(() => admin.spaces.removeMember(space.id, bot.id))
        yield* ended(bot)
        assert.deepInclude(yield* firstOutput(run), { ended: "released", replies: [], missing: [ben.id] })
      }),
    )

    it.effect(
      "G-02 what a run waited for is kept with its steps: whose answer, from when to when, and how it ended",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const bot = yield* thinker(gateway)
          const space = yield* room("private", ada, bot)
          yield* setRules([
            {
              when: { agent: bot.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${ada.name} agreed?`, wait: true } }],
            },
            { when: { agent: bot.name, step: 2 }, call: [{ tool: "whoami" }] },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
          const { id } = yield* inState(bot, "waiting_reply")
          const opened = yield* ask(() => admin.runs.steps(id))
          assert.deepInclude(opened.items[0]!.waits![0]!, { run: id, state: "open", endedAt: null, ring: false })
          yield* ask(() => ada.client.spaces.post(space.id, { text: "yes" }))
          yield* ended(bot)

          const { waits } = yield* ask(() => admin.runs.get(id))
          const { items } = yield* ask(() => admin.runs.steps(id))
          const [kept] = items[0]!.waits!
          assert.deepStrictEqual(waits, [kept!])
          assert.deepInclude(kept!, { run: id, call: items[0]!.calls[0]!.call!, agent: bot.id, state: "resolved" })
          assert.deepStrictEqual(kept!.for, [{ id: ada.id, state: "replied" }])
          assert.isTrue(kept!.since <= kept!.endedAt!)
          assert.isUndefined(items[1]!.waits, "the second step waited for nobody")
          assert.isUndefined((yield* ask(() => admin.runs.list({ agent: bot.name }))).items[0]!.waits)

          // Whoever takes over the step takes over what it waited for.
          const again = yield* ask(() => admin.runs.retry(id, { step: 2 }))
          yield* ended(bot, 2)
          const [first] = (yield* ask(() => admin.runs.steps(again.id))).items
          assert.deepStrictEqual(first!.waits, [{ ...kept!, call: first!.calls[0]!.call! }])
          assert.notStrictEqual(first!.calls[0]!.call, kept!.call)
        }),
    )

    it.effect(
      "X-10 X-09 S1-42 S1-105 a mention meanwhile starts a run of its own, and the wait stays; the awaited ends without a word: the wait ends",
      () =>
        Effect.gen(function* () {
          const ada = yield* someone()
          const [asks, silent] = [yield* thinker(gateway), yield* thinker(gateway)]
          const space = yield* room("private", ada, asks, silent)
          yield* setRules([
            {
              when: { agent: asks.name, step: 1, text: "start" },
              call: [{ tool: "send_message", input: { text: `@${silent.name} hello?`, wait: true } }],
            },
            {
              when: { agent: silent.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${asks.name} by the way` } }],
              waitMs: 300,
            },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} start` }))
          const run = yield* inState(asks, "waiting_reply")
          // Nobody waits for Ada: what she says to it is a new matter, and its own run waits on.
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} something else` }))
          // Nor is it answered by the awaited one, who mentions it with send_message.
          yield* ended(silent)
          yield* (yield* Readers).receipt("runs")
          yield* until(
            Effect.map(runsOf(asks), (rows) =>
              rows.filter(({ state }) => state === "completed").length === 2 ? rows : undefined,
            ),
          )
          assert.strictEqual((yield* inState(asks, "waiting_reply")).id, run.id)
          yield* (yield* Journal).transact((yield* Waits).expire((yield* waitOf(run)).id))
          yield* ended(asks, 3)
          assert.deepInclude(yield* firstOutput(run), { status: "timeout", missing: [silent.id], replies: [] })
          // An answer that comes after its wait is over is not lost: it begins a run.
          const { message } = yield* waitOf(run)
          yield* ask(() => silent.client.spaces.post(space.id, { text: `@${asks.name} forty-two`, replyTo: message }))
          yield* ended(asks, 4)

          yield* setRules([
            {
              when: { agent: asks.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${silent.name} hello?`, wait: true } }],
            },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} start` }))
          const last = (yield* ended(asks, 5)).at(-1)!
          const nothing = { status: "timeout", ended: "silent", missing: [silent.id], replies: [] }
          assert.deepInclude(yield* firstOutput(last), nothing)
        }),
    )

    it.effect("S1-47 a reply to something else starts a run of its own, and so does one when nothing waits", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const [asks, answers] = [yield* thinker(gateway), yield* someone("agent")]
        const space = yield* room("private", ada, asks, answers)
        const post = (text: string, replyTo?: string) =>
          ask(() => answers.client.spaces.post(space.id, { text, ...(replyTo === undefined ? {} : { replyTo }) }))
        yield* setRules([
          {
            when: { agent: asks.name, step: 1, text: "begin" },
            call: [{ tool: "send_message", input: { text: `@${answers.name} how much?`, wait: true } }],
          },
          { when: { agent: asks.name }, say: "noted" },
        ])
        const { id: elsewhere } = yield* post("something else")
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${asks.name} begin` }))
        const { id } = yield* inState(asks, "waiting_reply")
        const { id: asked } = (yield* ask(() => ada.client.spaces.messages(space.id))).items.at(-1)!
        yield* post(`@${asks.name} by the way`, elsewhere)
        const [aside] = yield* ended(asks)
        assert.deepInclude(aside!, { state: "completed" })
        assert.notStrictEqual(aside!.id, id)
        assert.strictEqual((yield* inState(asks, "waiting_reply")).id, id, "it still waits")
        yield* post(`@${asks.name} forty-two`, asked)
        yield* ended(asks, 2)
        yield* (yield* Readers).receipt("runs")
        assert.lengthOf(yield* runsOf(asks), 2, "the reply went on with the run that waited")
        yield* post(`@${asks.name} and one more`, asked)
        assert.lengthOf(yield* ended(asks, 3), 3)
      }),
    )

    it.effect(
      "S1-53 a reply to a run that was canceled while it waited is a message like any other, and changes nothing",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [ada, ben] = [yield* someone(), yield* someone()]
          const bot = yield* thinker(gateway)
          const space = yield* room("private", ada, ben, bot)
          yield* setRules([
            {
              when: { agent: bot.name, step: 1 },
              call: [{ tool: "send_message", input: { text: `@${ben.name} well?`, wait: true } }],
            },
          ])
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} start` }))
          const run = yield* inState(bot, "waiting_reply")
          const { id, message } = yield* waitOf(run)
          yield* ask(() => admin.runs.cancel(run.id))
          yield* (yield* Readers).receipt("runs")
          const sql = yield* SqlClient.SqlClient
          const kept = Effect.all([
            sql`SELECT * FROM runs WHERE id = ${run.id}`,
            sql`SELECT * FROM calls WHERE run = ${run.id}`,
            sql`SELECT * FROM waits WHERE id = ${id}`,
            sql`SELECT * FROM wait_parties WHERE wait = ${id}`,
            sql`SELECT * FROM wait_replies WHERE wait = ${id}`,
          ])
          const before = yield* kept
          assert.deepInclude(before[2][0]!, { state: "canceled", outcome: null })
          yield* ask(() => ben.client.spaces.post(space.id, { text: "late", replyTo: message }))
          yield* (yield* Readers).receipt("runs")
          assert.deepStrictEqual(yield* kept, before)
          assert.strictEqual((yield* refused(() => admin.waits.release(id))).status, 409)
          assert.lengthOf(yield* runsOf(bot), 1)
        }),
    )

    it.effect(
      "S1-101 X-18 X-20 a run waits ten times at most; at most five runs of an agent wait, and work, at once",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [ada, ben] = [yield* someone(), yield* someone()]
          const [often, many] = [yield* thinker(gateway), yield* thinker(gateway)]
          const space = yield* room("private", ada, ben, often, many)
          const asks = { tool: "send_message", input: { text: `@${ben.name} agreed?`, wait: true } }
          yield* setRules([
            { when: { agent: often.name, outcome: "failed" }, say: "Enough." },
            { when: { agent: many.name, outcome: "failed" }, say: "Enough." },
            { when: { agent: often.name }, call: [asks] },
            { when: { agent: many.name, step: 1 }, call: [asks] },
          ])
          /** The error of the last call of a run. */
          const told = Effect.fnUntraced(function* (run: { readonly id: string }) {
            const rows = yield* sql<{ error: string | null }>`SELECT error FROM calls WHERE run = ${run.id}
            ORDER BY step DESC, place DESC LIMIT 1`
            return rows[0]!.error ?? ""
          })

          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${often.name} start` }))
          for (let count = 1; count <= 10; count++) {
            const run = yield* inState(often, "waiting_reply")
            const made = yield* sql<{
              deadline: string
              opened: string
            }>`SELECT deadline_at AS deadline, opened_at AS opened
            FROM waits WHERE run = ${run.id}`
            assert.lengthOf(made, count)
            for (const { deadline, opened } of made)
              assert.strictEqual(Date.parse(deadline) - Date.parse(opened), 5 * 60_000)
            yield* ask(() => ben.client.spaces.post(space.id, { text: "yes" }))
            yield* until(
              Effect.map(runsOf(often), ([row]) =>
                row!.state !== "waiting_reply" || row!.step > count ? true : undefined,
              ),
            )
          }
          const run = yield* until(
            Effect.map(runsOf(often), ([row]) =>
              ["completed", "waiting_reply"].includes(row!.state) ? row! : undefined,
            ),
          )
          assert.strictEqual(run.state, "completed")
          assert.include(yield* told(run), "already waited 10 times")

          const waiting = Effect.map(runsOf(many), (rows) => rows.filter(({ state }) => state === "waiting_reply"))
          for (let count = 1; count <= 5; count++) {
            yield* ask(() => ada.client.spaces.post(space.id, { text: `@${many.name} start` }))
            yield* until(Effect.map(waiting, (rows) => (rows.length === count ? true : undefined)))
          }
          const rows = yield* sql<{
            limits: string
            width: number
          }>`SELECT limits, width FROM runs WHERE agent = ${many.id}`
          for (const { limits, width } of rows) {
            assert.strictEqual(width, 5)
            assert.deepInclude(JSON.parse(limits), { minutes: 30, waits: 10, width: 5 })
          }
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${many.name} start` }))
          const six = yield* until(
            Effect.map(runsOf(many), (all) =>
              all.length === 6 && all.every(({ state }) => ["completed", "waiting_reply"].includes(state))
                ? all
                : undefined,
            ),
          )
          assert.deepStrictEqual(
            six.map(({ state }) => state),
            [...Array.from({ length: 5 }, () => "waiting_reply"), "completed"],
          )
          assert.include(yield* told(six.at(-1)!), "already have 5 waiting runs")
        }),
    )

    it.effect("S1-61 get_my_runs tells of each run where it is, why, and for what it waits; ten unless asked", () =>
      Effect.gen(function* () {
        const [ada, ben] = [yield* someone(), yield* someone()]
        const [bot, other] = [yield* thinker(gateway), yield* thinker(gateway)]
        const space = yield* room("private", ada, ben, bot, other)
        yield* setRules([
          {
            when: { agent: bot.name, step: 1, text: "ask" },
            call: [{ tool: "send_message", input: { text: `@${ben.name} agreed?`, wait: true } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${other.name} start` }))
        yield* ended(other)
        for (let count = 1; count <= 10; count++) {
          yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} number ${count}` }))
          yield* ended(bot, count)
        }
        yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} ask` }))
        const waits = yield* inState(bot, "waiting_reply")
        const get = Effect.fnUntraced(function* (input: Readonly<Record<string, string | number>> = {}) {
          const made = yield* ask(() => bot.client.tools.call("get_my_runs", { input }))
          return ((made as { output?: unknown }).output as { runs: ReadonlyArray<Record<string, unknown>> }).runs
        })
        const runs = yield* get()
        assert.lengthOf(runs, 10)
        const wait = yield* waitOf(waits)
        assert.deepStrictEqual(runs[0], {
          runId: waits.id.slice(4),
          status: "waiting_reply",
          triggerType: "message",
          triggerSummary: `${ada.name}: @${bot.name} ask`,
          activeSpaceId: space.id.slice(4),
          startedAt: waits.startedAt,
          waitingFor: [{ kind: "reply", id: wait.id }],
        })
        const mine = (yield* runsOf(bot)).map(({ id }) => id.slice(4))
        const all = yield* get({ limit: 100 })
        assert.deepStrictEqual(
          all.map(({ runId }) => runId),
          mine.toSorted().toReversed(),
        )
        assert.deepStrictEqual(yield* get({ status: "completed", limit: 100 }), all.slice(1))
        assert.deepStrictEqual(yield* get({ status: "failed" }), [])
      }),
    )

    it.effect(
      "S0-13 S0-63 S0-64 S0-65 X-05 two agents that always answer each other stop at the limit: depths 0 to 3",
      () =>
        Effect.gen(function* () {
          const ada = yield* someone()
          const office = { toolsets: ["office" as const] }
          const [one, two] = [yield* thinker(office), yield* thinker(office)]
          const mine = yield* dm(ada, one)
          const theirs = yield* dm(one, two)
          yield* setRules([
            { when: { step: 1 }, call: [{ tool: "send_message", input: { channelId: theirs.id, text: "and you?" } }] },
          ])
          yield* ask(() => ada.client.spaces.post(mine.id, { text: "start" }))
          yield* ended(one, 2)
          yield* ended(two, 2)
          yield* (yield* Readers).receipt("runs")
          const depths = [...(yield* runsOf(one)), ...(yield* runsOf(two))].map(({ chainDepth }) => chainDepth)
          assert.deepStrictEqual(depths.toSorted(), [0, 1, 2, 3])
          const { items } = yield* ask(() => one.client.spaces.messages(theirs.id))
          assert.strictEqual(items.length, 4, "the last one still spoke")
        }),
    )

    it.effect("S1-36 S1-40 S1-61 a run enters a space of its own; its agent sees its runs, and no other's", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* thinker(gateway)
        const other = yield* room("private", ada, bot, yield* someone())
        const space = yield* dm(ada, bot)
        yield* setRules([
          {
            when: { agent: bot.name, step: 1, text: "move" },
            call: [
              { tool: "enter_space", input: { spaceId: other.id } },
              { tool: "send_message", input: { text: "I am here" } },
              { tool: "get_my_runs" },
            ],
          },
          {
            when: { agent: bot.name, step: 1, text: "stay" },
            call: [{ tool: "send_message", input: { text: "there" } }],
          },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "move" }))
        const [first] = yield* ended(bot)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "stay" }))
        yield* ended(bot, 2)
        const texts = Effect.fnUntraced(function* (id: string) {
          return (yield* ask(() => admin.spaces.messages(id))).items.map(({ text }) => text)
        })
        assert.deepStrictEqual(yield* texts(other.id), ["I am here"])
        assert.deepStrictEqual(yield* texts(space.id), ["move", "stay", "there"])
        assert.deepInclude(yield* ask(() => admin.runs.get(first!.id)), { space: other.id })
        const events = yield* (yield* Journal).read({ after: 0, limit: 100_000, kinds: ["run.entered"] })
        const entered = events.filter(({ body }) => (body as { readonly run: string }).run === first!.id)
        assert.deepStrictEqual(
          entered.map(({ space: where }) => where),
          [null],
        )
        const sql = yield* SqlClient.SqlClient
        const [call] = yield* sql<{
          output: string
        }>`SELECT output FROM calls WHERE run = ${first!.id} AND tool = 'get_my_runs'`
        const { runs } = JSON.parse(call!.output) as { readonly runs: ReadonlyArray<{ readonly status: string }> }
        assert.deepStrictEqual(
          runs.map(({ status }) => status),
          ["running"],
        )
      }),
    )
  })
