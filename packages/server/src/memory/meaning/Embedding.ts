/**
 * Computes the vectors of records in the background, in batches: first of all existing records, by id, then of what the
 * journal says was written since. The progress is a row, written with the vectors in one transaction, so that a kill -9
 * costs one batch. A new model starts from the beginning; vectors of the previous one are ignored.
 *
 * Not a named reader (`Readers`): a model is slow and answers whole batches, so it is asked outside a transaction and not
 * once per event. And a model that is away for weeks is no failure of a reader: it must not keep the journal's
 * retention waiting.
 */
import { type MemoryId, MemoryEmbedding, type PrincipalId } from "@stoa/contract"
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type Embedder, Embeddings } from "../../models/Embeddings.ts"
import type { ModelFailure } from "../../models/request/ModelFailure.ts"
import { isTakable, leaseTimes } from "../../store/leases/Claims.ts"
import { Holder, isGone } from "../../store/leases/Holder.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { repeatOnBell } from "../../store/journal/readers/Following.ts"
import { Vectors } from "../../store/search/vectors/Vectors.ts"
import { type RecordRow, recordFrom } from "../records/rows.ts"
import { digestOf, textsOf } from "./texts.ts"

/** Records per batch, and about how many texts. */
const atOnce = 64
const textsAtOnce = 96
const lease = Duration.seconds(30)
/** The cursor is stored after this many events, even if none of them is about a record. */
const farBehind = 1000
const firstWait = 1000
const longestWait = 60_000

interface State {
  readonly model: string
  readonly reached: string
  readonly sweptAt: string | null
  readonly cursor: number
  readonly problem: string | null
}

interface Todo {
  readonly id: MemoryId
  readonly texts: ReadonlyArray<string>
  readonly digest: string
}

type Vector = ReadonlyArray<number>

const asTodo = (row: RecordRow): Todo => {
  const texts = textsOf(recordFrom(row))
  return { id: row.id, texts, digest: digestOf(texts) }
}

/** The model refuses this text, but not the address or the key. */
const isOfText = ({ status }: ModelFailure): boolean => status === 400 || status === 413 || status === 422

export class Embedding extends Context.Service<
  Embedding,
  {
    /** The work itself runs until the house closes. */
    readonly progress: (owner: PrincipalId) => Effect.Effect<MemoryEmbedding>
  }
