/**
 * A check value for the key that encrypts the house's secrets; it reveals nothing about the key. A process that is
 * alone may change its key, and the doctor lists what can no longer be read. Processes that share a database must have
 * the same key, or each would encrypt what the others cannot decrypt.
 */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { SharedDatabase } from "../../store/leases/Holder.ts"
import { refuse } from "../../store/StartError.ts"
import { Secrets } from "./Secrets.ts"

export const agreeOnKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const mine = Redacted.value((yield* Secrets).derive("the house's check value"))
  const known = yield* Effect.orDie(sql<{ value: string }>`SELECT value FROM house_key WHERE id = 1`)
  if (known[0]?.value === mine) return
  if (known[0] !== undefined && (yield* SharedDatabase))
    return yield* refuse(
      "STOA_SECRET_KEY is not the key that encrypted this database's secrets. All houses of one database need the same key; to change it, stop all of them and start one with the new key and STOA_RUNNER=single.",
    )
  yield* Effect.orDie(
    sql`INSERT INTO house_key ${sql.insert({ id: 1, value: mine })} ON CONFLICT (id) DO UPDATE SET value = excluded.value`,
  )
})
