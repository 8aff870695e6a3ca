/** Messages are found by the house's own index; those from before are put into it while the house runs (`MessageFill.ts`). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE messages_words`
})
