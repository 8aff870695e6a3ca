/**
 * Who opened a space, and who let each member in: whoever asks for an approval must not have chosen who gives it. Of spaces
 * that are there already the journal knows it; what it has forgotten stays unknown, and an unknown host vouches for nobody.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE spaces ADD COLUMN opened_by TEXT`
  yield* sql`ALTER TABLE members ADD COLUMN let_in_by TEXT`
  yield* sql`UPDATE spaces SET opened_by = (SELECT coalesce(j.actor, 'house') FROM journal j
    WHERE j.space = spaces.id AND j.kind = 'space.added' ORDER BY j.cursor LIMIT 1)`
  yield* sql`UPDATE members SET let_in_by = (SELECT coalesce(j.actor, 'house') FROM journal j
    WHERE j.space = members.space AND j.kind = 'member.added' AND j.body LIKE '%' || members.principal || '%'
    ORDER BY j.cursor DESC LIMIT 1)`
  yield* sql`UPDATE members SET let_in_by = (SELECT s.opened_by FROM spaces s
    WHERE s.id = members.space AND s.created_at = members.joined_at) WHERE let_in_by IS NULL`
})
