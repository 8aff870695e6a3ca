/** A run that repeats another from a step has the calls before it as copies: they are read, and never made again. */
import type { RunId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { newId } from "../store/journal/Correlation.ts"
import type { Transaction } from "../store/journal/Journal.ts"
import type { CallRow } from "./road/record/rows.ts"

export const addCopiedCalls = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  from: RunId,
  to: RunId,
  step: number,
): Effect.fn.Return<void, never, Transaction> {
  const calls = yield* Effect.orDie(sql<CallRow>`SELECT * FROM calls WHERE run = ${from} AND step < ${step}`)
  for (const row of calls) {
    const copy = { id: newId("call"), run: to, copyOf: row.copyOf ?? row.id, idempotencyKey: null, message: null }
    yield* Effect.orDie(sql`INSERT INTO calls ${sql.insert({ ...row, ...copy })}`)
  }
})
