/**
 * Records shared with others. A share is an offer: it is in none of its receiver's lists, searches and prompts until the
 * receiver takes it. For an agent, its owner and those who administer it take it, too, and what they share with it
 * themselves is taken. An offer that was declined stays declined, however often it is made, until its receiver takes it.
 */
import {
  Caller,
  Forbidden,
  type MemoryId,
  MemoryOffer,
  type MemoryRight,
  MemoryShare,
  Missing,
  OffersWaiting,
  type OfferState,
  type Page,
  type PageQuery,
  type Principal,
  type PrincipalId,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../access/identity/Principals.ts"
import { Grants } from "../access/rights/Grants.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { lockName } from "../store/database/dialect/Locks.ts"
import { decodeCursor, encodeCursor } from "../store/Pages.ts"
import { SearchIndex } from "../store/search/SearchIndex.ts"
import { scopeOf } from "./records/indexing.ts"
import { makeReach, type ShareRow } from "./records/reaching.ts"
import type { MemoryActor } from "./records/recordReads.ts"
import type { RecordRow } from "./records/rows.ts"
import { makeStoring } from "./records/storing.ts"

/** The most offers that one principal has open with another, and with all. */
const maxOffers = { perSharer: 20, all: 200 } as const
/** How much of its text an offer shows, in characters. */
const maxText = 2000
/** Of how many agents the waiting offers are counted. */
const maxAgents = 100

interface OfferRow extends Pick<RecordRow, "id" | "owner" | "namespace" | "kind" | "key" | "updatedAt"> {
  readonly access: MemoryRight
  readonly state: OfferState
  readonly offeredAt: string
  readonly size: number
  readonly text: string | null
}

interface WaitingRow {
  readonly id: PrincipalId
  readonly name: string
  readonly waiting: number | string
}

export class Shares extends Context.Service<
  Shares,
  {
    readonly of: (by: MemoryActor, id: MemoryId) => Effect.Effect<Page<MemoryShare>, Missing>
    /** `null` revokes the right. */
    readonly share: (
      by: MemoryActor,
      id: MemoryId,
      receiver: PrincipalId,
      right: MemoryRight | null,
    ) => Effect.Effect<void, Missing | WrongState | Forbidden, Transaction | Caller>
    /** The same for the owner's own record, as its row is, deleted or not. Without room for it there is no offer. */
    readonly bringBack: (
      row: RecordRow,
      receiver: PrincipalId,
      right: MemoryRight,
    ) => Effect.Effect<void, WrongState, Transaction | Caller>
    /** What others share with a receiver, the newest first; how it begins only if that is asked for. */
    readonly offers: (
      receiver: PrincipalId,
      query: PageQuery & { readonly state?: OfferState; readonly withText?: boolean },
    ) => Effect.Effect<Page<MemoryOffer>, Forbidden | Missing, Caller>
    /** How many wait for the caller's answer. */
    readonly waiting: Effect.Effect<OffersWaiting, never, Caller>
    readonly answer: (
      receiver: PrincipalId,
      id: MemoryId,
      isTaken: boolean,
    ) => Effect.Effect<void, Forbidden | Missing, Transaction | Caller>
  }
>()("server/memory/Shares") {
  static readonly layer = Layer.effect(
    Shares,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const index = yield* SearchIndex
      const principals = yield* Principals
      const grants = yield* Grants
      const { about, indexed, reweigh, sharesOf } = yield* makeStoring
      const { held, reach, shareOf } = makeReach(sql)
      const now = Effect.map(DateTime.now, DateTime.formatIso)

      /** Whether the caller answers for a receiver: for itself, and for agents that it owns or administers. */
      const speaksFor = Effect.fnUntraced(function* ({ id, kind, name, owner }: Principal) {
        const caller = yield* Caller
        if (caller.principal.id === id) return true
        if (kind !== "agent") return false
        if (owner === caller.principal.id) return true
        return (yield* grants.judge(caller, "admin", `principals/${name}`)).verdict === "allow"
      })
      const requireVoice = Effect.fnUntraced(function* (id: PrincipalId) {
        const receiver = yield* principals.get(id)
        if (yield* speaksFor(receiver)) return
        return yield* new Forbidden({
          action: "admin",
          resource: `principals/${receiver.name}`,
          rule: "the receiver, its owner or its admins",
          instead: "Whoever is offered a record takes it; for an agent, its owner and its admins can, too.",
        })
      })

      const of: Shares["Service"]["of"] = Effect.fn("Shares.of")(function* (by, id) {
        yield* Effect.catchTag(reach(by, id, "read"), "Forbidden", Effect.die)
        const items = (yield* sharesOf(id)).map(
          ({ access, createdAt, principal, state }) =>
            new MemoryShare({ principal, right: access, state, createdAt: DateTime.makeUnsafe(createdAt) }),
        )
        return { items, next: null }
      })

      /** Why there can be no more offers to this receiver, if too many wait for an answer. */
      const faultOf = Effect.fnUntraced(function* (owner: PrincipalId, receiver: PrincipalId) {
        yield* Effect.orDie(lockName(sql, "memory offers", receiver))
        const counted = yield* Effect.orDie(
          sql<{
            own: number
            n: number
          }>`SELECT count(*) AS n, COALESCE(sum(CASE WHEN r.owner = ${owner} THEN 1 ELSE 0 END), 0) AS own
            FROM memory_shares s JOIN memory_records r ON r.id = s.record
            WHERE s.principal = ${receiver} AND s.state = 'pending'`,
        )
        const { n, own } = counted[0]!
        const most = own >= maxOffers.perSharer ? maxOffers.perSharer : maxOffers.all
        if (own < maxOffers.perSharer && n < maxOffers.all) return undefined
        return new WrongState({
          detail: `They have not answered ${most} offers ${most === maxOffers.all ? "of others" : "of yours"} yet. Share this when they have taken or declined some, or take some back.`,
        })
      })

      /** Tells the receiver, too, who need not be a reader, and whoever owns it if it is an agent. */
      const told = Effect.fnUntraced(function* (row: RecordRow, reader: PrincipalId) {
        if (row.deletedAt === null) yield* indexed(row)
        const written = yield* about(row)
        const { owner } = yield* Effect.orDie(principals.get(reader))
        const told = owner === null ? [reader] : [reader, owner]
        return { ...written, readers: [...new Set([...written.readers, ...told])], reader }
      })

      const offer = Effect.fnUntraced(function* (
        row: RecordRow,
        receiver: PrincipalId,
        right: MemoryRight,
        whenFull: (fault: WrongState) => Effect.Effect<void, WrongState>,
      ) {
        const there = yield* shareOf(row.id, receiver)
        const before = (yield* sharesOf(row.id)).length
        const isTaken = yield* Effect.flatMap(Effect.orDie(principals.get(receiver)), speaksFor)
        const fault = there === undefined && !isTaken ? yield* faultOf(row.owner, receiver) : undefined
        if (fault !== undefined) return yield* whenFull(fault)
        const at = yield* now
        const share = {
          record: row.id,
          principal: receiver,
          access: right,
          createdAt: there?.createdAt ?? at,
          state: isTaken ? "taken" : (there?.state ?? "pending"),
          answeredBy: isTaken ? (yield* Caller).principal.id : null,
          answeredAt: isTaken ? at : null,
        }
        yield* Effect.orDie(
          sql`INSERT INTO memory_shares ${sql.insert(share)} ON CONFLICT (record, principal)
            DO UPDATE SET access = excluded.access, state = excluded.state`,
        )
        yield* reweigh(row, before)
        yield* journal.append({ kind: "memory.shared", body: { ...(yield* told(row, receiver)), right } })
      })

      const bringBack: Shares["Service"]["bringBack"] = (row, receiver, right) =>
        offer(row, receiver, right, () => Effect.void)

      const share: Shares["Service"]["share"] = Effect.fn("Shares.share")(function* (by, id, receiver, right) {
        const row = yield* reach(by, id, "own")
        if (receiver === row.owner) return yield* new WrongState({ detail: "They own this record already." })
        if (right !== null) return yield* offer(row, receiver, right, Effect.fail)
        const before = (yield* sharesOf(id)).length
        // What was declined stays so: to offer it anew is not to ask again.
        yield* Effect.orDie(
          sql`DELETE FROM memory_shares WHERE record = ${id} AND principal = ${receiver} AND state <> 'declined'`,
        )
        yield* reweigh(row, before)
        yield* index.remove(id, scopeOf(receiver))
        yield* journal.append({ kind: "memory.shared", body: { ...(yield* told(row, receiver)), right } })
      })

      const isThere = Effect.map(
        now,
        (at) => sql`r.deleted_at IS NULL AND (r.expires_at IS NULL OR r.pinned = ${true} OR r.expires_at > ${at})`,
      )

      const offers: Shares["Service"]["offers"] = Effect.fn("Shares.offers")(function* (receiver, query) {
        yield* requireVoice(receiver)
        const { cursor, limit = 50, state = "pending", withText = false } = query
        const [at = "", id = ""] = cursor === undefined ? [] : decodeCursor(cursor).split(" ")
        const after =
          cursor === undefined ? sql`` : sql`AND (s.created_at < ${at} OR (s.created_at = ${at} AND s.record < ${id}))`
        const rows = yield* Effect.orDie(
          sql<OfferRow>`SELECT r.id, r.owner, r.namespace, r.kind, r.key, r.updated_at, length(r.content) AS size,
            ${withText ? sql`substr(r.content, 1, ${maxText})` : sql`NULL`} AS text, s.access, s.state, s.created_at AS offered_at FROM memory_shares s JOIN memory_records r ON r.id = s.record
            WHERE s.principal = ${receiver} AND s.state = ${state} AND ${yield* isThere} ${after}
            ORDER BY s.created_at DESC, s.record DESC LIMIT ${limit + 1}`,
        )
        const items = rows.slice(0, limit).map(
          ({ access, offeredAt, size, state: answered, text, updatedAt, ...row }) =>
            new MemoryOffer({
              ...row,
              ...(text === null ? {} : { text }),
              right: access,
              state: answered,
              size,
              offeredAt: DateTime.makeUnsafe(offeredAt),
              updatedAt: DateTime.makeUnsafe(updatedAt),
            }),
        )
        const last = rows[limit - 1]
        return {
          items,
          next: rows.length > limit && last !== undefined ? encodeCursor(`${last.offeredAt} ${last.id}`) : null,
        }
      })

      const waiting = Effect.gen(function* () {
        const { principal: me } = yield* Caller
        const pending = sql`count(*) AS waiting FROM memory_shares s JOIN memory_records r ON r.id = s.record
          JOIN principals p ON p.id = s.principal WHERE s.state = 'pending' AND p.retired_at IS NULL AND ${yield* isThere}`
        const mine = yield* sql<WaitingRow>`SELECT p.id, p.name, ${pending} AND p.id = ${me.id} GROUP BY p.id, p.name`
        const theirs = yield* sql<WaitingRow>`SELECT p.id, p.name, ${pending} AND p.kind = 'agent' AND p.id <> ${me.id}
          GROUP BY p.id, p.name, p.owner, p.name_key
          ORDER BY CASE WHEN p.owner = ${me.id} THEN 0 ELSE 1 END, p.name_key LIMIT ${maxAgents}`
        const agents: Array<{ id: PrincipalId; name: string; waiting: number }> = []
        for (const { id, name, waiting: count } of theirs)
          if (yield* speaksFor(yield* principals.get(id))) agents.push({ id, name, waiting: Number(count) })
        const own = Number(mine[0]?.waiting ?? 0)
        return new OffersWaiting({ all: agents.reduce((sum, one) => sum + one.waiting, own), own, agents })
      }).pipe(Effect.orDie, Effect.withSpan("Shares.waiting"))

      const answer: Shares["Service"]["answer"] = Effect.fn("Shares.answer")(function* (receiver, id, isTaken) {
        yield* requireVoice(receiver)
        const rows = yield* Effect.orDie(
          sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${id} AND deleted_at IS NULL ${held}`,
        )
        const row = rows[0]
        const there = yield* shareOf(id, receiver)
        if (row === undefined || there === undefined) return yield* new Missing({ noun: "offer", ref: id })
        const state: ShareRow["state"] = isTaken ? "taken" : "declined"
        if (there.state === state) return
        yield* Effect.orDie(
          sql`UPDATE memory_shares SET state = ${state}, answered_by = ${(yield* Caller).principal.id},
            answered_at = ${yield* now} WHERE record = ${id} AND principal = ${receiver}`,
        )
        if (!isTaken) yield* index.remove(id, scopeOf(receiver))
        yield* journal.append({ kind: "memory.answered", body: { ...(yield* told(row, receiver)), taken: isTaken } })
      })

      return Shares.of({ of, share, bringBack, offers, waiting, answer })
    }),
  )
}
