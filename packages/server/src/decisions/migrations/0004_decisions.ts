/** Questions to people, who has approved, and what was approved from now on. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE decisions (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    call TEXT,
    tool TEXT,
    input TEXT,
    risk_level TEXT,
    question TEXT NOT NULL,
    schema TEXT,
    form TEXT,
    custom_ui TEXT,
    digest TEXT NOT NULL,
    fingerprint TEXT,
    policy INTEGER NOT NULL,
    asked_by TEXT NOT NULL REFERENCES principals (id),
    approver TEXT REFERENCES principals (id),
    people INTEGER NOT NULL,
    space TEXT REFERENCES spaces (id),
    expires_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    verdict TEXT,
    value TEXT,
    reach TEXT,
    note TEXT,
    answered_by TEXT,
    answered_at TEXT
  )`
  yield* sql`CREATE INDEX decisions_open ON decisions (state, id)`
  yield* sql`CREATE INDEX decisions_call ON decisions (call)`
  yield* sql`CREATE TABLE decision_approvals (
    decision TEXT NOT NULL REFERENCES decisions (id),
    principal TEXT NOT NULL REFERENCES principals (id),
    at TEXT NOT NULL,
    PRIMARY KEY (decision, principal)
  )`
  yield* sql`CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL REFERENCES principals (id),
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    decision TEXT NOT NULL REFERENCES decisions (id),
    given_by TEXT NOT NULL REFERENCES principals (id),
    created_at TEXT NOT NULL,
    revoked_at TEXT
  )`
  yield* sql`CREATE INDEX approvals_principal ON approvals (principal, tool)`
})
