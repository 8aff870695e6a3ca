/**
 * Works on a run until it parks or ends. All state is in the rows: any process that loads them continues where another
 * stopped.
 */
import type { Caller, RunId } from "@stoa/contract"
import { Clock, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import type { CallRow } from "../../calls/Calls.ts"
import { monotonicOf } from "../../store/Moment.ts"
import { findExceededLimit } from "./limits.ts"
import { makeStepCalls } from "./stepCalls.ts"
import { makeModelStep } from "./modelStep.ts"
import { proceed } from "./proceed.ts"
import type { RunRecorder } from "../record/record.ts"
import { limitsOf, type PromptRow, type RunEnd, type RunRow, type StepRow, type TriggerRow } from "../record/rows.ts"
import { Spend } from "../spend/Spend.ts"
import { makeShow } from "./show.ts"
import { makeRunNews, noPendingNews, type PendingNews, programOf } from "../turn/runNews.ts"
import { makeTurn } from "../turn/turn.ts"
import { callsIn, stepOf, type Work } from "./work.ts"

/**
 * `leaving`: the house is closing, and each run is handed back at the end of its step. `crowds`: a run holds a slot that
 * is another's share.
 */
export const makeDrive = Effect.fnUntraced(function* (
  record: RunRecorder,
  leaving: () => boolean,
  crowds: (run: RunId) => boolean,
) {
  const sql = yield* SqlClient.SqlClient
  const agents = yield* Agents
  const tokens = yield* Tokens
  const make = yield* makeStepCalls
  const show = yield* makeShow
  const news = yield* makeRunNews
  const turns = yield* makeTurn(record, news)
  const modelStep = yield* makeModelStep(record, news)
  const spend = yield* Spend
  const clock = yield* Clock.Clock

  const load = Effect.fnUntraced(function* (row: RunRow, known?: ReadonlyArray<TriggerRow>) {
    const id = row.id
    if (row.step === 0 && row.fence === 1)
      return {
        row,
        triggers: known ?? (yield* record.triggersOf(id)),
        promptRows: [],
        calls: [],
        steps: [],
      } satisfies Work
    // Loaded in parallel: changes by others are checked again before the run parks.
    const [triggers, promptRows, steps, calls] = yield* Effect.all(
      [
        record.triggersOf(id),
        sql<PromptRow>`SELECT * FROM run_messages WHERE run = ${id} ORDER BY seq`,
        sql<StepRow>`SELECT * FROM steps WHERE run = ${id} ORDER BY number`,
        sql<CallRow>`SELECT * FROM calls WHERE run = ${id} ORDER BY step, place`,
      ],
      { concurrency: "unbounded" },
    )
    return {
      row,
      triggers,
      promptRows,
      calls,
      steps: steps.map((step) =>
        stepOf(
          step,
          calls.filter((call) => call.step === step.number),
        ),
      ),
    } satisfies Work
  }, Effect.orDie)

  const callsOf = (run: RunId, step: number) =>
    Effect.orDie(sql<CallRow>`SELECT * FROM calls WHERE run = ${run} AND step = ${step} ORDER BY place`)

  /** Loads its rows. A turn that was under way when its house died is marked as interrupted. */
  const loadWhole = Effect.fnUntraced(function* (row: RunRow, known?: ReadonlyArray<TriggerRow>) {
    const work = yield* load(row, known)
    const last = work.steps.at(-1)
    if (last?.state !== "thinking") return work
    yield* turns.cut(row, last.number)
    return yield* load({ ...row, step: last.number })
  })

  /** Read only when its steps ask for nothing more. */
  const besideOf = (work: Work): Effect.Effect<PendingNews> => {
    const last = work.steps.at(-1)
    const isQuiet = last !== undefined && last.asked.length === 0
    return isQuiet ? news.pending(work) : Effect.succeed(noPendingNews)
  }

  return Effect.fnUntraced(function* (claimed: RunRow, triggers?: ReadonlyArray<TriggerRow>) {
    let work: Work = yield* loadWhole(claimed, triggers)
    let since = monotonicOf(clock)
    /** Working time since it was last recorded. */
    const busy = (): number => {
      const now = monotonicOf(clock)
      const took = Math.max(0, Math.round(now - since))
      since = now
      return took
    }
    const end = (ended: RunEnd, promptRows: ReadonlyArray<PromptRow> = []) =>
      record.end(work.row, ended, promptRows, busy())

    // One object as long as its rights are unchanged: its views are cached with it.
    let standing: Caller["Service"] | undefined
    const inRun = { token: null, expiresAt: null, run: work.row.id }
    const agentNow = Effect.map(Effect.option(tokens.callerNow(work.row.agent, "agent", inRun)), (found) =>
      Option.map(found, (caller) => {
        if (standing?.epoch !== caller.epoch) standing = caller
        return standing
      }),
    )

    /** True: the run continues; `wait`: when there is something left for it. */
    const thinkOnce = Effect.fnUntraced(function* (number: number, caller: Caller["Service"], aside: PendingNews) {
      const { row } = work
      const limits = limitsOf(row)
      const hit = findExceededLimit(limits, {
        steps: work.steps.length,
        tokens: row.tokensIn + row.tokensOut,
        costMicros: row.costMicros,
        busyMs: row.busyMs,
        waits: row.waits,
        budgets: yield* spend.budgetsOf(row),
      })
      if (hit !== undefined) return yield* Effect.as(end(hit), false)
      const agent = yield* Effect.orDie(agents.getCached(row.agent))
      if (agent.thinker.kind === "program") {
        // What a turn will cost is known when it has ended: it may spend what its run has left.
        const left = Math.max(0, Math.round((limits.cost ?? 0) * 1e6) - row.costMicros)
        const reserved = yield* spend.reserve(row, { tokens: 0, costMicros: left })
        if (reserved.is === "wait") return "wait" as const
        if (reserved.is === "lost") return false
        if (reserved.is === "spent")
          return yield* Effect.as(end({ stop: "budget_spent", failure: reserved.failure }), false)
        const { say } = show(row, number)
        const turn = yield* turns.take(work, agent, caller, number, aside, (text) => say({ kind: "text", text }), busy)
        if (turn === false) return false
        if (turn !== undefined) return yield* Effect.as(end(turn), false)
        const now = yield* record.byId(row.id)
        if (now === undefined || now.fence !== row.fence) return false
        work = yield* load(now)
        return true
      }
      const stepped = yield* modelStep(work, agent, caller, number, aside, busy)
      if (stepped === "wait") return stepped
      if (stepped === "lost") return false
      if ("stop" in stepped) return yield* Effect.as(end(stepped, stepped.promptRows), false)
      work = stepped.work
      return !stepped.isOver
    })

    const isOurs = Effect.map(
      Effect.suspend(() => record.byId(work.row.id)),
      (now) => now?.fence === work.row.fence && now.state === "running",
    )

    /** False: the run is over. */
    const makeCalls = Effect.fnUntraced(function* (
      number: number,
      places: ReadonlyArray<number>,
      caller: Caller["Service"],
    ) {
      const step = work.steps.at(-1)!
      const done: Array<CallRow> = []
      for (const place of places) {
        const part = step.asked[place - 1]!
        const call = yield* record.because(work.row, make(work.row, caller, number, place, part))
        if (call !== undefined) done.push(call)
        // Stopped meanwhile, perhaps by this very call: nothing more is done for it.
        else if (!(yield* isOurs)) return false
      }
      // Settled calls do not change.
      const calls = done.length === step.asked.length ? done : yield* callsOf(work.row.id, number)
      work = { ...work, steps: [...work.steps.slice(0, -1), { ...step, ...callsIn(calls) }] }
      return true
    })

    const inStep = <A, E, R>(number: number, step: Effect.Effect<A, E, R>) =>
      Effect.withSpan(step, "step", {
        attributes: { "stoa.run": work.row.id, "stoa.step": number },
        captureStackTrace: false,
      })

    for (;;) {
      if (leaving()) return "handBack" as const
      if (crowds(work.row.id)) return "yield" as const
      const aside = yield* besideOf(work)
      const next = proceed(work.steps, { waits: aside.waits, news: aside.closed.length + aside.late.length })
      if (next.do === "park") {
        if (yield* record.park(work.row, next.on, work.row.rung, busy())) return "parked" as const
        // Rung since, or no longer ours.
        const now = yield* record.byId(work.row.id)
        if (now === undefined || now.fence !== work.row.fence || now.state !== "running") return "lost" as const
        work = yield* load(now)
        continue
      }
      if (next.do === "end") {
        // A program's turn counts as work, whether it made calls or not.
        const isTurn = programOf(work.steps.at(-1)?.model ?? null) !== undefined
        if (isTurn) {
          const caller = yield* agentNow
          if (Option.isSome(caller)) yield* turns.answer(work, caller.value)
        }
        yield* end(isTurn && next.stop === "no_tool_call" ? { ...next, stop: "end_turn" } : next)
        return "ended" as const
      }
      const caller = yield* agentNow
      if (Option.isNone(caller)) {
        yield* end({ stop: "retired", failure: "Its agent is retired." })
        return "ended" as const
      }
      if (next.do === "make") {
        if (!(yield* inStep(next.step, makeCalls(next.step, next.places, caller.value)))) return "lost" as const
        continue
      }
      // The calls of a step belong to its span.
      const whole = Effect.flatMap(thinkOnce(next.step, caller.value, aside), (goesOn) => {
        const then = goesOn === true ? proceed(work.steps) : undefined
        return then?.do === "make" ? makeCalls(then.step, then.places, caller.value) : Effect.succeed(goesOn)
      })
      const goesOn = yield* inStep(next.step, whole)
      if (goesOn === "wait") return "wait" as const
      if (!goesOn) return "ended" as const
    }
  })
})
