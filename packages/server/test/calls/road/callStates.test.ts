/** Every cell of the table of a call's states, tried on a row: what it allows happens with its event, what it refuses changes nothing. */
import { assert, layer } from "@effect/vitest"
import { type CallId, CallState } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeBatched } from "../../../src/calls/road/record/batched.ts"
import { noTraces } from "../../../src/calls/road/Handler.ts"
import { from, isSettled, next, type Step, steps, to } from "../../../src/calls/road/record/lifecycle.ts"
import {
  type CallEnd,
  type HandlerEnd,
  makeCallRecorder,
  type CallRecorder as Rows,
  type WholeEnd,
} from "../../../src/calls/road/record/record.ts"
import { type CallRow, type NewRow, unsettled } from "../../../src/calls/road/record/rows.ts"
import { newId } from "../../../src/store/journal/Correlation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { callsHouse, eventsOf, stores } from "../callsKit.ts"
import { someone } from "../../spaces/spacesGuests.ts"

const mine = "own_mine"
const on = { kind: "callback", id: "hst_elsewhere" } as const
const error = { tag: "ToolExecutionError", message: "it was tried" }

const newRow = (principal: string): NewRow => ({
  id: newId<CallId>("call"),
  principal: principal as never,
  context: "internal",
  idempotencyKey: null,
  tool: "tried",
  input: "{}",
  digest: "",
  fingerprint: null,
  space: null,
  visibility: "hidden",
  customUi: null,
  rule: null,
  correlationId: "0".repeat(32),
  createdAt: "2026-01-01T00:00:00.000Z",
  run: null,
  step: null,
  place: null,
})

/** A call that is in a state, however it came there. */
const rowIn = Effect.fnUntraced(function* (state: CallState, principal: string) {
  const sql = yield* SqlClient.SqlClient
  const row: CallRow = {
    ...newRow(principal),
    ...unsettled,
    message: null,
    copyOf: null,
    resume: null,
    state,
    ...(state === "waiting" ? { onKind: on.kind, onId: on.id } : {}),
    ...(state === "running" ? { owner: mine } : {}),
    ...(isSettled(state) ? { settledAt: "2026-01-01T00:00:01.000Z" } : {}),
  }
  yield* sql`INSERT INTO calls ${sql.insert({ ...row })}`
  return row
})

/** Every way a call can end. */
const endings: ReadonlyArray<CallEnd> = steps.flatMap((step): ReadonlyArray<CallEnd> => {
  if (step === "finish") return [{ step, output: 1 }]
  return step === "wait" || step === "start" || step === "takeOver" ? [] : [{ step, error }]
})
const handlerEnds: ReadonlyArray<HandlerEnd> = [
  { step: "finish", output: 1 },
  { step: "fail", error },
]
const isWhole = (ending: CallEnd): ending is WholeEnd => next.received[ending.step] !== null

/** Each step, as the code takes it. */
const take = (record: Rows, step: Step, id: string) => {
  switch (step) {
    case "wait":
      return record.park(id, on, mine)
    case "start":
      return record.start(id, "own_other")
    case "takeOver":
      return record.takeOver(id, "own_other", mine)
    case "finish":
      return record.settle(id, { step, output: 1 }, noTraces())
    default:
      return record.settle(id, { step, error }, noTraces())
  }
}

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`states of calls on ${store}`, (it) => {
    it.effect("X-44 S1-53 every step from every state does what the table says, and nothing else", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const record = yield* makeCallRecorder
        const { id: principal } = yield* someone("agent")
        for (const state of CallState.literals)
          for (const step of steps) {
            const cell = `${step} of a call that is ${state}`
            const before = yield* rowIn(state, principal)
            const taken = yield* journal.transact(take(record, step, before.id))
            const after = (yield* record.byId(before.id))!
            const expected = next[state][step]
            // A call that was only received has no owner: nobody runs it, and nobody parks it.
            const isOwned = state === "running" || (step !== "wait" && step !== "takeOver")
            const events = yield* eventsOf(before.id)
            if (expected === null || !isOwned) {
              assert.isUndefined(taken, cell)
              assert.deepStrictEqual(after, before, cell)
              assert.deepStrictEqual(events, [], cell)
              continue
            }
            assert.strictEqual(after.state, expected, cell)
            assert.strictEqual(after.settledAt !== null, isSettled(expected), cell)
            assert.strictEqual(after.owner, expected === "running" ? "own_other" : null, cell)
            const told = step === "wait" ? ["call.waiting"] : isSettled(expected) ? ["call.settled"] : []
            assert.deepStrictEqual(events, told, cell)
          }
      }),
    )

    it.effect("X-44 ends that are written with others' ask the same table, and only of what this process runs", () =>
      Effect.gen(function* () {
        const record = yield* makeCallRecorder
        const { id: principal } = yield* someone("agent")
        const batched = yield* makeBatched(record, mine)
        const other = yield* makeBatched(record, "own_other")
        for (const state of CallState.literals)
          for (const ending of handlerEnds) {
            const cell = `${ending.step} of a call that is ${state}`
            const ended = {
              settledAt: "2026-01-01T00:00:02.000Z",
              durationMs: 2000,
              ending,
              traces: noTraces(),
              provenance: "tool",
            } as const
            const before = yield* rowIn(state, principal)
            assert.isUndefined(yield* other.end(before, ended)!, `${cell}, somebody else's`)
            assert.deepStrictEqual(yield* record.byId(before.id), before)
            const written = yield* batched.end(before, ended)!
            // It is written only of what runs here.
            const expected = state === "running" ? next[state][ending.step] : null
            assert.strictEqual(written?.state, expected ?? undefined, cell)
            assert.strictEqual((yield* record.byId(before.id))!.state, expected ?? state, cell)
            assert.deepStrictEqual(yield* eventsOf(before.id), expected === null ? [] : ["call.settled"], cell)
          }
      }),
    )

    it.effect("X-44 a call is first written down in a state that leads on from `received`", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const record = yield* makeCallRecorder
        const { id: principal } = yield* someone("agent")
        const written = Effect.fnUntraced(function* (write: (row: NewRow) => ReturnType<Rows["openWaiting"]>) {
          const row = newRow(principal)
          yield* journal.transact(write(row))
          return (yield* record.byId(row.id))!.state
        })
        assert.strictEqual(yield* written((row) => record.openRunning(row, mine) as never), next.received.start)
        assert.strictEqual(yield* written((row) => record.openWaiting(row, on)), next.received.wait)
        for (const ending of endings)
          if (isWhole(ending))
            assert.strictEqual(
              yield* written((row) => record.whole(row, ending, noTraces()) as never),
              next.received[ending.step],
              ending.step,
            )
        for (const step of steps) assert.isTrue(from(step).every((state) => next[state][step] === to(step)))
      }),
    )
  })
