/**
 * Which key the house's secrets are sealed with, as a value that says nothing of the key. A house that stands alone may change
 * it, and its doctor says what can no longer be read; houses that share a database must have the same one, or each would seal
 * what the others cannot open.
 */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { SharedDatabase } from "../../store/Holder.ts"
import { refuse } from "../../store/StartError.ts"
import { Secrets } from "./Secrets.ts"

export const agreeOnKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const mine = Redacted.value((yield* Secrets).derive("the house's check value"))
  const known = yield* Effect.orDie(sql<{ value: string }>`SELECT value FROM house_key WHERE id = 1`)
  if (known[0]?.value === mine) return
  if (known[0] !== undefined && (yield* SharedDatabase))
    return yield* refuse(
      "STOA_SECRET_KEY is not the key that encrypted this database's secrets. All houses of one database need the same key; to change it, stop them all and start one with STOA_RUNNER=single.",
    )
  yield* Effect.orDie(
    sql`INSERT INTO house_key ${sql.insert({ id: 1, value: mine })} ON CONFLICT (id) DO UPDATE SET value = excluded.value`,
  )
})
