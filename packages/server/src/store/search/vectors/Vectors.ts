/**
 * The vectors of texts, and which of them are nearest to a question. A vector is reached only through the rows of the
 * scopes that a caller may read, like words; a search looks at a limited number of rows.
 */
import { Array as Arr, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Transaction } from "../../journal/Journal.ts"
import { filterToken } from "../index/entries.ts"
import { bytesOf, merged, type Near, nearestOf, type VectorRow } from "./nearness.ts"

/** A question as the model embedded it. */
export interface QuestionVector {
  /** Vectors of other models are ignored. */
  readonly model: string
  readonly vector: ReadonlyArray<number>
}

/** The most rows to compare with one question. */
const maxCompared = 5000
/** How many of the newest rows of a scope are searched for those that pass the filters. */
const maxLooked = 10_000
const atOnce = 500
const away = 2

export class Vectors extends Context.Service<
  Vectors,
  {
    /** Replaces the vectors of a text. Empty: the model refused the text. */
    readonly put: (
      text: { readonly ref: string; readonly model: string; readonly digest: string },
      vectors: ReadonlyArray<ReadonlyArray<number>>,
    ) => Effect.Effect<void, never, Transaction>
    /** Removes the vectors of a text, except those made from the text with this digest. */
    readonly forget: (ref: string, digest?: string) => Effect.Effect<void, never, Transaction>
    /** For those of these refs that have vectors of this model: the digest of the text they were made from. */
    readonly digests: (model: string, refs: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>>
    /** The nearest of these rows and of the newest in the scopes, each text once. */
    readonly nearest: (
      scopes: ReadonlyArray<number>,
      meaning: QuestionVector,
      filters: ReadonlyArray<string>,
      known: ReadonlyArray<number>,
    ) => Effect.Effect<ReadonlyArray<Near>>
  }
>()("server/store/search/Vectors") {
  static readonly layer = Layer.effect(
    Vectors,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const forget: Vectors["Service"]["forget"] = (ref, digest) =>
        Effect.orDie(
          Effect.asVoid(
            sql`DELETE FROM search_vectors WHERE ref = ${ref} ${digest === undefined ? sql`` : sql`AND digest <> ${digest}`}`,
          ),
        )

      const put: Vectors["Service"]["put"] = Effect.fn("Vectors.put")(function* ({ digest, model, ref }, vectors) {
        yield* forget(ref)
        const rows = vectors.map((vector, part) => ({ ref, part, model, digest, v: bytesOf(vector) }))
        const refused = { ref, part: 0, model, digest, v: new Uint8Array() }
        yield* sql`INSERT INTO search_vectors ${sql.insert((rows.length === 0 ? [refused] : rows) as never)}`
      }, Effect.orDie)

      const digests: Vectors["Service"]["digests"] = Effect.fnUntraced(function* (model, refs) {
        if (refs.length === 0) return new Map()
        const rows = yield* sql<{ ref: string; digest: string }>`SELECT ref, digest FROM search_vectors
          WHERE ${sql.in("ref", refs)} AND model = ${model} AND part = 0`
        return new Map(rows.map(({ digest, ref }) => [ref, digest]))
      }, Effect.orDie)

      const has = (token: string) =>
        sql.onDialectOrElse({
          pg: () => sql`strpos(' ' || tokens || ' ', ${` ${token} `}) > 0`,
          orElse: () => sql`instr(' ' || tokens || ' ', ${` ${token} `}) > 0`,
        })

      const newest = Effect.fnUntraced(function* (scope: number, filters: ReadonlyArray<string>, limit: number) {
        if (filters.length === 0)
          return yield* sql<{ seq: number }>`SELECT seq FROM search_index WHERE scope = ${scope}
            ORDER BY seq DESC LIMIT ${limit}`
        return yield* sql<{ seq: number }>`SELECT seq FROM (SELECT seq, tokens FROM search_index WHERE scope = ${scope}
          ORDER BY seq DESC LIMIT ${maxLooked}) AS looked WHERE ${sql.and(filters.map((one) => has(filterToken(one))))}
          ORDER BY seq DESC LIMIT ${limit}`
      })

      const columns = sql.literal("i.seq, i.ref, i.scope, i.series, i.place, v.v")
      const joined = sql.literal("search_index i JOIN search_vectors v ON v.ref = i.ref AND v.part = i.part")

      const rowsAt = Effect.fnUntraced(function* (seqs: ReadonlyArray<number>, model: string) {
        const rows: Array<VectorRow> = []
        for (const some of Arr.chunksOf(seqs, atOnce))
          rows.push(
            ...(yield* sql<VectorRow>`SELECT ${columns} FROM ${joined}
              WHERE ${sql.in("i.seq", some)} AND v.model = ${model}`),
          )
        return rows
      })

      const neighboursOf = Effect.fnUntraced(function* (best: ReadonlyArray<Near>, model: string) {
        const wanted = best.flatMap(({ row }) =>
          row.series === null
            ? []
            : [
                sql`(i.scope = ${row.scope} AND i.series = ${row.series}
                  AND i.place BETWEEN ${row.place - away} AND ${row.place + away})`,
              ],
        )
        if (wanted.length === 0) return []
        return yield* sql<VectorRow>`SELECT ${columns} FROM ${joined} WHERE v.model = ${model} AND ${sql.or(wanted)}`
      })

      /** The best row of each text, up to `merged` texts. */
      const byText = (near: ReadonlyArray<Near>): ReadonlyArray<Near> => {
        const best = new Map<string, Near>()
        for (const one of near) {
          if (best.size === merged) break
          if (!best.has(one.row.ref)) best.set(one.row.ref, one)
        }
        return [...best.values()]
      }

      const nearest: Vectors["Service"]["nearest"] = Effect.fn("Vectors.nearest")(function* (
        scopes,
        { model, vector },
        filters,
        known,
      ) {
        const seqs = new Set(known)
        for (const scope of scopes) {
          if (seqs.size >= maxCompared) break
          for (const { seq } of yield* newest(scope, filters, maxCompared - seqs.size)) seqs.add(seq)
        }
        const rows = yield* rowsAt([...seqs], model)
        const best = byText(nearestOf(rows, vector))
        // The best are ranked once more, with neighbours that were not compared before.
        const have = new Set(rows.map(({ seq }) => seq))
        const lent = (yield* neighboursOf(best, model)).filter(({ seq }) => !have.has(seq))
        if (lent.length === 0) return best
        const leading = new Set(best.map(({ row }) => row.seq))
        return byText(nearestOf([...rows, ...lent], vector, ({ seq }) => leading.has(seq)))
      }, Effect.orDie)

      return Vectors.of({ put, forget, digests, nearest })
    }),
  )
}