>()("server/memory/meaning/Embedding") {
  static readonly layer = Layer.effect(
    Embedding,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const vectors = yield* Vectors
      const embeddings = yield* Embeddings
      const holder = yield* Holder
      const me = holder.id
      const held = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))
      /** Whether this process embeds, or waits until the one that does is gone. Otherwise there is no model. */
      let part: "embeds" | "waits" | "none" = "none"
      const changes = journal.bellOf(
        ["memory.written", "house.reloaded"],
        ({ kind }) => kind !== "memory.written" || part === "embeds",
      )
      const reloads = journal.bellOf(["house.reloaded"])

      const state = Effect.map(
        sql<State>`SELECT model, reached, swept_at, cursor, problem FROM memory_embedding`,
        (rows) => rows[0],
      )

      /** One process at a time. A new model starts from the beginning, and reads events from here on. */
      const claim = Effect.fnUntraced(function* (model: string) {
        const times = leaseTimes(yield* DateTime.now, lease)
        const cursor = yield* journal.end
        yield* sql`INSERT INTO memory_embedding (one, model, reached, cursor) VALUES (1, ${model}, '', ${cursor})
          ON CONFLICT (one) DO NOTHING`
        const rows = yield* sql`UPDATE memory_embedding SET lease_owner = ${me}, lease_until = ${times.until}
          WHERE ${isTakable(sql, "memory_embedding", me, times, (column) => isGone(sql, column))} RETURNING one`
        if (rows.length === 0) return undefined
        yield* sql`UPDATE memory_embedding SET model = ${model}, reached = '', swept_at = NULL, problem = NULL,
          cursor = ${cursor} WHERE model <> ${model}`
        return yield* state
      })

      const letGo = Effect.ignore(
        sql`UPDATE memory_embedding SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ${me}`,
      )

      /** Those of these records that have no vectors of this model for their present text. */
      const lacking = Effect.fnUntraced(function* (model: string, rows: ReadonlyArray<RecordRow>) {
        const have = yield* vectors.digests(
          model,
          rows.map(({ id }) => id),
        )
        return rows.map(asTodo).filter(({ digest, id }) => have.get(id) !== digest)
      })

      /** If the model refuses one of the texts, each record is sent separately. */
      const embed = Effect.fnUntraced(function* (embedder: Embedder, todo: ReadonlyArray<Todo>) {
        const given = new Map<MemoryId, ReadonlyArray<Vector>>()
        const all = yield* Effect.result(embedder.embed(todo.flatMap(({ texts }) => texts)))
        if (all._tag === "Success") {
          let from = 0
          for (const { id, texts } of todo) given.set(id, all.success.slice(from, (from += texts.length)))
          return given
        }
        if (!isOfText(all.failure)) return yield* all.failure
        for (const { id, texts } of todo) {
          const one = yield* Effect.result(embedder.embed(texts))
          if (one._tag === "Failure" && !isOfText(one.failure)) return yield* one.failure
          given.set(id, one._tag === "Success" ? one.success : [])
        }
        return given
      })

      const isStill = Effect.fnUntraced(function* ({ digest, id }: Todo) {
        const rows = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${id} AND deleted_at IS NULL ${held}`
        return rows[0] !== undefined && asTodo(rows[0]).digest === digest
      })

      /**
       * Stores vectors and progress. A record that was changed or removed meanwhile gets none: its own event comes
       * later.
       */
      const commit = Effect.fnUntraced(function* (
        model: string,
        todo: ReadonlyArray<Todo>,
        given: ReadonlyMap<MemoryId, ReadonlyArray<Vector>>,
        next: Partial<Pick<State, "reached" | "sweptAt" | "cursor">>,
      ) {
        // Sorted by id, like other writers of several records.
        for (const one of todo.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
          if (yield* isStill(one))
            yield* vectors.put({ ref: one.id, model, digest: one.digest }, given.get(one.id) ?? [])
        yield* sql`UPDATE memory_embedding SET ${sql.update({ ...next, problem: null } as never)}
          WHERE lease_owner = ${me} AND model = ${model}`
      }, Effect.orDie)

      /** The next records, and the progress after them. Null: there is nothing to do. */
      const nextOf = Effect.fnUntraced(function* ({ cursor, reached, sweptAt }: State) {
        if (sweptAt === null) {
          const rows = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE id > ${reached} AND deleted_at IS NULL
            ORDER BY id LIMIT ${atOnce}`
          const last = rows.at(-1)
          const done = rows.length < atOnce ? { sweptAt: DateTime.formatIso(yield* DateTime.now) } : {}
          return { rows, next: { ...(last === undefined ? {} : { reached: last.id }), ...done } }
        }
        // Read before the events: events that are appended in between are not skipped.
        const end = yield* journal.end
        // Retention does not wait for a model that is away: what was written meanwhile is found among the records.
        if ((yield* journal.floor) > cursor) return { rows: [], next: { reached: "", sweptAt: null, cursor: end } }
        const events = yield* journal.read({ after: cursor, limit: atOnce, kinds: ["memory.written"] })
        const last = events.at(-1)
        // Stored only from time to time: it must stay ahead of what retention removes.
        if (last === undefined) return end - cursor > farBehind ? { rows: [], next: { cursor: end } } : null
        const ids = events.flatMap((event) => (event.kind === "memory.written" ? [event.body.record] : []))
        const rows = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE ${sql.in("id", [...new Set(ids)])}
          AND deleted_at IS NULL ORDER BY id`
        return { rows, next: { cursor: last.cursor } }
      })

      /** Few texts at a time, however long the records are: the last part stores the progress. */
      const batch = Effect.fnUntraced(function* (embedder: Embedder, stood: State) {
        const found = yield* nextOf(stood)
        if (found === null) return false
        const todo = yield* lacking(embedder.id, found.rows)
        const parts: Array<Array<Todo>> = [[]]
        for (const one of todo) {
          const last = parts.at(-1)!
          const size = last.reduce((sum, { texts }) => sum + texts.length, 0)
          if (last.length > 0 && size + one.texts.length > textsAtOnce) parts.push([one])
          else last.push(one)
        }
        for (const [at, part] of parts.entries()) {
          const given = part.length === 0 ? new Map() : yield* embed(embedder, part)
          const isLast = at === parts.length - 1
          yield* claim(embedder.id)
          yield* journal.transact(commit(embedder.id, part, given, isLast ? found.next : {}))
        }
        return true
      })

      const trouble = (problem: string) =>
        Effect.ignore(sql`UPDATE memory_embedding SET problem = ${problem.slice(0, 1000)} WHERE lease_owner = ${me}`)

      /** Works until nothing is left to do, there is no model, or another process works. */
      const look = Effect.gen(function* () {
        let wait = firstWait
        while (true) {
          const heard = reloads.rung
          const current = yield* Effect.result(embeddings.current)
          if (current._tag === "Failure" || Option.isNone(current.success)) {
            if (current._tag === "Failure") yield* trouble(current.failure)
            if (part === "embeds") yield* letGo
            part = "none"
            return
          }
          const embedder = current.success.value
          const stood = yield* claim(embedder.id)
          part = stood === undefined ? "waits" : "embeds"
          if (stood === undefined) return
          const done = yield* Effect.result(batch(embedder, stood))
          if (done._tag === "Success") {
            wait = firstWait
            if (done.success) continue
            return
          }
          const failure = done.failure
          if (failure._tag !== "ModelFailure") return yield* Effect.die(failure)
          yield* trouble(failure.message)
          yield* Effect.logWarning(`Embedding of memory waits: ${failure.message}`)
          yield* Effect.timeoutOption(reloads.waitPast(heard), Math.max(wait, failure.afterMs ?? 0))
          wait = Math.min(wait * 2, longestWait)
        }
      }).pipe(Effect.orDie)

      const progress: Embedding["Service"]["progress"] = Effect.fn("Embedding.progress")(function* (owner) {
        const current = yield* Effect.result(embeddings.current)
        const stood = yield* state
        const model = current._tag === "Success" ? Option.getOrUndefined(current.success) : undefined
        const rows = yield* sql<Record<"records" | "embedded" | "refused", number | string | null>>`SELECT
          count(*) AS records, sum(CASE WHEN length(v.v) > 0 THEN 1 ELSE 0 END) AS embedded,
          sum(CASE WHEN length(v.v) = 0 THEN 1 ELSE 0 END) AS refused FROM memory_records r
          LEFT JOIN search_vectors v ON v.ref = r.id AND v.part = 0 AND v.model = ${model?.id ?? ""}
          WHERE r.owner = ${owner} AND r.deleted_at IS NULL`
        const counts = rows[0]!
        const [records, embedded, refused] = [counts.records, counts.embedded, counts.refused].map(Number) as [
          number,
          number,
          number,
        ]
        const problem = current._tag === "Failure" ? current.failure : (stood?.problem ?? undefined)
        const off = current._tag === "Success" && model === undefined
        const open = stood === undefined || stood.model !== model?.id || stood.sweptAt === null
        return new MemoryEmbedding({
          state: off
            ? "off"
            : problem !== undefined
              ? "failing"
              : open || embedded + refused < records
                ? "working"
                : "ready",
          model: model?.name ?? null,
          records,
          embedded,
          refused,
          ...(off || problem === undefined ? {} : { problem }),
        })
      }, Effect.orDie)

      yield* Effect.addFinalizer(() => letGo)
      yield* holder.eachBeat(
        Effect.sync(() => {
          if (part === "waits") changes.ring()
        }),
      )
      yield* repeatOnBell("embedding memory", changes, look)
      return Embedding.of({ progress })
    }),
  )
}
