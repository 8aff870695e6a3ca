/** Runs started on request: a service that calls an agent, and a retried run. Each is one transaction. */
import {
  type Agent,
  type Ambiguous,
  Caller,
  type Forbidden,
  Missing,
  type Run,
  type RunId,
  type TooManyRequests,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import { otherRequest } from "../../access/identity/IdempotencyKeys.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import { Grants } from "../../access/rights/Grants.ts"
import type { BasicViewer, Viewer } from "../../access/rights/Viewer.ts"
import { addCopiedCalls } from "../../calls/CopiedCalls.ts"
import { makeCallSpace } from "../../calls/road/CallSpace.ts"
import { Spaces } from "../../spaces/Spaces.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { open } from "../record/lifecycle.ts"
import { cannotWork, limitsFor, profileNameOf } from "../profile.ts"
import { makeRunRecorder, type NewRun } from "../record/record.ts"
import type { PromptRow, RunRow, StepRow, TriggerRow } from "../record/rows.ts"
import { Runs } from "../Runs.ts"
import { Dispatch } from "../working/Dispatch.ts"
import { makeAdmission } from "./admission.ts"
import { causerAfter, depthAfter, mayWake } from "./route.ts"

export interface TriggerRequest {
  readonly text: string
  /** The space the agent works in, by id or name. */
  readonly space: string | null
  /** The same key means the same trigger: a repeat gets the first run. */
  readonly key: string | undefined
  /** The run in which it is requested, if any. */
  readonly run: string | undefined
}

export class Triggers extends Context.Service<
  Triggers,
  {
    /** By id or name. It takes the right to wake that agent (`Agents.findToWake`). */
    readonly start: (
      ref: string,
      trigger: TriggerRequest,
      by: Viewer,
    ) => Effect.Effect<RunId, WrongState | Missing | Forbidden | Ambiguous | TooManyRequests>
    /** A new run with the same triggers; from a step, it takes over everything before it and repeats no call. */
    readonly retry: (
      id: string,
      step: number | undefined,
      viewer: BasicViewer,
    ) => Effect.Effect<Run, Missing | WrongState | Forbidden | TooManyRequests, Caller>
  }
>()("server/runs/Triggers") {
  static readonly layer = Layer.effect(
    Triggers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const agents = yield* Agents
      const runs = yield* Runs
      const grants = yield* Grants
      const tokens = yield* Tokens
      const callSpace = yield* makeCallSpace
      const spaces = yield* Spaces
      const record = yield* makeRunRecorder
      const dispatch = yield* Dispatch

      const { admit } = yield* makeAdmission

      const able = Effect.fnUntraced(function* (agent: Agent) {
        const why = cannotWork(agent)
        if (why !== undefined) return yield* new WrongState({ detail: `${why}.` })
      })

      const shallow = Effect.fnUntraced(function* (agent: Agent, depth: number) {
        const most = limitsFor(agent).depth ?? 0
        if (mayWake(depth, most)) return
        return yield* new WrongState({
          detail: `The chain of agents is ${depth} deep; ${agent.name}'s limit is ${most}. A person can start it again.`,
        })
      })

      /** A run that repeats one of its own agent or tree would go on for ever, at no depth. */
      const apart = Effect.fnUntraced(function* (from: RunRow, row: RunRow) {
        const isOwn = from.agent === row.agent || from.root === row.root
        if (!isOwn && (from.tree ?? from.agent) !== (row.tree ?? row.agent)) return
        return yield* new WrongState({
          detail: "A run cannot repeat runs of its own agent or team. Ask a person to repeat this one.",
        })
      })

      /**
       * The agent works there, whoever sends it: the space is judged as the agent's. Whoever lives in spaces themselves
       * sends it only where they see; a service lives in none.
       */
      const spaceFor = Effect.fnUntraced(function* (agent: Agent, ref: string, { context, house, principal }: Viewer) {
        const isFree = house === true || principal.kind === "service"
        const seen = isFree
          ? ref
          : (yield* spaces.get(ref, yield* grants.viewerNow(principal.id, context, "spaces"))).id
        return yield* callSpace(seen, yield* tokens.callerNow(agent.id, "agent"))
      })

      const start: Triggers["Service"]["start"] = Effect.fn("Triggers.start")(function* (ref, trigger, viewer) {
        const agent = yield* agents.findToWake(ref, viewer)
        yield* able(agent)
        const by = viewer.principal
        const before = trigger.run === undefined ? undefined : yield* record.byId(trigger.run)
        const depth = depthAfter(by.kind, before?.chainDepth ?? null)
        yield* shallow(agent, depth)
        const causer = causerAfter(by.id, before)
        const space = trigger.space === null ? null : yield* spaceFor(agent, trigger.space, viewer)
        const run = newId<RunId>("run")
        const source = trigger.key === undefined ? run : `key:${by.id}:${trigger.key}`
        const row: TriggerRow = {
          agent: agent.id,
          source,
          run,
          kind: "service",
          message: null,
          space,
          author: by.id,
          text: trigger.text,
          depth,
          causer,
          at: DateTime.formatIso(yield* DateTime.now),
        }
        const wanted: NewRun = {
          id: run,
          agent: agent.id,
          profile: profileNameOf(agent),
          limits: limitsFor(agent),
          kind: "service",
          summary: trigger.text,
          space,
          depth,
          thinker: agent.thinker.kind,
          causer,
        }
        yield* admit(causer)
        // Without a key it cannot be a repeat.
        if (trigger.key === undefined) return yield* Effect.as(dispatch.start(wanted, row), run)
        const once = Effect.gen(function* () {
          if (yield* record.trigger(row)) return yield* Effect.as(record.enqueue(wanted), run)
          const known = yield* Effect.orDie(
            sql<TriggerRow>`SELECT * FROM triggers WHERE agent = ${agent.id} AND source = ${source}`,
          )
          if (known[0]!.text !== row.text || known[0]!.space !== row.space) return yield* otherRequest()
          return known[0]!.run!
        })
        return yield* dispatch.queueing(journal.transact(once))
      })

      /** An open call cannot be copied: its end would reach only the old run. */
      const isAtWork = (run: RunId, step: number) =>
        Effect.map(
          Effect.orDie(sql`SELECT id FROM calls WHERE run = ${run} AND step < ${step} AND settled_at IS NULL LIMIT 1`),
          (rows) => rows.length > 0,
        )

      /** Copies what an earlier run said and did before a step to the new one. */
      const copy = Effect.fnUntraced(function* (from: RunId, to: RunId, step: number) {
        const told = yield* sql<PromptRow>`SELECT * FROM run_messages WHERE run = ${from} AND step < ${step}`
        for (const row of told) yield* sql`INSERT INTO run_messages ${sql.insert({ ...row, run: to })}`
        const steps = yield* sql<StepRow>`SELECT * FROM steps WHERE run = ${from} AND number < ${step}`
        for (const row of steps)
          yield* sql`INSERT INTO steps ${sql.insert({ ...row, run: to, tokensIn: 0, tokensOut: 0, costMicros: 0 })}`
        yield* addCopiedCalls(sql, from, to, step)
      }, Effect.orDie)

      const retry: Triggers["Service"]["retry"] = Effect.fn("Triggers.retry")(function* (id, step, viewer) {
        const run = yield* runs.get(id, viewer)
        const row = (yield* record.byId(run.id))!
        if (open.includes(row.state))
          return yield* new WrongState({ detail: `This run is ${row.state}: it can be repeated once it has ended.` })
        if (row.parentCall !== null)
          return yield* new WrongState({ detail: "The run of a sub-agent is repeated by the run that it worked for." })
        if (step !== undefined && row.thinker === "program")
          return yield* new WrongState({
            detail: "A program's run cannot be retried from a step. Retry the whole run.",
          })
        if (step !== undefined && step > row.step + 1)
          return yield* new WrongState({ detail: `This run took ${row.step} steps; give one of 1 to ${row.step + 1}.` })
        if (step !== undefined && (yield* isAtWork(row.id, step)))
          return yield* new WrongState({
            detail: `A call of this run, before step ${step}, has not come to its end yet. Try again in a moment, or from an earlier step.`,
          })
        const agent = yield* agents.get(row.agent)
        // Seeing a run is not enough to start one: that needs the right to wake its agent.
        if (viewer.principal.id !== agent.id) yield* grants.require("execute", `agents/${agent.name}`)
        yield* able(agent)
        const by = yield* Caller
        const from = by.run === undefined ? undefined : yield* record.byId(by.run)
        if (from !== undefined) yield* apart(from, row)
        // To repeat a run is to wake its agent: in a run, one level deeper than that run.
        const depth =
          from === undefined ? row.chainDepth : Math.max(row.chainDepth, depthAfter("agent", from.chainDepth))
        yield* shallow(agent, depth)
        const causer = causerAfter(by.principal.id, from)
        yield* admit(causer)
        const fresh = newId<RunId>("run")
        yield* journal.transact(
          Effect.gen(function* () {
            const triggers = yield* Effect.orDie(sql<TriggerRow>`SELECT * FROM triggers WHERE run = ${row.id}`)
            for (const one of triggers)
              yield* record.trigger({ ...one, source: `${fresh}:${one.source}`, run: fresh, depth, causer })
            // In a team its mail was put back when it failed: it is the same mail (S3-66).
            yield* Effect.orDie(sql`UPDATE triggers SET run = ${fresh} WHERE agent = ${row.agent} AND run IS NULL
              AND delivered_at IS NULL AND mail LIKE ${`%"last":"${row.id}"%`}`)
            if (step !== undefined && step > 1) yield* copy(row.id, fresh, step)
            yield* record.enqueue({
              id: fresh,
              agent: row.agent,
              profile: row.profile,
              // The present limits: a run that reached its limit is retried after the limit was raised.
              limits: limitsFor(agent),
              kind: row.triggerKind,
              summary: row.triggerSummary,
              message: row.triggerMessage,
              space: row.triggerSpace,
              depth,
              causer,
              thinker: agent.thinker.kind,
              retryOf: row.id,
              step: step === undefined ? 0 : step - 1,
            })
            yield* journal.append({ kind: "run.retried", body: { run: fresh, principal: row.agent, of: row.id } })
          }),
        )
        return yield* runs.get(fresh, viewer)
      })

      return Triggers.of({ start, retry })
    }),
  )
}
