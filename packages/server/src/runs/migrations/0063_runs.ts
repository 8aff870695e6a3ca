/** Runs: what woke them, their steps, what the house told their model, what they wait for, and what they spend. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    lane INTEGER NOT NULL,
    width INTEGER NOT NULL,
    thinker TEXT NOT NULL,
    profile TEXT NOT NULL,
    state TEXT NOT NULL,
    stop TEXT,
    failure TEXT,
    trigger_kind TEXT NOT NULL,
    trigger_summary TEXT NOT NULL,
    trigger_message TEXT,
    trigger_space TEXT,
    chain_depth INTEGER NOT NULL,
    root TEXT NOT NULL,
    parent_call TEXT,
    retry_of TEXT,
    nesting INTEGER NOT NULL,
    after_run TEXT,
    step INTEGER NOT NULL,
    rung INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    owner TEXT,
    resumed INTEGER NOT NULL,
    ready_at ${bigint} NOT NULL,
    attempts INTEGER NOT NULL,
    limits TEXT NOT NULL,
    tokens_in ${bigint} NOT NULL,
    tokens_out ${bigint} NOT NULL,
    cost_micros ${bigint} NOT NULL,
    busy_ms ${bigint} NOT NULL,
    waits INTEGER NOT NULL,
    correlation_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    ended_at TEXT
  )`
  yield* sql`CREATE INDEX runs_queued ON runs (ready_at) WHERE state = 'queued'`
  yield* sql`CREATE INDEX runs_running ON runs (mailbox) WHERE state = 'running'`
  yield* sql`CREATE INDEX runs_waiting ON runs (agent) WHERE state IN ('waiting_tool', 'waiting_reply')`
  yield* sql`CREATE INDEX runs_agent ON runs (agent, id)`
  yield* sql`CREATE INDEX runs_parent ON runs (parent_call) WHERE parent_call IS NOT NULL`
  yield* sql`CREATE INDEX runs_root ON runs (root)`
  yield* sql`CREATE TABLE triggers (
    agent TEXT NOT NULL,
    source TEXT NOT NULL,
    run TEXT,
    kind TEXT NOT NULL,
    message TEXT,
    space TEXT,
    author TEXT,
    text TEXT NOT NULL,
    depth INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (agent, source)
  )`
  yield* sql`CREATE INDEX triggers_run ON triggers (run)`
  yield* sql`CREATE INDEX triggers_message ON triggers (message) WHERE message IS NOT NULL`
  yield* sql`CREATE TABLE steps (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    content TEXT NOT NULL,
    finish TEXT,
    model TEXT,
    tokens_in ${bigint} NOT NULL,
    tokens_out ${bigint} NOT NULL,
    tokens_cached ${bigint} NOT NULL,
    cost_micros ${bigint} NOT NULL,
    began_at TEXT NOT NULL,
    said_at TEXT,
    PRIMARY KEY (run, number)
  )`
  yield* sql`CREATE TABLE run_messages (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    step INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
  )`
  yield* sql`CREATE TABLE waits (
    id TEXT PRIMARY KEY,
    run TEXT,
    agent TEXT NOT NULL,
    call TEXT NOT NULL,
    space TEXT NOT NULL,
    message TEXT NOT NULL,
    mode TEXT NOT NULL,
    needed INTEGER NOT NULL,
    state TEXT NOT NULL,
    deadline_at TEXT,
    opened_at TEXT NOT NULL,
    closed_at TEXT,
    outcome TEXT
  )`
  yield* sql`CREATE INDEX waits_open ON waits (space) WHERE state = 'open'`
  yield* sql`CREATE INDEX waits_call ON waits (call)`
  yield* sql`CREATE TABLE wait_parties (
    wait TEXT NOT NULL,
    principal TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    PRIMARY KEY (wait, principal)
  )`
  yield* sql`CREATE TABLE spend (
    agent TEXT NOT NULL,
    day TEXT NOT NULL,
    tokens_in ${bigint} NOT NULL,
    tokens_out ${bigint} NOT NULL,
    cost_micros ${bigint} NOT NULL,
    PRIMARY KEY (agent, day)
  )`
  yield* sql`CREATE TABLE dead_letters (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    event TEXT,
    failure TEXT NOT NULL,
    tried INTEGER NOT NULL,
    at TEXT NOT NULL,
    state TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX dead_letters_open ON dead_letters (at) WHERE state = 'open'`
  yield* sql`ALTER TABLE messages ADD COLUMN run TEXT`
  yield* sql`ALTER TABLE decisions ADD COLUMN run TEXT`
})
