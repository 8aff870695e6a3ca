/**
 * When an agent's memory is erased, the conversations of its ended runs, which repeat it, are erased too. That they
 * ran, when, what they cost and how they ended is kept. A run that still works keeps its conversation until the next
 * erasure.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readerLayer } from "../../store/journal/readers/Readers.ts"

const erased = "(erased with the agent's memory)"

export const layerErasedRuns = readerLayer({
  name: "erased-runs",
  atomic: false,
  kinds: ["memory.erased"],
  handle: Effect.fnUntraced(function* ([event]) {
    if (event?.kind !== "memory.erased") return
    const sql = yield* SqlClient.SqlClient
    const { before, principal } = event.body
    const ended = sql`SELECT id FROM runs WHERE agent = ${principal} AND created_at <= ${before} AND ended_at IS NOT NULL`
    yield* sql`UPDATE run_messages SET body = ${erased} WHERE run IN (${ended})`
    yield* sql`UPDATE steps SET content = '[]' WHERE run IN (${ended})`
  }),
})
