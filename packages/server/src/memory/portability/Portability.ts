/**
 * Exports, imports and erases one owner's memory. Unchanged lines of this house are restored as they were: ids, times,
 * authors and history. Any other line counts as written now by the caller; one that claims more is refused. Each step
 * is one transaction and can be repeated without effect, so that interrupted work is simply done again.
 */
import {
  BadInput,
  type Caller,
  type Forbidden,
  type MemoryImported,
  type MemoryLine,
  type MemoryNamespace,
  type Missing,
  type Page,
  type PageQuery,
  type Principal,
  type PrincipalId,
  type StaleVersion,
  type TooLarge,
  type WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Secrets } from "../../access/secrets/Secrets.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { decodeCursor, encodeCursor, largestPage } from "../../store/Pages.ts"
import { authorsIn, authorsText } from "../records/authorship.ts"
import type { MemoryActor } from "../records/recordReads.ts"
import { isSealed, lineOf, type LineRow, rowOf, sealed, type ShareRow } from "./memoryLines.ts"
import { Memories } from "../Memories.ts"
import { Shares } from "../Shares.ts"
import type { RecordRow, VersionRow } from "../records/rows.ts"
import { slotOf } from "../records/rules.ts"
import { makeStoring } from "../records/storing.ts"
import { makeVersions } from "../records/versions.ts"

const erasedAtOnce = 50

type Refused = BadInput | Missing | StaleVersion | WrongState | TooLarge | Forbidden

export class Portability extends Context.Service<
  Portability,
  {
    /** Every version of every record of the caller, in order. */
    readonly export: (by: MemoryActor, query: PageQuery) => Effect.Effect<Page<MemoryLine>>
    /** All of these lines or none. */
    readonly import: (
      by: MemoryActor,
      lines: ReadonlyArray<MemoryLine>,
    ) => Effect.Effect<MemoryImported, Refused, Transaction | Caller>
    /** Deletes everything the caller owns, pinned or not, with its history, and returns how many records that were. */
    readonly erase: (owner: PrincipalId) => Effect.Effect<number>
    /** Erases one's own, or says how much that would be. It cannot be undone, so it takes one's own name. */
    readonly eraseOwn: (
      by: Pick<Principal, "id" | "name">,
      options: { readonly confirm: string; readonly dryRun: boolean },
    ) => Effect.Effect<number, BadInput>
    /** Continues an erasure that was interrupted. */
    readonly resume: Effect.Effect<void>
  }
