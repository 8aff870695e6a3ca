/**
 * The inbox of an agent of a team: messages for it that no run has taken. They are ordinary triggers (one mailbox for
 * all); mail to an agent that works or waits stays there until it looks, or until its run is over (S3-18, S3-67).
 */
import type { Agent, MailKind, MessageId, PrincipalId, RunId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents, nearName, nearNameOf } from "../../access/identity/Agents.ts"
import { makeMessageReads } from "../../spaces/MessageReads.ts"
import { newId } from "../../store/journal/Correlation.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { open } from "../record/lifecycle.ts"
import { limitsFor, profileNamed, profileNameOf } from "../profile.ts"
import { makeRunRecorder } from "../record/record.ts"
import { envelopeOf, type RunRow, type TriggerRow } from "../record/rows.ts"
import { mayWake } from "./route.ts"
import { inState } from "../../store/database/dialect/States.ts"

/** The most messages that one run takes (S3-67). */
const maxAtOnce = 100

/** In place of the failed run that put mail back: its sender has woken agents too often. */
const notWoken = "none"

/** Whether the house can run it at all: many agents are outside programs, which the house does not wake. */
export const isAble = (agent: Agent): boolean =>
  agent.retiredAt === null && (agent.models.length > 0 || agent.thinker.kind === "program")

export interface IncomingTrigger {
  readonly agent: Agent
  readonly trigger: Omit<TriggerRow, "run" | "agent" | "mail">
  readonly mail: { readonly kind: MailKind; readonly replyTo: string | null } | undefined
  /** Its author waits for the answer. */
  readonly awaited: boolean
  /** False: it stays in the inbox until something else wakes the agent. */
  readonly wakes: boolean
}

/** `person`: any person; null: the house itself. */
interface MailFilter {
  readonly sender?: PrincipalId | "person" | null
  readonly kind?: MailKind
}

/** An agent's answer to a broadcast, or to a request for which nobody waits any more. */
const isReply = (row: Pick<TriggerRow, "mail">): boolean => {
  const envelope = envelopeOf(row)
  return envelope !== undefined && envelope.replyTo !== null && envelope.kind !== "notification"
}

/**
 * What the next run of an agent is told: one reply alone, because each is a message of its own (S3-30), or what came
 * before the first reply, together.
 */
const nextMail = (rows: ReadonlyArray<TriggerRow>): ReadonlyArray<TriggerRow> => {
  const reply = rows.findIndex(isReply)
  return reply === -1 ? rows : rows.slice(0, Math.max(1, reply))
}

export interface InboxMessage {
  readonly from: string | null
  readonly fromKind: string | null
  readonly text: string
  readonly message: string | null
  readonly source: string
  readonly kind: MailKind
  readonly replyTo: string | null
}

export class Inbox extends Context.Service<
  Inbox,
  {
    /** A message arrives: it joins a queued run, starts one, or stays in the inbox. Returns its run. */
    readonly arrive: (letter: IncomingTrigger) => Effect.Effect<RunId | null, never, Transaction>
    /**
     * A run is over: if it failed, its mail is put back and the parent is told, and mail that came meanwhile wakes the
     * agent again.
     */
    readonly over: (run: RunRow) => Effect.Effect<void, never, Transaction>
    /** Takes matching mail, oldest first: a second look does not find it again (S3-35). */
    readonly take: (
      agent: PrincipalId,
      run: string | null,
      filter: MailFilter,
    ) => Effect.Effect<ReadonlyArray<InboxMessage>, never, Transaction>
    /** The person who wrote to a run last, and where. */
    readonly writerOf: (
      run: string,
    ) => Effect.Effect<{ readonly author: PrincipalId; readonly space: string } | undefined>
    /** The oldest broadcast of one agent that a run of another has read, and the other has not answered. */
    readonly unanswered: (run: string, agent: PrincipalId, author: PrincipalId) => Effect.Effect<MessageId | undefined>
    readonly count: (agent: PrincipalId) => Effect.Effect<number>
  }
