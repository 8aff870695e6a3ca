/** Who may answer a question, fixed when it is asked; when it goes to others; and by whose hand an approval was given. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE decision_voters (
    decision TEXT NOT NULL REFERENCES decisions (id),
    principal TEXT NOT NULL REFERENCES principals (id),
    reason TEXT NOT NULL,
    PRIMARY KEY (decision, principal, reason)
  )`
  yield* sql`CREATE INDEX decision_voters_principal ON decision_voters (principal, decision)`
  yield* sql`CREATE INDEX decisions_asked_by ON decisions (asked_by, state)`
  yield* sql`ALTER TABLE decisions ADD COLUMN asked_at TEXT`
  yield* sql`ALTER TABLE decisions ADD COLUMN escalates_at TEXT`
  yield* sql`ALTER TABLE decisions ADD COLUMN escalated_at TEXT`
  yield* sql`ALTER TABLE decision_approvals ADD COLUMN hand TEXT`
  yield* sql`UPDATE decisions SET asked_at = created_at`
  // Open questions were asked under the old rule; they keep the people who may answer them now.
  yield* sql`INSERT INTO decision_voters SELECT id, approver, 'named' FROM decisions WHERE approver IS NOT NULL`
  yield* sql`INSERT INTO decision_voters SELECT d.id, p.id, CASE WHEN d.approver IS NULL THEN 'admin' ELSE 'stand-in' END
    FROM decisions d JOIN principals p ON p.kind = 'person' AND p.retired_at IS NULL AND p.admin_since IS NOT NULL
    WHERE d.state = 'open' AND d.kind = 'approval'`
  yield* sql`INSERT INTO decision_voters SELECT d.id, p.id, 'member'
    FROM decisions d JOIN members m ON m.space = d.space AND m.joined_at <= d.created_at
    JOIN principals p ON p.id = m.principal AND p.kind = 'person' AND p.retired_at IS NULL
    WHERE d.state = 'open' AND d.kind = 'approval' AND d.approver IS NULL`
})
