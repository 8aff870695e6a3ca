/** Runs as doors and toolsets use them: to read, and to stop. */
import {
  type Ambiguous,
  type BadInput,
  Caller,
  type CallResult,
  type Forbidden,
  Missing,
  type Page,
  type PageQuery,
  type PrincipalId,
  Run,
  type RunId,
  type RunMessage,
  type RunState,
  type RunStep,
  type SpaceId,
  WrongState,
} from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Agents, seesWorkOf } from "../access/identity/Agents.ts"
import { Grants } from "../access/rights/Grants.ts"
import { viewerOfAll, type BasicViewer } from "../access/rights/Viewer.ts"
import { isOpenCall } from "../calls/CallReads.ts"
import { type CallRow, Calls } from "../calls/Calls.ts"
import { activeSpaceOf } from "../spaces/ActiveSpaces.ts"
import { makeAudience } from "./Audience.ts"
import { makeMessageReads } from "../spaces/MessageReads.ts"
import type { PostOptions } from "../spaces/messages/PostOptions.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { inState } from "../store/database/dialect/States.ts"
import { Journal } from "../store/journal/Journal.ts"
import { decodeCursor, pageFrom, pageOf } from "../store/Pages.ts"
import { open } from "./record/lifecycle.ts"
import { makeRunPages } from "./runPages.ts"
import { makeRunRecorder } from "./record/record.ts"
import { makeHistory } from "./waiting/history.ts"
import { runFrom, type RunRow } from "./record/rows.ts"

export interface RunQuery extends PageQuery {
  readonly agent?: string
  readonly state?: RunState | "live"
  readonly space?: string
  readonly root?: string
}

type Shown = RunRow & { readonly activeSpace: string | null }

export class Runs extends Context.Service<
  Runs,
  {
    readonly get: (id: string, viewer: BasicViewer) => Effect.Effect<Run, Missing>
    /**
     * The origin of a run's message that is posted in another space than the one it was woken in: what woke it (S1-41),
     * and where and by whom only if everybody who reads the message sees that space.
     */
    readonly originOf: (run: RunId, space: SpaceId) => Effect.Effect<Pick<PostOptions, "origin">>
    /** Newest first. */
    readonly list: (viewer: BasicViewer, query: RunQuery) => Effect.Effect<Page<Run>>
    /**
     * Those of an agent or of a space that the caller names. If it may not know of an agent, it gets none of its runs,
     * whether the agent exists or not.
     */
    readonly listNamed: (query: RunQuery) => Effect.Effect<Page<Run>, Missing | Forbidden | Ambiguous, Caller>
    readonly messages: (id: string, viewer: BasicViewer, query: PageQuery) => Effect.Effect<Page<RunMessage>, Missing>
    readonly steps: (id: string, viewer: BasicViewer, query: PageQuery) => Effect.Effect<Page<RunStep>, Missing>
    /** The result of a call that a run waits for; fails unless the two belong together. */
    readonly result: (
      run: string,
      call: string,
      result: CallResult,
    ) => Effect.Effect<CallRow, Missing | WrongState | BadInput | Forbidden, Caller>
    /**
     * What agents are doing: running if one of its runs works, else waiting if one waits; idle agents are not in it.
     */
    readonly statesOf: (
      agents: ReadonlyArray<PrincipalId>,
    ) => Effect.Effect<ReadonlyMap<PrincipalId, "busy" | "waiting">>
    /** Of these runs, those whose words a run of the same agent may be told (`Audience.ts`); without a run, all. */
    readonly mayTell: (run: string | null, ids: ReadonlyArray<RunId>) => Effect.Effect<ReadonlySet<string>>
    /** The sessions that agents' programs resume in their next turn. */
    readonly sessionsOf: (agents: ReadonlyArray<PrincipalId>) => Effect.Effect<ReadonlyMap<PrincipalId, string>>
    /** Stops it, and withdraws its questions; what it has done stays done. */
    /** The runs of an agent that are not over. */
    readonly openOf: (agent: PrincipalId) => Effect.Effect<ReadonlyArray<RunId>>
    readonly cancel: (id: string, viewer: BasicViewer, by: string) => Effect.Effect<Run, Missing | WrongState>
  }