>()("server/runs/waking/Inbox") {
  static readonly layer = Layer.effect(
    Inbox,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const reads = makeMessageReads(sql)
      const agents = yield* Agents
      const record = yield* makeRunRecorder
      const iso = Effect.map(DateTime.now, DateTime.formatIso)

      const lying = (agent: string, wanted = sql`1 = 1`) =>
        Effect.orDie(
          sql<TriggerRow>`SELECT * FROM triggers WHERE agent = ${agent} AND run IS NULL AND delivered_at IS NULL
            AND ${wanted} ORDER BY at, source LIMIT ${maxAtOnce}`,
        )

      /** Mail that no failed run has put back, in SQL: however much there is of the other, it does not use up the limit. */
      const isFresh = sql`(mail IS NULL OR mail NOT LIKE '%"last":"%')`

      const hasReply = (run: string) =>
        Effect.map(Effect.orDie(sql<Pick<TriggerRow, "mail">>`SELECT mail FROM triggers WHERE run = ${run}`), (rows) =>
          rows.some(isReply),
        )

      const openRuns = (agent: string) =>
        Effect.orDie(
          sql<RunRow>`SELECT * FROM runs WHERE agent = ${agent} AND parent_call IS NULL AND ${inState(sql, open)} ORDER BY id`,
        )

      /** Starts a run with what is next in the inbox. */
      const begin = Effect.fnUntraced(function* (agent: Agent) {
        const fresh = nextMail(yield* lying(agent.id, isFresh))
        const newest = fresh.at(-1)
        if (newest === undefined) return null
        // The newest mail has woken it. What was put back comes with it once, if the same one pays: otherwise whoever has
        // spent their budget would let others pay, or fill all runs with what fails.
        const causer = newest.causer ?? newest.author
        const back = yield* lying(agent.id, sql`NOT ${isFresh} AND COALESCE(causer, author, '') = ${causer ?? ""}`)
        const rows = [...back.slice(0, maxAtOnce - fresh.length), ...fresh]
        const id = newId<RunId>("run")
        for (const { source } of rows)
          yield* Effect.orDie(
            sql`UPDATE triggers SET run = ${id} WHERE agent = ${agent.id} AND source = ${source} AND run IS NULL`,
          )
        const limits = limitsFor(agent)
        const most = limits.depth ?? 0
        yield* record.enqueue({
          id,
          agent: agent.id,
          profile: profileNameOf(agent),
          limits,
          kind: newest.kind,
          summary: newest.text.replaceAll(/\s+/g, " ").trim(),
          message: newest.message,
          space: newest.space,
          depth: Math.max(0, ...rows.map(({ depth }) => Math.min(depth, most))),
          thinker: agent.thinker.kind,
          causer,
        })
        return id
      })

      const arrive: Inbox["Service"]["arrive"] = Effect.fn("Inbox.arrive")(function* (letter) {
        const { agent, awaited, mail, trigger, wakes } = letter
        const runs = yield* openRuns(agent.id)
        const put = wakes ? {} : { last: notWoken }
        const envelope = mail === undefined ? null : JSON.stringify({ id: newId("env"), ...mail, ...put })
        const joinable =
          !wakes || isReply({ mail: envelope })
            ? undefined
            : runs.find(({ startedAt, state }) => state === "queued" && startedAt === null)
        const queued = joinable === undefined || (yield* hasReply(joinable.id)) ? undefined : joinable
        const isNew = yield* record.trigger({ ...trigger, agent: agent.id, run: queued?.id ?? null, mail: envelope })
        if (!isNew) return null
        if (queued !== undefined) return queued.id
        const isWanted = wakes && (agent.autoWake || awaited)
        const isWithin = mayWake(trigger.depth, limitsFor(agent).depth ?? 0)
        return runs.length === 0 && isAble(agent) && isWanted && isWithin ? yield* begin(agent) : null
      })

      /** Mail of a failed run is not lost: it goes back to the inbox, and wakes nobody by itself (S3-66). */
      const putBack = Effect.fnUntraced(function* (run: RunRow) {
        const rows = yield* Effect.orDie(
          sql<TriggerRow>`SELECT * FROM triggers WHERE run = ${run.id} AND kind = 'message'`,
        )
        for (const row of rows) {
          const envelope = envelopeOf(row) ?? { id: newId("env"), kind: "notification", replyTo: null }
          const mail = JSON.stringify({ ...envelope, last: run.id })
          yield* Effect.orDie(sql`UPDATE triggers SET run = NULL, delivered_at = NULL, mail = ${mail}
            WHERE agent = ${row.agent} AND source = ${row.source}`)
        }
      })

      const tellParent = Effect.fnUntraced(function* (run: RunRow, agent: Agent) {
        if (agent.parent === null) return
        const parent = Option.getOrUndefined(yield* Effect.option(agents.get(agent.parent)))
        if (parent === undefined || parent.retiredAt !== null) return
        yield* arrive({
          agent: parent,
          awaited: false,
          wakes: true,
          mail: { kind: "error", replyTo: null },
          trigger: {
            source: `failed:${run.id}`,
            kind: "message",
            message: null,
            space: null,
            author: null,
            text: `The turn of ${nearName(agent)} failed: ${run.failure ?? "nothing more is known"} Its mail is kept; its next message, or a retry, starts it again.`,
            depth: run.chainDepth + 1,
            causer: run.causer,
            at: yield* iso,
          },
        })
      })

      /** Unread mail that came while it worked wakes it again. */
      const wakeAgain = Effect.fnUntraced(function* (agent: Agent) {
        if (!isAble(agent) || (yield* openRuns(agent.id)).length > 0) return
        const limit = limitsFor(agent).depth ?? 0
        const fresh = (yield* lying(agent.id, isFresh)).filter((row) => mayWake(row.depth, limit))
        if (fresh.length === 0) return
        const messages = fresh.flatMap(({ message }) => (message === null ? [] : [message]))
        const awaited =
          agent.autoWake || messages.length === 0
            ? []
            : yield* Effect.orDie(sql`SELECT id FROM waits WHERE state = 'open' AND ${sql.in("message", messages)}`)
        if (agent.autoWake || awaited.length > 0) yield* begin(agent)
      })

      const over: Inbox["Service"]["over"] = Effect.fn("Inbox.over")(function* (run) {
        if (!profileNamed(run.profile).inbox || run.parentCall !== null) return
        const agent = Option.getOrUndefined(yield* Effect.option(agents.get(run.agent)))
        if (agent === undefined) return
        if (run.state === "failed") {
          yield* putBack(run)
          yield* tellParent(run, agent)
        }
        yield* wakeAgain(agent)
      })

      /** Filtered in SQL, so that mail that does not match does not use up the limit. */
      const fits = ({ kind, sender }: MailFilter) => {
        const from =
          sender === undefined
            ? sql`1 = 1`
            : sender === null
              ? sql`author IS NULL`
              : sender === "person"
                ? sql`author IN (SELECT id FROM principals WHERE kind = 'person')`
                : sql`author = ${sender}`
        const as = kind === undefined ? sql`1 = 1` : sql`mail LIKE ${`%"kind":"${kind}"%`}`
        return sql`${from} AND (${as} ${kind === "notification" ? sql`OR mail IS NULL` : sql``})`
      }

      const take: Inbox["Service"]["take"] = Effect.fn("Inbox.take")(function* (agent, run, filter) {
        const now = yield* iso
        const rows = yield* lying(agent, fits(filter))
        const names = yield* Effect.orDie(
          sql<{ id: string; name: string; kind: string }>`SELECT id, ${nearNameOf(sql, sql`id`, sql`name`)} AS name,
            kind FROM principals WHERE ${sql.in("id", ["", ...rows.map(({ author }) => author ?? "")])}`,
        )
        for (const { source } of rows)
          yield* Effect.orDie(
            sql`UPDATE triggers SET run = ${run}, delivered_at = ${now} WHERE agent = ${agent} AND source = ${source}`,
          )
        return rows.map((row): InboxMessage => {
          const author = names.find(({ id }) => id === row.author)
          const envelope = envelopeOf(row)
          return {
            from: author?.name ?? null,
            fromKind: author?.kind ?? null,
            text: row.text,
            message: row.message,
            source: row.source,
            kind: envelope?.kind ?? "notification",
            replyTo: envelope?.replyTo ?? null,
          }
        })
      })

      const count: Inbox["Service"]["count"] = (agent) =>
        Effect.map(
          Effect.orDie(
            sql<{ n: number }>`SELECT count(*) AS n FROM triggers
              WHERE agent = ${agent} AND run IS NULL AND delivered_at IS NULL`,
          ),
          (rows) => rows[0]!.n,
        )

      const writerOf: Inbox["Service"]["writerOf"] = (run) =>
        Effect.map(
          Effect.orDie(
            sql<{ author: PrincipalId; space: string }>`SELECT t.author, t.space FROM triggers t
              JOIN principals p ON p.id = t.author WHERE t.run = ${run} AND p.kind = 'person' AND t.space IS NOT NULL
              ORDER BY t.at DESC LIMIT 1`,
          ),
          (rows) => rows[0],
        )

      const unanswered: Inbox["Service"]["unanswered"] = (run, agent, author) =>
        Effect.map(
          Effect.orDie(
            sql<{ message: MessageId }>`SELECT t.message FROM triggers t WHERE t.agent = ${agent}
              AND t.run = ${run} AND t.author = ${author} AND t.mail LIKE '%"kind":"multicast"%'
              AND NOT ${reads.hasAnswered(sql`${agent}`, sql`t.message`)}
              ORDER BY t.at LIMIT 1`,
          ),
          (rows) => rows[0]?.message,
        )

      return Inbox.of({ arrive, over, take, writerOf, unanswered, count })
    }),
  )
}
