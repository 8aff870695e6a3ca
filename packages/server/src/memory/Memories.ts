/**
 * Versioned records that outlive a conversation. Every change keeps the previous version, a write that expects another
 * version is refused, a pinned record cannot be deleted, and a record that a room of the house writes is changed by
 * that room alone, whichever tool tries. The credential determines the caller; a record that the caller may not see
 * looks missing.
 */
import {
  type BadInput,
  Forbidden,
  largestMemory,
  type MemoryAuthors,
  type MemoryChange,
  type MemoryDiff,
  type MemoryId,
  type MemoryNamespace,
  type MemoryRecord,
  type MemoryVersion,
  Missing,
  type NewMemory,
  type Page,
  type PageQuery,
  type PrincipalId,
  StaleVersion,
  TooLarge,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { lockName } from "../store/database/dialect/Locks.ts"
import { type SearchAnswer, SearchIndex } from "../store/search/SearchIndex.ts"
import { authorsAfter, authorsIn, authorsText } from "./records/authorship.ts"
import { changeOf, momentText } from "./records/changing.ts"
import { diffOf } from "./records/diff.ts"
import { allowedBy, makeReach } from "./records/reaching.ts"
import { type MemoryActor, makeRecordReads, type MemoryQuery } from "./records/recordReads.ts"
import { hasEnded } from "./upkeep/expiry.ts"
import { scopeOf } from "./records/indexing.ts"
import { Meanings } from "./meaning/Meanings.ts"
import { type RecordRow, recordFrom } from "./records/rows.ts"
import { jsonFault, kindFault, memoryFault, roomFault, slotOf } from "./records/rules.ts"
import { makeRetaining } from "./upkeep/retaining.ts"
import { makeStoring } from "./records/storing.ts"
import { makeVersionReads } from "./records/versionReads.ts"

export type { MemoryActor } from "./records/recordReads.ts"

/** Records that one transaction counts. */
const countedAtOnce = 20

type WriteError = Missing | StaleVersion | WrongState | TooLarge | Forbidden

export interface WrittenRecord {
  readonly record: MemoryRecord
  /** Whether this write created it. */
  readonly made: boolean
}

export class Memories extends Context.Service<
  Memories,
  {
    /** Writes by key: creates the record or its next version; a write that changes nothing creates none (S2-36). */
    readonly put: (
      by: MemoryActor,
      owner: PrincipalId,
      memory: NewMemory,
    ) => Effect.Effect<WrittenRecord, WriteError, Transaction>
    /** Before the first of several records of an owner is written: two transactions that write several take turns. */
    readonly takeTurn: (owner: PrincipalId) => Effect.Effect<void, never, Transaction>
    readonly change: (
      by: MemoryActor,
      id: MemoryId,
      change: MemoryChange,
    ) => Effect.Effect<MemoryRecord, WriteError, Transaction>
    readonly get: (by: MemoryActor, id: MemoryId) => Effect.Effect<MemoryRecord, Missing>
    /** The caller's own records that contain a text, ignoring case; newest first, at most 50 (S0-40 … S0-42). */
    readonly containing: (
      by: MemoryActor,
      query: { readonly namespace: MemoryNamespace; readonly kind: string; readonly text: string },
    ) => Effect.Effect<ReadonlyArray<MemoryRecord>>
    /** A question refuses the cursor of another one. */
    readonly list: {
      (by: MemoryActor, query: Omit<MemoryQuery, "q"> & { readonly q?: never }): Effect.Effect<Page<MemoryRecord>>
      (by: MemoryActor, query: MemoryQuery): Effect.Effect<Page<MemoryRecord>, BadInput>
    }
    /** The scopes of a search in one's own memory, and which records of its answer the caller can see. */
    readonly scopes: (by: MemoryActor) => ReadonlyArray<string>
    readonly among: (
      by: MemoryActor,
      answered: SearchAnswer,
      ids: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyMap<string, MemoryRecord>>
    readonly history: (by: MemoryActor, id: MemoryId, query: PageQuery) => Effect.Effect<Page<MemoryVersion>, Missing>
    /** The changes between two versions; by default, of the newest. */
    readonly diff: (
      by: MemoryActor,
      id: MemoryId,
      versions: { readonly from?: number; readonly to?: number },
    ) => Effect.Effect<MemoryDiff, Missing | WrongState>
    readonly revert: (
      by: MemoryActor,
      id: MemoryId,
      version: number,
    ) => Effect.Effect<MemoryRecord, WriteError, Transaction>
    readonly remove: (
      by: MemoryActor,
      id: MemoryId,
      permanent: boolean,
    ) => Effect.Effect<void, Missing | WrongState | Forbidden, Transaction>
    /** Deletes the record permanently, if it has expired and is not pinned. */
    readonly expire: (id: MemoryId) => Effect.Effect<void, never, Transaction>
    /** Counts the next records that were not counted when they were written; returns the last, or null if that is all. */
    readonly countSome: (after: string) => Effect.Effect<string | null, never, Transaction>
    /** Removes versions and deleted records from before these times, in steps. */
    readonly retain: (terms: {
      readonly versions: string
      readonly deleted: string
    }) => Effect.Effect<{ readonly versions: number; readonly records: number }>
    readonly restore: (by: MemoryActor, id: MemoryId) => Effect.Effect<MemoryRecord, WriteError, Transaction>
  }
>()("server/memory/Memories") {
  static readonly layer = Layer.effect(
    Memories,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const index = yield* SearchIndex
      const now = Effect.map(DateTime.now, DateTime.formatIso)
      const { among, containing, list } = makeRecordReads(sql, index, yield* Meanings)
      const { held, reach, shareOf } = makeReach(sql)
      const { about, drop, store, weigh } = yield* makeStoring
      const versions = makeVersionReads(sql)
      /** Or is it only public for them? */
      const knows = Effect.fnUntraced(function* (by: MemoryActor, row: RecordRow) {
        return row.owner === by.id || allowedBy(yield* shareOf(row.id, by.id)) !== null
      })

      const fits = Effect.fnUntraced(function* (memory: Partial<NewMemory>) {
        const size = Buffer.byteLength(memory.content ?? "")
        if (size > largestMemory) return yield* new TooLarge({ noun: "memory", size, limit: largestMemory })
        yield* refused(memoryFault(memory))
      })

      const expected = (row: { readonly key: string; readonly version: number }, wanted: number | undefined) =>
        wanted === undefined || wanted === row.version
          ? Effect.void
          : Effect.fail(new StaleVersion({ noun: "memory", ref: row.key, expected: wanted, current: row.version }))

      /** The next version of a row, or the row itself if nothing would change. */
      const next = Effect.fnUntraced(function* (
        by: MemoryActor,
        row: RecordRow,
        change: MemoryChange,
        writers?: MemoryAuthors,
      ) {
        yield* expected(row, change.expectedVersion)
        yield* fits(change)
        const owns = by.id === row.owner
        if (!owns && (change.public !== undefined || change.pinned !== undefined || change.expiresAt !== undefined))
          return yield* new Forbidden({
            action: "manage",
            resource: `memory/${row.id}`,
            rule: "only the owner",
            instead: "You may change content and tags. Only the owner may change sharing, pin and expiry.",
          })
        const { after, fields } = changeOf(row, change)
        if (fields.length === 0) return recordFrom(row)
        yield* refused(roomFault(row, by.room, fields))
        if (fields.includes("content") || fields.includes("mediaType"))
          yield* refused(jsonFault(after.content, after.mediaType))
        const origin = originOf(by)
        // Words that come back are still by those who wrote them.
        const authors = authorsText(
          writers ?? authorsAfter(origin.principal, authorsIn(row.authors, row.principal), row, after),
        )
        const stored = { ...row, ...after, ...origin, authors, version: row.version + 1, updatedAt: yield* now }
        return yield* store(stored, row)
      })

      const bySlot = (owner: PrincipalId, namespace: MemoryNamespace, slot: string) =>
        Effect.map(
          Effect.orDie(
            sql<RecordRow>`SELECT * FROM memory_records WHERE owner = ${owner} AND namespace = ${namespace}
              AND slot = ${slot} AND deleted_at IS NULL ${held}`,
          ),
          (rows) => rows[0],
        )

      const put: Memories["Service"]["put"] = Effect.fn("Memories.put")(function* (by, owner, memory) {
        const { expectedVersion, key, kind, namespace = "stoa", ...rest } = memory
        yield* fits(memory)
        const id = newId<MemoryId>("mem")
        const slot = slotOf(namespace, kind, key ?? id)
        // Locked, so that two writers of the same key take turns.
        if (key !== undefined) yield* Effect.orDie(lockName(sql, "memory", `${owner} ${namespace} ${slot}`))
        const there = key === undefined ? undefined : yield* bySlot(owner, namespace, slot)
        if (there !== undefined && !hasEnded(there, yield* now)) {
          yield* expected(there, expectedVersion)
          yield* refused(kindFault(there, kind))
          return { record: yield* next(by, there, rest), made: false }
        }
        const { mediaType = "text/plain" } = rest
        yield* refused(roomFault({ namespace, kind }, by.room))
        yield* refused(jsonFault(rest.content, mediaType))
        yield* expected({ key: key ?? id, version: 0 }, expectedVersion)
        if (there !== undefined) yield* drop(there)
        const at = yield* now
        const row: RecordRow = {
          id,
          owner,
          namespace,
          kind,
          key: key ?? id,
          slot,
          content: rest.content,
          mediaType,
          tags: JSON.stringify([...new Set(rest.tags ?? [])]),
          public: rest.public ?? false,
          pinned: rest.pinned ?? false,
          version: 1,
          ...originOf(by),
          authors: "{}",
          createdAt: at,
          updatedAt: at,
          expiresAt: momentText(rest.expiresAt ?? null),
          deletedAt: null,
          bytes: null,
        }
        return { record: yield* store(row, undefined), made: true }
      })

      const change: Memories["Service"]["change"] = Effect.fn("Memories.change")(function* (by, id, changes) {
        return yield* next(by, yield* reach(by, id, "write"), changes)
      })

      const get: Memories["Service"]["get"] = Effect.fn("Memories.get")(function* (by, id) {
        return recordFrom(yield* Effect.catchTag(reach(by, id, "read"), "Forbidden", Effect.die))
      })

      const history: Memories["Service"]["history"] = Effect.fn("Memories.history")(function* (by, id, query) {
        const row = yield* Effect.catchTag(reach(by, id, "read"), "Forbidden", Effect.die)
        return yield* versions.page(row, yield* knows(by, row), query)
      })

      const versionOf = Effect.fnUntraced(function* (by: MemoryActor, row: RecordRow, version: number) {
        const found = yield* versions.get(row, yield* knows(by, row), version)
        if (found !== undefined) return found
        return yield* new WrongState({
          detail: `"${row.key}" has no version ${version}; its history lists the versions that are stored.`,
        })
      })

      const diff: Memories["Service"]["diff"] = Effect.fn("Memories.diff")(function* (by, id, versions) {
        const row = yield* Effect.catchTag(reach(by, id, "read"), "Forbidden", Effect.die)
        const { to = row.version } = versions
        const { from = Math.max(1, to - 1) } = versions
        const [before, after] = [yield* versionOf(by, row, from), yield* versionOf(by, row, to)]
        return {
          from,
          to,
          ...diffOf(before.content, after.content),
          tags: {
            added: after.tags.filter((tag) => !before.tags.includes(tag)),
            removed: before.tags.filter((tag) => !after.tags.includes(tag)),
          },
        }
      })

      const revert: Memories["Service"]["revert"] = Effect.fn("Memories.revert")(function* (by, id, version) {
        const row = yield* reach(by, id, "write")
        const { authors, content, mediaType, origin, tags } = yield* versionOf(by, row, version)
        const writers = authors ?? { content: [origin.principal], tags: [origin.principal] }
        return yield* next(by, row, { content, mediaType, tags }, writers)
      })

      const expire: Memories["Service"]["expire"] = Effect.fn("Memories.expire")(function* (id) {
        const rows = yield* Effect.orDie(sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${id} ${held}`)
        const row = rows[0]
        if (row === undefined || !hasEnded(row, yield* now)) return
        const body = { ...(yield* about(row)), version: row.version, permanent: true }
        yield* drop(row)
        yield* journal.append({ kind: "memory.deleted", body })
      })

      const remove: Memories["Service"]["remove"] = Effect.fn("Memories.remove")(function* (by, id, permanent) {
        const row = yield* reach(by, id, "own")
        yield* refused(roomFault(row, by.room))
        if (recordFrom(row).pinned)
          return yield* new WrongState({ detail: `"${row.key}" is pinned, so it cannot be deleted. Unpin it first.` })
        const body = { ...(yield* about(row)), version: row.version, permanent }
        if (permanent) yield* drop(row)
        else {
          yield* Effect.orDie(sql`UPDATE memory_records SET deleted_at = ${yield* now} WHERE id = ${id}`)
          yield* index.remove(id)
        }
        yield* journal.append({ kind: "memory.deleted", body })
      })

      const restore: Memories["Service"]["restore"] = Effect.fn("Memories.restore")(function* (by, id) {
        const row = yield* reach(by, id, "own", true)
        if ((yield* bySlot(row.owner, row.namespace, row.slot)) !== undefined)
          return yield* new WrongState({
            detail: `There is a newer record with the key "${row.key}". Delete that one first, or write the content there.`,
          })
        const origin = originOf(by)
        return yield* store(
          {
            ...row,
            ...origin,
            authors: authorsText(authorsIn(row.authors, row.principal)),
            deletedAt: null,
            version: row.version + 1,
            updatedAt: yield* now,
          },
          row,
        )
      })

      const countSome: Memories["Service"]["countSome"] = Effect.fn("Memories.countSome")(function* (after) {
        const rows = yield* Effect.orDie(
          sql<RecordRow>`SELECT * FROM memory_records WHERE id > ${after} AND bytes IS NULL ORDER BY id
            LIMIT ${countedAtOnce} ${held}`,
        )
        for (const row of rows) yield* weigh(row)
        return rows.length < countedAtOnce ? null : rows.at(-1)!.id
      })

      const { retain } = yield* makeRetaining
      const scopes = (by: MemoryActor) => [scopeOf(by.id)]
      return Memories.of({
        put,
        takeTurn: (owner) => Effect.orDie(lockName(sql, "memories", owner)),
        change,
        get,
        containing,
        list: list as never,
        scopes,
        among,
        history,
        diff,
        revert,
        remove,
        expire,
        countSome,
        retain,
        restore,
      })
    }),
  )
}

const originOf = ({ acting, call = null, id, message = null }: MemoryActor) => {
  return { principal: acting ?? id, call, message }
}

const refused = (detail: string | undefined) =>
  detail === undefined ? Effect.void : Effect.fail(new WrongState({ detail }))
