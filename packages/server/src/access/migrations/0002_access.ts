/** Who may do what: principals, tokens, grants, delegations, allow lists, secrets, audit. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint, bytes, flag } = yield* columnTypes
  yield* sql`CREATE TABLE principals (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT UNIQUE,
    roles TEXT NOT NULL,
    owner TEXT,
    wallet TEXT,
    toolsets TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    retired_at TEXT
  )`
  yield* sql`CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    principal TEXT NOT NULL REFERENCES principals (id),
    label TEXT,
    certificate ${flag} NOT NULL,
    context TEXT NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    revoked_at TEXT
  )`
  yield* sql`CREATE INDEX tokens_principal ON tokens (principal)`
  yield* sql`CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL REFERENCES principals (id),
    resource TEXT NOT NULL,
    actions TEXT NOT NULL,
    effect TEXT NOT NULL,
    source TEXT NOT NULL,
    expires_at TEXT,
    created_at TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX grants_principal ON grants (principal)`
  yield* sql`CREATE TABLE delegations (
    id TEXT PRIMARY KEY,
    giver TEXT NOT NULL REFERENCES principals (id),
    receiver TEXT NOT NULL REFERENCES principals (id),
    parent TEXT,
    resource TEXT NOT NULL,
    actions TEXT NOT NULL,
    reason TEXT NOT NULL,
    depth INTEGER NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT,
    created_at TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX delegations_receiver ON delegations (receiver)`
  yield* sql`CREATE TABLE allow_lists (
    toolset TEXT NOT NULL,
    context TEXT NOT NULL,
    tools TEXT NOT NULL,
    source TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    changed_by TEXT,
    PRIMARY KEY (toolset, context)
  )`
  // Rules of the configuration file, stored so that every process of a cluster uses the same ones.
  yield* sql`CREATE TABLE rules (kind TEXT NOT NULL, place INTEGER NOT NULL, rule TEXT NOT NULL, PRIMARY KEY (kind, place))`
  yield* sql`CREATE TABLE secrets (name TEXT PRIMARY KEY, sealed ${bytes} NOT NULL, set_at TEXT NOT NULL)`
  // A number that grows with every change of rights: a judgement from another epoch is not reused.
  yield* sql`CREATE TABLE access_epoch (one INTEGER PRIMARY KEY CHECK (one = 1), epoch ${bigint} NOT NULL)`
  yield* sql`INSERT INTO access_epoch (one, epoch) VALUES (1, 1)`
  yield* sql`CREATE TABLE audit (
    seq ${bigint} PRIMARY KEY,
    at TEXT NOT NULL,
    principal TEXT,
    action TEXT NOT NULL,
    resource TEXT NOT NULL,
    result TEXT NOT NULL,
    rule TEXT,
    call TEXT,
    correlation_id TEXT NOT NULL,
    hash TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX audit_principal ON audit (principal, seq)`
  // Where the stored chain begins: retention removes the oldest rows and stores their last hash here.
  yield* sql`CREATE TABLE audit_anchor (one INTEGER PRIMARY KEY CHECK (one = 1), seq ${bigint} NOT NULL, hash TEXT NOT NULL)`
  yield* sql`INSERT INTO audit_anchor (one, seq, hash) VALUES (1, 0, '')`
})
