/**
 * Works on a run until it parks or ends. All state is in the rows: any process that loads them continues where another
 * stopped.
 */
import { Caller, type CallState, type RunId } from "@stoa/contract"
import { Clock, DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import { callFrom, type CallRow } from "../../calls/Calls.ts"
import { Catalogue, everything } from "../../calls/catalogue/Catalogue.ts"
import type { Part } from "../../models/request/ModelOutput.ts"
import { ActiveSpaces } from "../../spaces/ActiveSpaces.ts"
import { monotonicOf } from "../../store/Moment.ts"
import { makeAnswering } from "./answering.ts"
import { findExceededLimit } from "./limits.ts"
import { makeMaking } from "./making.ts"
import { proceed, quietEnd, type TakenStep } from "./proceed.ts"
import type { Result } from "../prompt/conversation.ts"
import { labelled, sourceOfCall } from "../prompt/sources.ts"
import { Prompts } from "../Prompts.ts"
import type { Record } from "../record/record.ts"
import {
  configOf,
  type RunEnd,
  limitsOf,
  partsOf,
  type RunRow,
  type StepRow,
  type PromptRow,
  type TriggerRow,
} from "../record/rows.ts"
import { Spend } from "../spend/Spend.ts"
import { makeShow } from "./show.ts"
import { makeThink } from "../think/model.ts"
import { resultFill } from "../think/resultFill.ts"
import { type PendingNews, makeTurn, noPendingNews, programOf } from "../turn/turn.ts"
import { wireToolsOf } from "./wireTools.ts"

interface Step extends TakenStep {
  readonly state: StepRow["state"]
  readonly model: string | null
  readonly parts: ReadonlyArray<Part>
  readonly results: ReadonlyArray<Result>
}

interface Work {
  readonly row: RunRow
  readonly triggers: ReadonlyArray<TriggerRow>
  readonly told: ReadonlyArray<PromptRow>
  readonly steps: ReadonlyArray<Step>
  readonly calls: ReadonlyArray<CallRow>
}

/** How a model is told that a call ended. */
const outcomeOf = (state: CallState): Result["outcome"] =>
  state === "done" ? "done" : state === "refused" ? "refused" : "failed"

const resultOf = (row: CallRow): Result => {
  const { error, output } = callFrom(row)
  return {
    place: row.place!,
    outcome: outcomeOf(row.state),
    output,
    error: error?.message ?? null,
    from: sourceOfCall(row),
  }
}

const errorTag = ({ error }: CallRow): string | undefined =>
  error === null ? undefined : (JSON.parse(error) as { readonly tag?: string }).tag

const stepOf = (row: StepRow, calls: ReadonlyArray<CallRow>): Step => {
  const parts = partsOf(row)
  return {
    number: row.number,
    state: row.state,
    cut: row.state === "cut",
    model: row.model,
    parts,
    asked: parts.filter((part) => part.type === "call"),
    calls: new Map(
      calls.map((call) => [
        call.place!,
        { id: call.id, state: call.state, onKind: call.onKind, errorTag: errorTag(call) },
      ]),
    ),
    results: calls.map(resultOf),
  }
}

/** `leaving`: the house is closing, and each run is handed back at the end of its step. */
export const makeDrive = Effect.fnUntraced(function* (record: Record, leaving: () => boolean) {
  const sql = yield* SqlClient.SqlClient
  const agents = yield* Agents
  const tokens = yield* Tokens
  const catalogue = yield* Catalogue
  const active = yield* ActiveSpaces
  const prompts = yield* Prompts
  const think = yield* makeThink
  const make = yield* makeMaking
  const show = yield* makeShow
  const answering = yield* makeAnswering
  const turns = yield* makeTurn(record)
  const spend = yield* Spend
  const clock = yield* Clock.Clock

  const load = Effect.fnUntraced(function* (row: RunRow, known?: ReadonlyArray<TriggerRow>) {
    const id = row.id
    if (row.step === 0 && row.fence === 1)
      return { row, triggers: known ?? (yield* record.triggersOf(id)), told: [], calls: [], steps: [] } satisfies Work
    // Loaded in parallel: changes by others are checked again before the run parks.
    const [triggers, told, steps, calls] = yield* Effect.all(
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
      told,
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
    return isQuiet ? turns.beside(work) : Effect.succeed(noPendingNews)
  }

  return Effect.fnUntraced(function* (claimed: RunRow, triggers?: ReadonlyArray<TriggerRow>) {
    let work = yield* loadWhole(claimed, triggers)
    let since = monotonicOf(clock)
    /** Working time since it was last recorded. */
    const busy = (): number => {
      const now = monotonicOf(clock)
      const took = Math.max(0, Math.round(now - since))
      since = now
      return took
    }
    const end = (ended: RunEnd, told: ReadonlyArray<PromptRow> = []) => record.end(work.row, ended, told, busy())

    // One object as long as its rights are unchanged: its views are cached with it.
    let standing: { readonly from: Caller["Service"]; readonly caller: Caller["Service"] } | undefined
    const callerNow = Effect.map(Effect.option(tokens.again(work.row.agent, "agent")), (found) =>
      Option.map(found, (from) => {
        if (standing?.from !== from) standing = { from, caller: { ...from, run: work.row.id } }
        return standing.caller
      }),
    )

    /** True: the run continues. */
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
        const { say } = show(row, number, null, () => false)
        const turn = yield* turns.take(work, agent, caller, number, aside, (text) => say({ kind: "text", text }), busy)
        if (turn === false) return false
        if (turn !== undefined) return yield* Effect.as(end(turn), false)
        const now = yield* record.byId(row.id)
        if (now === undefined || now.fence !== row.fence) return false
        work = yield* load(now)
        return true
      }
      const config = configOf(row)
      const session = yield* answering.sessionOf(row, caller)
      const own = session === undefined ? undefined : yield* answering.modelOf(session, agent.name)
      const prompt =
        work.told.length > 0
          ? undefined
          : yield* prompts.make({
              agent,
              caller,
              profile: row.profile,
              persona: config.persona ?? agent.persona,
              context: config.context ?? null,
              speaks: row.parentCall !== null || session !== undefined,
              run: row.id,
              space: row.triggerSpace,
              triggers: work.triggers,
            })
      const told: ReadonlyArray<PromptRow> =
        prompt === undefined
          ? work.told
          : [
              { run: row.id, seq: 1, kind: "system", body: prompt.system, step: 0 },
              { run: row.id, seq: 2, kind: "user", body: prompt.user, step: 0 },
            ]
      const fresh = prompt === undefined ? [] : told
      const beganAt = DateTime.formatIso(yield* DateTime.now)
      const all = yield* catalogue.list(caller, everything)
      const tools = config.tools === undefined ? all : all.filter(({ tool }) => config.tools!.includes(tool.wireName))
      const seen = new Set(tools.filter(({ visibility }) => visibility === "visible").map(({ tool }) => tool.wireName))
      const space = (yield* active.of(caller)) ?? row.triggerSpace
      const { named, restart, say } = show(row, number, space, (tool) => seen.has(tool))
      // Viewers drop what the previous house has shown of this step.
      if (row.attempts > 0) yield* restart
      const last = work.steps.at(-1)
      const newest = work.triggers.at(-1)
      const used = row.tokensIn + row.tokensOut
      const thought = yield* Effect.result(
        think(
          {
            models: config.models ?? (own === undefined ? agent.models : [own, ...agent.models]),
            told,
            steps: labelled(work.steps, all),
            tools: wireToolsOf(tools, caller.principal),
            mostTokens: limits.tokens === undefined ? undefined : limits.tokens - used,
            scene: {
              agent: agent.name,
              step: number,
              text: newest?.text ?? "",
              tool: last?.asked.at(-1)?.tool,
              outcome: last?.results.at(-1)?.outcome,
              fill: {
                text: newest?.text ?? "",
                message: newest?.message ?? "",
                space: newest?.space ?? "",
                author: newest?.author ?? "",
                agent: agent.id,
                run: row.id,
                ...resultFill(last?.results.at(-1)?.output),
              },
            },
          },
          say,
          restart,
        ),
      )
      if (thought._tag === "Failure")
        return yield* Effect.as(end({ stop: thought.failure.stop, failure: thought.failure.message }, fresh), false)
      const said = thought.success
      const parts = said.parts.map((part) => (part.type === "call" ? named(part) : part))
      const asked = parts.filter((part) => part.type === "call")
      const spent = {
        tokensIn: said.usage.in,
        tokensOut: said.usage.out,
        costMicros: said.costMicros,
        busyMs: busy(),
      }
      const taken: StepRow = {
        run: row.id,
        number,
        state: "said",
        content: JSON.stringify(parts),
        finish: said.finish,
        model: said.model,
        tokensIn: said.usage.in,
        tokensOut: said.usage.out,
        tokensCached: said.usage.cached,
        costMicros: said.costMicros,
        beganAt,
        saidAt: DateTime.formatIso(yield* DateTime.now),
      }
      const steps = [...work.steps, stepOf(taken, [])]
      const over = asked.length === 0 ? { stop: quietEnd(steps), failure: null } : undefined
      const text = parts
        .flatMap((part) => (part.type === "text" ? [part.text] : []))
        .join("")
        .trim()
      const answers = over !== undefined && session !== undefined && text !== ""
      const answer = answers ? answering.post(row, caller, text) : undefined
      const read = over === undefined ? undefined : answering.seen(row, caller, newest?.message ?? null)
      const also = answer === undefined ? read : Effect.andThen(answer, read ?? Effect.void)
      if (!(yield* record.step(row, taken, fresh, asked.length, spent, over, also))) return false
      work = {
        ...work,
        calls: [],
        told,
        steps,
        row: {
          ...row,
          step: number,
          attempts: 0,
          tokensIn: row.tokensIn + spent.tokensIn,
          tokensOut: row.tokensOut + spent.tokensOut,
          costMicros: row.costMicros + spent.costMicros,
          busyMs: row.busyMs + spent.busyMs,
        },
      }
      return over === undefined
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
      const made = {
        ...step,
        calls: new Map(
          calls.map((call) => [
            call.place!,
            { id: call.id, state: call.state, onKind: call.onKind, errorTag: errorTag(call) },
          ]),
        ),
        results: calls.map(resultOf),
      }
      work = { ...work, steps: [...work.steps.slice(0, -1), made] }
      return true
    })

    const inStep = <A, E, R>(number: number, step: Effect.Effect<A, E, R>) =>
      Effect.withSpan(step, "step", {
        attributes: { "stoa.run": work.row.id, "stoa.step": number },
        captureStackTrace: false,
      })

    for (;;) {
      if (leaving()) return "handBack" as const
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
          const caller = yield* callerNow
          if (Option.isSome(caller)) yield* turns.answer(work, caller.value)
        }
        yield* end(isTurn && next.stop === "no_tool_call" ? { ...next, stop: "end_turn" } : next)
        return "ended" as const
      }
      const caller = yield* callerNow
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
        const then = goesOn ? proceed(work.steps) : undefined
        return then?.do === "make" ? makeCalls(then.step, then.places, caller.value) : Effect.succeed(goesOn)
      })
      if (!(yield* inStep(next.step, whole))) return "ended" as const
    }
  })
})
