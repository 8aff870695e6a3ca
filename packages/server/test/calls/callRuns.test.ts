/** What runs will stand on: a call knows its run and its place there, is made once a place, and can wait for a run. */
import { assert, layer } from "@effect/vitest"
import { Caller, type CallRun, type RunId } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Calls } from "../../src/calls/Calls.ts"
import { PendingResult } from "../../src/calls/road/Handler.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { ActiveSpaces } from "../../src/spaces/ActiveSpaces.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { newId } from "../../src/store/journal/Correlation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import {
  callNow,
  callsHouse,
  eventsOf,
  journalEnd,
  offer,
  request,
  room,
  rowOf,
  settled,
  stores,
  told,
} from "./callsKit.ts"
import { fresh, someone, type Someone } from "../spaces/spacesGuests.ts"

const makes = Effect.fnUntraced(function* (who: Someone, tool: string, run?: CallRun, input = {}) {
  const caller = yield* (yield* Tokens).callerNow(who.id, "agent")
  const by = run === undefined ? caller : { ...caller, run: run.id }
  const call = (yield* Calls).call({ tool, input, ...(run === undefined ? {} : { run }) })
  return yield* Effect.provideService(call, Caller, by)
})

const at = (step: number, place: number): CallRun => ({ id: fresh("run"), step, place })
const all = ["none", "store", "outside"] as const

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`calls of runs on ${store}`, (it) => {
    it.effect("S0-49 S0-50 a call says in its row, its events and its face which run made it, and where", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        for (const effects of all) {
          const seen: Array<unknown> = []
          const tool = yield* offer(effects, (_, call) => Effect.sync(() => seen.push(call.run)))
          const run = at(3, 1)
          const after = yield* journalEnd
          const { id } = yield* makes(bot, tool, run)
          assert.deepStrictEqual(seen, [run])
          assert.deepInclude(yield* rowOf(id), { run: run.id, step: 3, place: 1, state: "done" })
          const events = yield* (yield* Journal).read({ after, limit: 10, kinds: ["call.received", "call.settled"] })
          assert.deepStrictEqual(
            events.map((event) => (event.body as { readonly run?: unknown }).run),
            [run, run],
          )
          assert.deepInclude(yield* callNow(bot, id), { run } as object)
        }
        // What no run made says nothing of one, and no door can say it did.
        const tool = yield* offer("none", () => Effect.succeed(1))
        const said = yield* request(bot, "POST", `/tools/${tool}/call`, { input: {}, run: at(1, 1) })
        assert.strictEqual(said.status, 400)
        const made = told(yield* request(bot, "POST", `/tools/${tool}/call`, { input: {} }))
        assert.notProperty(made, "run")
        assert.deepInclude(yield* rowOf(made.id), { run: null, step: null, place: null })
      }),
    )

    it.effect(
      "X-16 X-17 a program in its turn gets a call that takes long as it is, however long it asked to wait",
      () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const calls = yield* Calls
          const tool = yield* offer("outside", () => Effect.never)
          const caller = yield* (yield* Tokens).callerNow(bot.id, "agent")
          const run = fresh("run")
          const turn = { ...caller, run, turn: { step: 1, root: run } } as Caller["Service"]
          const made = yield* Effect.provideService(calls.call({ tool, input: {}, wait: 300_000 }), Caller, turn)
          assert.strictEqual(made.state, "running")
          yield* calls.cancel(made.id, { principal: bot.principal, all: false }, "the test is over")
        }),
    )

    it.effect("S1-102 a place is one call: made again, alone or at once, it is found, and nothing runs twice", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        for (const effects of all) {
          let ran = 0
          const tool = yield* offer(effects, () => Effect.sync(() => ++ran))
          const run = at(1, 1)
          const first = yield* makes(bot, tool, run)
          const again = yield* makes(bot, tool, run)
          assert.deepStrictEqual([again.id, again.state], [first.id, "done"])
          const other = yield* makes(bot, tool, { ...run, place: 2 })
          assert.notStrictEqual(other.id, first.id)
          const refused = yield* Effect.flip(makes(bot, tool, run, { other: 1 }))
          assert.strictEqual(refused._tag, "WrongState")
          if (effects === "outside") assert.strictEqual(ran, 2)
        }
      }),
    )

    it.effect(
      "a call that waits, whatever it changes, ends as the room above says, or when it is canceled or late",
      () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const calls = yield* Calls
          const journal = yield* Journal
          for (const effects of all) {
            const tool = yield* offer(effects, () => Effect.succeed(new PendingResult("callback", 60_000)))
            const waiting = yield* makes(bot, tool)
            assert.deepInclude(yield* callNow(bot, waiting.id), {
              state: "waiting",
              on: { kind: "callback", id: waiting.id },
            })
            // The room above ends it in a transaction of its own; undone, nothing has happened.
            const end = calls.finish(waiting.id, { step: "finish", output: { said: "done" } })
            yield* Effect.flip(journal.transact(Effect.andThen(end, Effect.fail("undone"))))
            assert.strictEqual((yield* callNow(bot, waiting.id)).state, "waiting")
            yield* journal.transact(end)
            assert.deepInclude(yield* settled(bot, waiting.id), { state: "done", output: { said: "done" } })
            assert.isUndefined(yield* journal.transact(end), "an end is taken once")
            assert.deepStrictEqual(yield* eventsOf(waiting.id), ["call.received", "call.waiting", "call.settled"])

            // Cancel passes on: whoever made the run reads that its call is over.
            const stopped = yield* makes(bot, tool)
            const after = yield* journalEnd
            yield* request(bot, "POST", `/calls/${stopped.id}/cancel`)
            const [event] = yield* journal.read({ after, limit: 1, kinds: ["call.settled"] })
            assert.deepInclude(event!.body, { call: stopped.id, state: "canceled" })
            assert.isUndefined(yield* journal.transact(calls.finish(stopped.id, { step: "finish", output: 1 })))
            assert.strictEqual((yield* callNow(bot, stopped.id)).state, "canceled")

            const late = yield* makes(
              bot,
              yield* offer(effects, () => Effect.succeed(new PendingResult("callback", 1))),
            )
            assert.strictEqual((yield* settled(bot, late.id)).state, "expired")
          }
        }),
    )

    it.effect("S1-36 X-63 two runs of one agent stand in two spaces, and neither in its token's", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const [one, two] = [yield* room(bot), yield* room(bot)]
        const active = yield* ActiveSpaces
        const { transact } = yield* Journal
        const caller = yield* (yield* Tokens).callerNow(bot.id, "agent")
        const [first, second] = [
          { ...caller, run: newId<RunId>("run") },
          { ...caller, run: newId<RunId>("run") },
        ]
        const viewer = yield* (yield* Grants).viewerOf(caller, "spaces")
        const spaces = yield* Spaces
        yield* transact(active.enter(first, yield* spaces.get(one, viewer)))
        yield* transact(active.enter(second, yield* spaces.get(two, viewer)))
        const now = yield* (yield* Tokens).callerNow(bot.id, "agent")
        const places = yield* Effect.forEach([{ ...now, run: first.run }, { ...now, run: second.run }, now], active.of)
        assert.deepStrictEqual(places, [one, two, undefined] as never)
        // Entering is recorded of a run, whoever lets it enter; not of a token.
        yield* transact(active.enter(now, yield* spaces.get(one, viewer)))
        const entered = yield* (yield* Journal).read({ after: 0, limit: 1000, kinds: ["run.entered"] })
        assert.deepStrictEqual(
          entered.map(({ body }) => body as object),
          [
            { run: first.run, principal: bot.id, entered: one },
            { run: second.run, principal: bot.id, entered: two },
          ],
        )
      }),
    )
  })
