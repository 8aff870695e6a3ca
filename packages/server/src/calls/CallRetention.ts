/**
 * Removes expired calls and what belongs only to them: questions, files, decisions. It works in steps, each in its own
 * transaction, so that the next run continues an interrupted one.
 */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeDecisionRetention } from "../decisions/DecisionRetention.ts"
import { withinADay } from "../store/Moment.ts"
import { retentionLayer } from "../store/journal/retention/Retention.ts"
import { Files } from "../store/Files.ts"
import { isSettled } from "./road/record/lifecycle.ts"
import type { CallRow } from "./road/record/rows.ts"

/**
 * How many calls, and how many large results, are removed in one transaction, so that the writer is never held for
 * long.
 */
const atOnce = 200
const filesAtOnce = 4

interface Walked extends Pick<
  CallRow,
  "id" | "state" | "space" | "visibility" | "outputFile" | "createdAt" | "settledAt"
> {
  /** The call's note of a file that its tool made. */
  readonly made: string | null
}

const fileOf = ({ made, outputFile }: Walked): string | undefined =>
  outputFile ?? (made === null ? undefined : (JSON.parse(made) as { readonly file: string }).file)

/** A result that a space showed as a file is kept: the message holds only its name. */
const isShown = (row: Walked): boolean => row.space !== null && row.visibility !== "hidden" && fileOf(row) !== undefined

/** As many rows as have at most `filesAtOnce` files. */
const stepOf = (rows: ReadonlyArray<Walked>): ReadonlyArray<Walked> => {
  let files = 0
  const tooMany = rows.findIndex((row) => fileOf(row) !== undefined && ++files > filesAtOnce)
  return tooMany === -1 ? rows : rows.slice(0, tooMany)
}

/** Calls with the same bytes share one file: a file that another call refers to is kept. */
export const unreferredFiles = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ids: ReadonlyArray<string>) {
  const notes = new Map(ids.map((file) => [JSON.stringify({ file }), file]))
  const rows = yield* sql<{ file: string }>`SELECT output_file AS file FROM calls WHERE ${sql.in("output_file", ids)}
    UNION SELECT meta AS file FROM calls WHERE ${sql.in("meta", [...notes.keys()])} AND meta LIKE '{"file":%'`
  const referred = new Set(rows.map(({ file }) => notes.get(file) ?? file))
  return ids.filter((id) => !referred.has(id))
})

const makeRemoval = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* Files

  const drop = Effect.fnUntraced(function* (rows: ReadonlyArray<Walked>, before: string) {
    const ids = rows.map(({ id }) => id)
    yield* sql`DELETE FROM call_questions WHERE ${sql.in("call", ids)}`
    yield* sql`DELETE FROM hosted_calls WHERE ${sql.in("call", ids)}`
    yield* sql`DELETE FROM calls WHERE ${sql.in("id", ids)}`
    const theirs = [...new Set(rows.flatMap((row) => fileOf(row) ?? []))]
    if (theirs.length === 0) return 0
    return yield* files.remove(yield* unreferredFiles(sql, theirs), before)
  }, sql.withTransaction)

  /** Removes calls that ended before a moment, step by step: `cut` says how many of the rows read are one step. */
  const walk = Effect.fnUntraced(function* <E>(
    before: string,
    cut: (rows: ReadonlyArray<Walked>) => ReadonlyArray<Walked>,
    visit: (past: ReadonlyArray<Walked>) => Effect.Effect<void, E>,
  ) {
    let after = ""
    while (true) {
      const rows = yield* sql<Walked>`SELECT id, state, space, visibility, output_file, created_at, settled_at,
        CASE WHEN meta LIKE '{"file":%' THEN meta END AS made FROM calls WHERE id > ${after} ORDER BY id LIMIT ${atOnce}`
      // Ids are in order of time: after a whole step of young calls there are no old ones.
      if (rows.every((row) => row.createdAt >= before)) return
      const step = cut(rows)
      const past = step.filter((row) => isSettled(row.state) && (row.settledAt ?? "") < before && !isShown(row))
      if (past.length > 0) yield* visit(past)
      after = step.at(-1)!.id
    }
  })

  return Effect.fn("CallRetention.remove")(function* (term: string) {
    let oldest: string | undefined
    const look = (past: ReadonlyArray<Walked>) =>
      Effect.sync(() => {
        for (const { settledAt } of past) if (oldest === undefined || settledAt! < oldest) oldest = settledAt!
      })
    yield* walk(term, (rows) => rows, look)
    const before = withinADay(oldest, term)
    const removed = { calls: 0, files: 0 }
    yield* walk(before, stepOf, (past) =>
      Effect.map(drop(past, before), (files) => {
        removed.calls += past.length
        removed.files += files
      }),
    )
    return removed
  }, Effect.orDie)
})

const clean = (days: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const term = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days }))
    const { calls, files } = yield* (yield* makeRemoval)(term)
    const stillThere = (ids: ReadonlyArray<string>) =>
      ids.length === 0
        ? Effect.succeed(new Set<string>())
        : Effect.map(
            Effect.orDie(sql<{ id: string }>`SELECT id FROM calls WHERE ${sql.in("id", ids)}`),
            (rows) => new Set(rows.map(({ id }) => id)),
          )
    const decisions = yield* (yield* makeDecisionRetention)(term, stillThere)
    yield* Effect.logInfo(`Retention removed ${calls} calls, ${files} of their files and ${decisions} decisions`)
  })

/** `days`: how long after its end a call is kept. */
export const layerCallRetention = (days: number) => retentionLayer({ name: "call-retention", work: clean(days) })
