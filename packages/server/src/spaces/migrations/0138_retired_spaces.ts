/**
 * A space that the configuration file has retired is still remembered as the file's, so that the file can take it back.
 * Which ones it retired before, the journal knows; what it has forgotten counts as made at run time.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE declared_spaces ADD COLUMN retired_at TEXT`
  yield* sql`INSERT INTO declared_spaces (space, retired_at) SELECT s.id, s.archived_at FROM spaces s
    WHERE s.archived_at IS NOT NULL AND s.opened_by = 'house' AND s.kind <> 'team'
      AND NOT EXISTS (SELECT 1 FROM declared_spaces d WHERE d.space = s.id)
      AND EXISTS (SELECT 1 FROM journal j
        WHERE j.kind = 'house.reloaded' AND j.body LIKE '%"spaces/' || s.lookup_key || '"%')`
})