>()("server/runs/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const calls = yield* Calls
      const grants = yield* Grants
      const agents = yield* Agents
      const spaces = yield* Spaces
      const record = yield* makeRunRecorder
      const reads = makeMessageReads(sql)
      const history = makeHistory(sql)
      const pages = makeRunPages(sql)
      const audience = yield* makeAudience

      const columns = sql`r.*, ${activeSpaceOf(sql, sql`r.id`)} AS active_space`
      const seenBy = (viewer: BasicViewer) => seesWorkOf(sql, viewer, sql`r.agent`)

      const waitsOf = (ids: ReadonlyArray<string>) =>
        ids.length === 0
          ? Effect.succeed([])
          : Effect.orDie(
              // A sub-agent's question shows on the outermost run, however deep the sub-agent is.
              sql<{ run: string; onKind: string; onId: string }>`SELECT r.root AS run, c.on_kind, c.on_id FROM calls c
                JOIN runs r ON r.id = c.run WHERE ${sql.in("r.root", ids)} AND c.state = 'waiting' AND c.on_id IS NOT NULL
                UNION SELECT c.run, c.on_kind, c.on_id FROM calls c
                WHERE ${sql.in("c.run", ids)} AND c.state = 'waiting' AND c.on_id IS NOT NULL`,
            )

      const shown = Effect.fnUntraced(function* (rows: ReadonlyArray<Shown>) {
        const waiting = rows.filter(({ state }) => state.startsWith("waiting")).map(({ id }) => id)
        const waits = yield* waitsOf(waiting)
        return rows.map((row) =>
          runFrom(
            row,
            row.activeSpace,
            waits.filter(({ run }) => run === row.id).map(({ onId: id, onKind: kind }) => ({ kind, id })),
          ),
        )
      })

      const find = Effect.fnUntraced(function* (id: string, viewer: BasicViewer) {
        const rows = yield* Effect.orDie(
          sql<Shown>`SELECT ${columns} FROM runs r WHERE r.id = ${id} AND ${seenBy(viewer)}`,
        )
        return rows[0] ?? (yield* new Missing({ noun: "run", ref: id }))
      })

      const get: Runs["Service"]["get"] = Effect.fn("Runs.get")(function* (id, viewer) {
        const run = (yield* shown([yield* find(id, viewer)]))[0]!
        const waits = yield* history.ofRun(run.id)
        return waits.length === 0 ? run : new Run({ ...run, waits })
      })

      const list: Runs["Service"]["list"] = Effect.fn("Runs.list")(function* (viewer, query) {
        const { limit } = pageFrom(query)
        const where = [seenBy(viewer)]
        if (query.cursor !== undefined) where.push(sql`r.id < ${decodeCursor(query.cursor)}`)
        if (query.agent !== undefined) where.push(sql`r.agent = ${query.agent}`)
        if (query.state !== undefined)
          where.push(query.state === "live" ? sql`r.ended_at IS NULL` : sql`r.state = ${query.state}`)
        if (query.space !== undefined) where.push(sql`r.trigger_space = ${query.space}`)
        if (query.root !== undefined) where.push(sql`r.root = ${query.root}`)
        const rows = yield* Effect.orDie(
          sql<Shown>`SELECT ${columns} FROM runs r WHERE ${sql.and(where)} ORDER BY r.id DESC LIMIT ${limit + 1}`,
        )
        const page = pageOf(
          rows,
          limit,
          (row) => row,
          (row) => row.id,
        )
        return { items: yield* shown(page.items), next: page.next }
      })

      const listNamed: Runs["Service"]["listNamed"] = Effect.fn("Runs.listNamed")(function* ({
        agent,
        space,
        ...query
      }) {
        const viewer = yield* grants.viewer("runs")
        const found = agent === undefined ? undefined : yield* Effect.result(agents.get(agent))
        if (found?._tag === "Failure") {
          if (viewer.judge("read", `principals/${agent!}`).verdict !== "allow") return { items: [], next: null }
          return yield* found.failure
        }
        const where = space === undefined ? undefined : yield* spaces.get(space, yield* grants.viewer("spaces"))
        return yield* list(viewer, {
          ...query,
          ...(found === undefined ? {} : { agent: found.success.id }),
          ...(where === undefined ? {} : { space: where.id }),
        })
      })

      const steps: Runs["Service"]["steps"] = Effect.fn("Runs.steps")(function* (id, viewer, query) {
        const run = yield* find(id, viewer)
        return yield* pages.steps(run.id, query, yield* history.ofRun(run.id))
      })

      const messages: Runs["Service"]["messages"] = Effect.fn("Runs.messages")(function* (id, viewer, query) {
        return yield* pages.messages((yield* find(id, viewer)).id, query)
      })

      const cancel: Runs["Service"]["cancel"] = Effect.fn("Runs.cancel")(function* (id, viewer, by) {
        const run = yield* find(id, viewer)
        const failure = `It was stopped by ${by}.`
        const ended = yield* journal.transact(record.stop(run.id, { stop: "cancelled", failure }))
        if (ended === undefined) {
          const now = (yield* record.byId(run.id))!
          return yield* new WrongState({ detail: `This run is already ${now.state}.` })
        }
        const unsettled = yield* Effect.orDie(
          sql<{ id: string }>`SELECT id FROM calls WHERE run = ${run.id} AND ${isOpenCall(sql)}`,
        )
        // Whoever may stop a run may stop its calls.
        const stopper = viewerOfAll(viewer.principal)
        for (const call of unsettled)
          yield* Effect.ignore(calls.cancel(call.id, stopper, `Its run was stopped by ${by}`))
        return yield* get(run.id, viewer)
      }, Effect.uninterruptible)

      const statesOf: Runs["Service"]["statesOf"] = Effect.fnUntraced(function* (agents) {
        const states = new Map<PrincipalId, "busy" | "waiting">()
        if (agents.length === 0) return states
        const rows = yield* Effect.orDie(
          sql<{ agent: PrincipalId; state: RunState }>`SELECT DISTINCT agent, state FROM runs
            WHERE ${inState(sql, open)} AND state <> 'queued'`,
        )
        const among = new Set(agents)
        for (const { agent, state } of rows) {
          if (!among.has(agent)) continue
          if (state === "running") states.set(agent, "busy")
          else if (!states.has(agent)) states.set(agent, "waiting")
        }
        return states
      })

      const openOf: Runs["Service"]["openOf"] = (agent) =>
        Effect.map(
          Effect.orDie(sql<{ id: RunId }>`SELECT id FROM runs WHERE agent = ${agent} AND ${inState(sql, open)}`),
          (rows) => rows.map(({ id }) => id),
        )

      const sessionsOf: Runs["Service"]["sessionsOf"] = (ids) =>
        ids.length === 0
          ? Effect.succeed(new Map())
          : Effect.map(
              Effect.orDie(
                sql<{ agent: PrincipalId; session: string }>`SELECT agent, session FROM program_sessions
                  WHERE ${sql.in("agent", ids)} ORDER BY at`,
              ),
              (rows) => new Map(rows.map(({ agent, session }) => [agent, session])),
            )

      const result: Runs["Service"]["result"] = Effect.fn("Runs.result")(function* (run, call, given) {
        const rows = yield* Effect.orDie(sql<{ id: string }>`SELECT id FROM calls WHERE id = ${call} AND run = ${run}`)
        if (rows[0] === undefined) return yield* new Missing({ noun: "call", ref: call })
        return yield* calls.result(rows[0].id, yield* Caller, given)
      })

      const originOf: Runs["Service"]["originOf"] = Effect.fn("Runs.originOf")(function* (run, space) {
        const rows = yield* sql<{
          kind: string
          space: SpaceId | null
          name: string | null
          sender: string | null
          message: string | null
        }>`SELECT r.trigger_kind AS kind, r.trigger_space AS space,
          ${reads.spaceName(sql`r.trigger_space`)} AS name, ${reads.authorName(sql`r.trigger_message`)} AS sender,
          r.trigger_message AS message FROM runs r WHERE r.id = ${run}`
        const found = rows[0]
        if (found === undefined || found.space === space) return {}
        const { kind: trigger, message, name: spaceName, sender, space: from } = found
        const told = from !== null && (yield* audience.seenByAll(yield* reads.audienceOf(space), [from])).has(from)
        return {
          origin: told
            ? { trigger, space: from, spaceName, sender, message }
            : { trigger, space: null, spaceName: null, sender: null, message: null },
        }
      }, Effect.orDie)

      return Runs.of({
        get,
        originOf,
        list,
        listNamed,
        messages,
        steps,
        result,
        statesOf,
        mayTell: audience.mayTellIn,
        openOf,
        sessionsOf,
        cancel,
      })
    }),
  )
}
