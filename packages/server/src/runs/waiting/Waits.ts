/**
 * Who waits for whose answer. A wait is written in the transaction that posts its message, so that no answer can be
 * older than its wait. It ends by answers, by its deadline, when nobody is left who could answer, or when somebody
 * releases it. Then the waiting call is finished.
 */
import {
  type Message,
  type MessageId,
  Missing,
  type Page,
  type PrincipalId,
  type RunWait,
  type Space,
  WrongState,
  withoutPrefix,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { seesWorkOf } from "../../access/identity/Agents.ts"
import { Grants } from "../../access/rights/Grants.ts"
import type { BasicViewer } from "../../access/rights/Viewer.ts"
import { Calls } from "../../calls/Calls.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { makeMessageReads } from "../../spaces/MessageReads.ts"
import { Spaces } from "../../spaces/Spaces.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { open as openStates, waiting as waitingStates } from "../record/lifecycle.ts"
import { profileNamed } from "../profile.ts"
import { gathers, noCall, makeTeamRequests } from "./teamRequests.ts"
import { makeHistory, type WaitRow } from "./history.ts"
import { makeRunRecorder } from "../record/record.ts"
import { limitsOf, type RunRow } from "../record/rows.ts"
import { inState } from "../../store/database/dialect/States.ts"
import {
  findAnsweredWait,
  findRaisedWaits,
  closedStateOf,
  type PostedMessage,
  type OpenWait,
  waitResult,
  type WaitState,
} from "./waitRules.ts"

export const waitPurpose = "wait"

/** A message that has answered, for the agent that waited for it. */
interface Reply {
  readonly messageId: string
  readonly authorId: string
  readonly author: string
  readonly text: string
}

export interface WaitRequest {
  readonly space: Space
  readonly message: Message
  /** How many of the mentioned principals must answer; by default all. */
  readonly needed?: number
  /** How long, in milliseconds; by default the time of its profile. */
  readonly milliseconds?: number
  /** Who is waited for, if not the mentioned principals. */
  readonly parties?: ReadonlyArray<PrincipalId>
  /** Its message went to several, and is answered by a reply to it alone: no other message back is taken for one. */
  readonly gathers?: true
  /** The call is done at once: the wait belongs to the run, and its outcome is the run's next message (S3-12). */
  readonly hangs?: true
}

export class Waits extends Context.Service<
  Waits,
  {
    /** Opens a wait for the call that posts; returns its id, or fails with a sentence if it may not wait. */
    readonly open: (call: HandlerCall, wanted: WaitRequest) => Effect.Effect<string, WrongState, Transaction>
    /** Applies a message to the waits in its space; returns the agents whose wait it answered. */
    readonly hear: (
      message: Message,
      /** Only a reply answers: in a team, messages to others answer nobody. */
      strict?: boolean,
    ) => Effect.Effect<ReadonlySet<string>, never, Transaction>
    /** The oldest open request of one agent to another: the message that waits for an answer (S3-17). */
    readonly oldest: (waiting: PrincipalId, awaited: PrincipalId) => Effect.Effect<MessageId | undefined>
    /** Whether a wait that belongs to a run is still open. */
    readonly isWaiting: (run: string) => Effect.Effect<boolean>
    /** Whether anybody waits for the answer to a message. */
    readonly isAwaited: (message: string) => Effect.Effect<boolean>
    /**
     * The principals that would wait for each other in a ring if one waited for some others; empty if there is no ring
     * (S3-11).
     */
    readonly ring: (
      waiting: PrincipalId,
      awaited: ReadonlyArray<PrincipalId>,
      /** A request that this very message answers no longer counts as waiting for its author. */
      answered?: string,
    ) => Effect.Effect<ReadonlyArray<PrincipalId>>
    /** A principal will not answer any more. `message`: the one that woke it; undefined if it has left. */
    readonly silence: (
      principal: string,
      state: "silent" | "gone",
      message?: string | null,
    ) => Effect.Effect<void, never, Transaction>
    /** A principal has left a space: it will not answer there, and gets no answers there. */
    readonly leave: (principal: string, space: string) => Effect.Effect<void, never, Transaction>
    /** The deadline has passed. */
    readonly expire: (wait: string) => Effect.Effect<void, never, Transaction>
    /** The waiting run is gone: nobody is told. */
    readonly cancelOf: (run: string) => Effect.Effect<void, never, Transaction>
    readonly list: (viewer: BasicViewer) => Effect.Effect<Page<RunWait>>
    readonly release: (id: string, viewer: BasicViewer) => Effect.Effect<RunWait, Missing | WrongState>
  }
>()("server/runs/Waits") {
  static readonly layer = Layer.effect(
    Waits,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const timers = yield* Timers
      const calls = yield* Calls
      const grants = yield* Grants
      const spaces = yield* Spaces
      const record = yield* makeRunRecorder
      const { partiesOf, shown } = makeHistory(sql)

      /** Whether the waiting agent may read there now: a message that it cannot see is no answer. */
      const reads = ({ agent, space }: WaitRow): Effect.Effect<boolean> =>
        grants.viewerNow(agent, "agent", "spaces").pipe(
          Effect.flatMap((viewer) => spaces.get(space, viewer)),
          Effect.match({ onFailure: () => false, onSuccess: () => true }),
        )

      /** What has come, as far as the waiting agent may see it now. */
      const repliesOf = Effect.fnUntraced(function* ({ agent, id }: WaitRow) {
        const viewer = yield* Effect.option(grants.viewerNow(agent, "agent", "spaces"))
        if (Option.isNone(viewer)) return []
        const links = sql`SELECT wait AS link, message FROM wait_replies WHERE wait = ${id}`
        const replies = yield* makeMessageReads(sql).repliesOf(viewer.value, links)
        return replies.map((one): Reply => ({
          messageId: withoutPrefix(one.id),
          authorId: one.author,
          author: one.authorName,
          text: one.text,
        }))
      })

      /** Ends a wait, and finishes its call with what has come. */
      const close = Effect.fnUntraced(function* (row: WaitRow, state: WaitState) {
        const now = yield* DateTime.now
        const closed = yield* Effect.orDie(sql`UPDATE waits SET state = ${state}, closed_at = ${DateTime.formatIso(now)}
          WHERE id = ${row.id} AND state = 'open' RETURNING id`)
        if (closed.length === 0) return
        yield* timers.cancelKeys([row.id])
        if (state === "canceled") return
        const parties = yield* partiesOf([row.id])
        const replies = yield* repliesOf(row)
        const waitedMs = DateTime.toEpochMillis(now) - Date.parse(row.openedAt)
        const output = {
          success: true,
          messageId: withoutPrefix(row.message),
          status: waitResult(state, replies.length),
          replies: replies.map((one) => ({ ...one })),
          missing: parties.filter((one) => one.state !== "replied").map(({ principal }) => principal),
          waitedMs,
          ...(state === "silent" || state === "released" ? { ended: state } : {}),
        }
        yield* Effect.orDie(sql`UPDATE waits SET outcome = ${JSON.stringify(output)} WHERE id = ${row.id}`)
        if (row.call !== noCall) yield* calls.finish(row.call, { step: "finish", output })
        else if (row.run !== null) yield* record.ring([row.run])
      })

      const look = Effect.fnUntraced(function* (row: WaitRow) {
        const parties = yield* partiesOf([row.id])
        const count = yield* Effect.orDie(
          sql<{ n: number }>`SELECT count(*) AS n FROM wait_replies WHERE wait = ${row.id}`,
        )
        const state = closedStateOf({ needed: row.needed, parties, replies: count[0]!.n })
        if (state !== undefined) yield* close(row, state)
      })

      const open: Waits["Service"]["open"] = Effect.fn("Waits.open")(function* (call, wanted) {
        const { message, space } = wanted
        const run =
          call.run === null
            ? undefined
            : (yield* Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE id = ${call.run.id}`))[0]
        const profile = profileNamed(run?.profile ?? (wanted.hangs === true ? "team" : "gateway"))
        if (run !== undefined) {
          const most = limitsOf(run).waits
          if (most !== undefined && run.waits >= most)
            return yield* new WrongState({
              detail: `This run has already waited ${most} times, the maximum. Continue without waiting.`,
            })
          const others = yield* Effect.orDie(
            sql<{ n: number }>`SELECT count(*) AS n FROM runs WHERE agent = ${run.agent}
              AND ${inState(sql, openStates)} AND ${inState(sql, waitingStates)} AND id <> ${run.id}`,
          )
          if (others[0]!.n >= profile.maxWaiting)
            return yield* new WrongState({
              detail: `You already have ${others[0]!.n} waiting runs; the maximum is ${profile.maxWaiting}. Continue without waiting.`,
            })
          yield* Effect.orDie(sql`UPDATE runs SET waits = waits + 1 WHERE id = ${run.id}`)
        }
        const meant = wanted.parties ?? message.mentions
        const parties = space.members.filter(({ id }) => meant.includes(id) && id !== call.principal)
        const now = yield* DateTime.now
        const milliseconds = wanted.milliseconds ?? profile.waitMs
        const deadline = milliseconds === null ? null : DateTime.add(now, { milliseconds })
        const id = newId<string>("wai")
        const needed = Math.min(wanted.needed ?? parties.length, parties.length)
        const row: WaitRow = {
          id,
          run: run?.id ?? null,
          agent: call.principal,
          call: wanted.hangs === true ? noCall : call.id,
          space: space.id,
          message: message.id,
          mode:
            wanted.gathers === true
              ? gathers
              : parties.length === 0
                ? "any"
                : needed === parties.length
                  ? "all"
                  : "count",
          needed: Math.max(1, needed),
          state: "open",
          deadlineAt: deadline === null ? null : DateTime.formatIso(deadline),
          openedAt: DateTime.formatIso(now),
          closedAt: null,
          outcome: null,
        }
        yield* Effect.orDie(sql`INSERT INTO waits ${sql.insert({ ...row })}`)
        for (const party of parties)
          yield* Effect.orDie(
            sql`INSERT INTO wait_parties ${sql.insert({ wait: id, principal: party.id, state: "awaited", message: null })}`,
          )
        if (deadline !== null)
          yield* timers.set({ purpose: waitPurpose, key: id, dueAt: deadline, payload: { wait: id } })
        return id
      })

      const openIn = Effect.fnUntraced(function* (space: string) {
        const rows = yield* Effect.orDie(
          sql<WaitRow>`SELECT * FROM waits WHERE space = ${space} AND state = 'open' ORDER BY opened_at, id`,
        )
        const parties = yield* partiesOf(rows.map(({ id }) => id))
        return rows.map((row) => ({ row, parties: parties.filter(({ wait }) => wait === row.id) }))
      })

      const hear: Waits["Service"]["hear"] = Effect.fn("Waits.hear")(function* (message, strict = false) {
        const there = yield* openIn(message.space)
        const woken = new Set<string>()
        if (there.length === 0) return woken
        const heard: PostedMessage = {
          id: message.id,
          author: message.author.id,
          authorKind: message.author.kind,
          replyTo: message.replyTo,
          mentions: message.mentions,
        }
        for (const [agent, own] of Map.groupBy(there, ({ row }) => row.agent)) {
          const waits = own.map(({ parties, row }): OpenWait => ({ id: row.id, agent, message: row.message, parties }))
          const hit = findAnsweredWait(waits, heard, strict)
          if (hit === undefined) {
            for (const { id } of strict ? [] : findRaisedWaits(waits, heard))
              yield* Effect.orDie(sql`UPDATE wait_parties SET message = ${message.id}
                WHERE wait = ${id} AND principal = ${heard.author} AND state = 'awaited'`)
            continue
          }
          const waited = own.find(({ row }) => row.id === hit.id)!.row
          if (!(yield* reads(waited))) {
            yield* close(waited, "released")
            continue
          }
          // A wait outside of a run resumes nothing: its agent finds the answer in its inbox.
          if (waited.call !== noCall || waited.run !== null) woken.add(agent)
          yield* Effect.orDie(sql`UPDATE wait_parties SET state = 'replied', message = ${message.id}
            WHERE wait = ${hit.id} AND principal = ${heard.author} AND state <> 'replied'`)
          yield* Effect.orDie(
            sql`INSERT INTO wait_replies ${sql.insert({ wait: hit.id, message: message.id })} ON CONFLICT DO NOTHING`,
          )
          yield* look(waited)
        }
        return woken
      })

      const silence: Waits["Service"]["silence"] = Effect.fn("Waits.silence")(function* (principal, state, message) {
        const which = message == null ? sql`1 = 1` : sql`w.message = ${message}`
        // An agent that began a new matter with the waiting one has spoken: its wait stays.
        const quiet = state === "silent" ? sql`p.message IS NULL` : sql`1 = 1`
        const rows = yield* Effect.orDie(
          sql<WaitRow>`SELECT w.* FROM waits w JOIN wait_parties p ON p.wait = w.id
            WHERE w.state = 'open' AND p.principal = ${principal} AND p.state = 'awaited' AND ${which}
            AND ${quiet}`,
        )
        for (const row of rows) {
          yield* Effect.orDie(sql`UPDATE wait_parties SET state = ${state}
            WHERE wait = ${row.id} AND principal = ${principal} AND state = 'awaited'`)
          yield* look(row)
        }
      })

      const leave: Waits["Service"]["leave"] = Effect.fnUntraced(function* (principal, space) {
        for (const { parties, row } of yield* openIn(space))
          if (row.agent !== principal) {
            if (parties.some((one) => one.principal === principal)) yield* silence(principal, "gone", row.message)
          } else if (!(yield* reads(row))) yield* close(row, "released")
      })

      const byId = (id: string) =>
        Effect.map(Effect.orDie(sql<WaitRow>`SELECT * FROM waits WHERE id = ${id}`), (rows) => rows[0])

      const expire: Waits["Service"]["expire"] = Effect.fnUntraced(function* (id) {
        const row = yield* byId(id)
        if (row?.state !== "open") return
        const replies = yield* repliesOf(row)
        yield* close(row, replies.length > 0 ? "partial_timeout" : "timeout")
      })

      const cancelOf: Waits["Service"]["cancelOf"] = Effect.fnUntraced(function* (run) {
        const rows = yield* Effect.orDie(sql<WaitRow>`SELECT * FROM waits WHERE run = ${run} AND state = 'open'`)
        for (const row of rows) yield* close(row, "canceled")
      })

      const seenBy = (viewer: BasicViewer) => seesWorkOf(sql, viewer, sql`w.agent`)

      const list: Waits["Service"]["list"] = Effect.fn("Waits.list")(function* (viewer) {
        const rows = yield* Effect.orDie(
          sql<WaitRow>`SELECT w.* FROM waits w WHERE w.state = 'open' AND ${seenBy(viewer)} ORDER BY w.opened_at LIMIT 1000`,
        )
        return { items: yield* shown(rows), next: null }
      })

      const release: Waits["Service"]["release"] = Effect.fn("Waits.release")(function* (id, viewer) {
        const rows = yield* Effect.orDie(sql<WaitRow>`SELECT w.* FROM waits w WHERE w.id = ${id} AND ${seenBy(viewer)}`)
        const row = rows[0]
        if (row === undefined) return yield* new Missing({ noun: "wait", ref: id })
        if (row.state !== "open")
          return yield* new WrongState({ detail: `This wait is over already: it is ${row.state}.` })
        yield* journal.transact(close(row, "released"))
        return (yield* shown([(yield* byId(id))!]))[0]!
      })

      return Waits.of({
        open,
        hear,
        ...makeTeamRequests(sql),
        silence,
        leave,
        expire,
        cancelOf,
        list,
        release,
      })
    }),
  )
}
