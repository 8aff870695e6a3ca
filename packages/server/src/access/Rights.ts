/** One number that rises with every change of rights, in the same transaction (S4-104). Every process of a cluster reads it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Transaction } from "../store/Journal.ts"

export const rightsChanged: Effect.Effect<void, never, SqlClient.SqlClient | Transaction> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.asVoid(Effect.orDie(sql`UPDATE access_epoch SET epoch = epoch + 1`)),
)

/** How high it stands now. */
export const rightsEpoch: Effect.Effect<Effect.Effect<number>, never, SqlClient.SqlClient> = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(Effect.orDie(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`), (rows) => rows[0]?.epoch ?? 0),
)