>()("server/memory/Portability") {
  static readonly layer = Layer.effect(
    Portability,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const memories = yield* Memories
      const shares = yield* Shares
      const { about, drop, store } = yield* makeStoring
      const versions = makeVersions(sql)
      const key = (yield* Secrets).derive("memory-lines")
      const now = Effect.map(DateTime.now, DateTime.formatIso)

      const exported: Portability["Service"]["export"] = Effect.fn("Portability.export")(function* (by, query) {
        const { cursor, limit = 100 } = query
        const [record = "", version = "0"] = cursor === undefined ? [] : decodeCursor(cursor).split(" ")
        const after = Number.parseInt(version, 10) || 0
        const rows =
          yield* sql<LineRow>`SELECT ${versions.columns}, r.namespace, r.kind, r.key, r.owner, r.created_at, r.deleted_at,
            r.version AS newest FROM ${versions.tables} WHERE r.owner = ${by.id} AND (r.id > ${record} OR (r.id = ${record} AND v.version > ${after}))
            AND (r.expires_at IS NULL OR r.pinned = ${true} OR r.expires_at > ${yield* now})
          ORDER BY r.id, v.version LIMIT ${limit + 1}`
        const ids = [...new Set(rows.map((row) => row.record))]
        const shares =
          ids.length === 0
            ? []
            : yield* sql<ShareRow>`SELECT record, principal, access FROM memory_shares WHERE ${sql.in("record", ids)}
                ORDER BY principal`
        const items: Array<MemoryLine> = []
        let size = 0
        for (const row of rows.slice(0, limit)) {
          size += Buffer.byteLength(row.content)
          if (size > largestPage && items.length > 0) break
          items.push(sealed(key, by.id, lineOf(row, shares)))
        }
        const last = items.at(-1)
        const more = items.length < rows.length && last !== undefined
        return { items, next: more ? encodeCursor(`${last.id} ${last.version}`) : null }
      }, Effect.orDie)

      const bad = (at: number, message: string) => new BadInput({ issues: [{ path: `lines.${at}`, message }] })

      const storedOf = (id: string) =>
        Effect.map(Effect.orDie(sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${id}`), (rows) => rows[0])

      const versionsAt = (by: MemoryActor, slot: string, namespace: MemoryNamespace = "stoa") =>
        Effect.orDie(
          sql<{ version: number }>`SELECT version FROM memory_records WHERE owner = ${by.id}
            AND namespace = ${namespace} AND slot = ${slot} AND deleted_at IS NULL`,
        )

      /** Restores a sealed line as it was, unless it is already there. */
      const bringBack = Effect.fnUntraced(function* (by: MemoryActor, line: MemoryLine, at: number) {
        const there = yield* storedOf(line.id!)
        if (there !== undefined && there.version >= line.version!) return false
        const row = rowOf(line, by.id, slotOf(line.namespace!, line.kind, line.key!))
        const taken =
          there === undefined && row.deletedAt === null ? yield* versionsAt(by, row.slot, row.namespace) : []
        if (taken.length > 0)
          return yield* bad(at, `there is another record with the key "${row.key}"; delete it first`)
        yield* store({ ...row, bytes: there?.bytes ?? null }, there)
        const stored = (yield* storedOf(row.id))!
        for (const { principal, right } of line.shares ?? []) {
          const known = yield* Effect.orDie(
            sql`SELECT id FROM principals WHERE id = ${principal} AND retired_at IS NULL`,
          )
          // A share that was restored is offered again; those for which there is no room are left out.
          if (known.length > 0) yield* shares.bringBack(stored, principal, right)
        }
        return true
      })

      /** Whether its claim about its author matches the stored version. */
      const isTrue = Effect.fnUntraced(function* (by: MemoryActor, line: MemoryLine) {
        const { authors, call, message } = line
        if ((line.by ?? by.id) === by.id && call === undefined && message === undefined && authors === undefined)
          return true
        const rows = yield* Effect.orDie(
          sql<
            Pick<VersionRow, "principal" | "call" | "message" | "authors">
          >`SELECT v.principal, v.call, v.message, v.authors FROM memory_versions v JOIN memory_records r ON r.id = v.record
            WHERE r.owner = ${by.id} AND v.record = ${line.id ?? ""} AND v.version = ${line.version ?? 0}`,
        )
        const was = rows[0]
        return (
          was !== undefined &&
          was.principal === (line.by ?? by.id) &&
          was.call === (call ?? null) &&
          was.message === (message ?? null) &&
          (authors === undefined || authorsText(authors) === authorsText(authorsIn(was.authors, was.principal)))
        )
      })

      /** Writes a line as the caller's own, as of now. */
      const writeDown = Effect.fnUntraced(function* (by: MemoryActor, line: MemoryLine, at: number) {
        if (line.current === false)
          return yield* bad(at, "this earlier version was changed, and history is not rewritten")
        if (!(yield* isTrue(by, line)))
          return yield* bad(
            at,
            "who wrote it, and in which call, is not yours to say; leave out by, authors, call and message",
          )
        const { content, id, kind, key: name, mediaType, namespace, tags } = line
        const change = {
          content,
          ...(mediaType === undefined ? {} : { mediaType }),
          ...(tags === undefined ? {} : { tags }),
          ...(line.public === undefined ? {} : { public: line.public }),
          ...(line.pinned === undefined ? {} : { pinned: line.pinned }),
          ...(line.expiresAt === undefined ? {} : { expiresAt: line.expiresAt }),
        }
        if (id === undefined) {
          const where = {
            ...(name === undefined ? {} : { key: name }),
            ...(namespace === undefined ? {} : { namespace }),
          }
          const was =
            name === undefined ? [] : yield* versionsAt(by, slotOf(namespace ?? "stoa", kind, name), namespace)
          const { record } = yield* memories.put(by, by.id, { kind, ...where, ...change })
          return record.version !== was[0]?.version
        }
        const there = yield* storedOf(id)
        if (there === undefined || there.owner !== by.id || there.deletedAt !== null)
          return yield* bad(at, `${id} is not one of your records; leave out the id to make a new one`)
        if (there.kind !== kind || (name !== undefined && there.key !== name))
          return yield* bad(at, "its kind and key cannot be changed; leave out the id to make a new one")
        return (yield* memories.change(by, id, change)).version > there.version
      })

      const imported: Portability["Service"]["import"] = Effect.fn("Portability.import")(function* (by, lines) {
        yield* memories.takeTurn(by.id)
        let written = 0
        for (const [at, line] of lines.entries()) {
          const ours = line.id !== undefined && isSealed(key, by.id, line)
          const done = ours ? bringBack(by, line, at) : writeDown(by, line, at)
          if (yield* Effect.catchTag(done, "WrongState", ({ detail }) => bad(at, detail.replace(/\.$/, "")))) written++
        }
        return { written, unchanged: lines.length - written }
      })

      const eraseSome = Effect.fnUntraced(function* (owner: PrincipalId, before: string) {
        yield* memories.takeTurn(owner)
        const rows = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE owner = ${owner}
          AND created_at <= ${before} ORDER BY id LIMIT ${erasedAtOnce}`
        for (const row of rows) {
          const body = { ...(yield* about(row)), version: row.version, permanent: true }
          yield* drop(row)
          yield* journal.append({ kind: "memory.deleted", body })
        }
        if (rows.length < erasedAtOnce) {
          yield* sql`DELETE FROM memory_erasures WHERE owner = ${owner}`
          yield* journal.append({ kind: "memory.erased", body: { principal: owner, before } })
        }
        return rows.length
      }, Effect.orDie)

      const finish = Effect.fnUntraced(function* (owner: PrincipalId, before: string) {
        let erased = 0
        while (true) {
          const some = yield* journal.transact(eraseSome(owner, before))
          erased += some
          if (some < erasedAtOnce) return erased
        }
      })

      const erase: Portability["Service"]["erase"] = Effect.fn("Portability.erase")(function* (owner) {
        const at = yield* now
        yield* sql`INSERT INTO memory_erasures (owner, at) VALUES (${owner}, ${at})
          ON CONFLICT (owner) DO UPDATE SET at = excluded.at`
        return yield* finish(owner, at)
      }, Effect.orDie)

      const count = Effect.fnUntraced(function* (owner: PrincipalId) {
        const rows = yield* sql<{ n: number }>`SELECT count(*) AS n FROM memory_records WHERE owner = ${owner}`
        return rows[0]!.n
      }, Effect.orDie)

      const eraseOwn: Portability["Service"]["eraseOwn"] = Effect.fn("Portability.eraseOwn")(function* (
        { id, name },
        { confirm, dryRun },
      ) {
        if (confirm !== name)
          return yield* new BadInput({
            issues: [{ path: "confirm", message: "must be your own name, as whoami returns it" }],
          })
        return yield* dryRun ? count(id) : erase(id)
      })

      const resume = Effect.gen(function* () {
        for (const { at, owner } of yield* sql<{ owner: PrincipalId; at: string }>`SELECT * FROM memory_erasures`)
          yield* finish(owner, at)
      }).pipe(Effect.orDie)

      return Portability.of({ export: exported, import: imported, erase, eraseOwn, resume })
    }),
  )
}
