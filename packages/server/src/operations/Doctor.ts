/** Checks the house: each finding says what was checked and what to do. */
// edge: looks at the data folder's mode, and at the database file.
import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { type Acceptable, type Agent, type AllowList, type Finding, Report } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AllowLists, wholeServer } from "../access/rights/AllowLists.ts"
import { Audit } from "../access/audit/Audit.ts"
import { Agents } from "../access/identity/Agents.ts"
import { Rules } from "../access/rights/Rules.ts"
import { Storage } from "../access/limits/Storage.ts"
import { Secrets } from "../access/secrets/Secrets.ts"
import { makeToolNotes } from "../calls/catalogue/ToolNotes.ts"
import { migrations } from "../Migrations.ts"
import { Languages } from "../models/Languages.ts"
import { makeProgramNotes } from "../programs/ProgramNotes.ts"
import { agentNotes } from "../runs/AgentNotes.ts"
import { makeHouseModelNotes } from "../runs/ModelNotes.ts"
import { Folder } from "../store/Folder.ts"
import { Journal } from "../store/journal/Journal.ts"
import { Readers, type ReaderState } from "../store/journal/readers/Readers.ts"
import { Retention } from "../store/journal/retention/Retention.ts"
import { versionOf } from "../store/Schemas.ts"
import { Disk, roomAt } from "../store/database/disk/Disk.ts"
import { Store } from "../store/database/Store.ts"
import { makeServerNotes } from "../servers/ServerNotes.ts"

const ok = (check: string, detail: string): Finding => ({ check, state: "ok", detail })
const warn = (check: string, detail: string): Finding => ({ check, state: "warn", detail })
const fail = (check: string, detail: string): Finding => ({ check, state: "fail", detail })

const store = Effect.gen(function* () {
  const { dialect, version, where } = yield* Store
  return ok("store", `${dialect} ${version} at ${where}`)
})

const schema = Effect.gen(function* () {
  const version = yield* versionOf
  const newest = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name)))
  return version === newest
    ? ok("schema", `version ${version}`)
    : warn(
        "schema",
        `the database is at ${version}, the program at ${newest}: the next start migrates it, after a backup`,
      )
})

const integrity = Effect.gen(function* () {
  const { dialect, where } = yield* Store
  if (dialect === "postgres") return ok("integrity", "kept by Postgres")
  // On a separate connection: one that has been reading for long has an old state of the search index.
  const found = yield* Effect.sync(() => {
    const db = new DatabaseSync(where, { readOnly: true })
    const rows = db.prepare("SELECT quick_check FROM pragma_quick_check").all() as Array<{ quick_check: string }>
    db.close()
    return rows.map((row) => row.quick_check).join("; ")
  })
  return found === "ok" ? ok("integrity", "no damaged pages") : fail("integrity", `${found}: restore a backup`)
})

const folder = Effect.gen(function* () {
  const { path } = yield* Folder
  const mode = statSync(path).mode & 0o777
  return (mode & 0o077) === 0
    ? ok("folder", `${path}, mode ${mode.toString(8)}`)
    : warn("folder", `${path} is open to others (mode ${mode.toString(8)}): chmod 700 ${path}`)
})

/** Less than this is used up soon. */
const littleRoom = 256 * 1024 * 1024

const disk = Effect.gen(function* () {
  if ((yield* Disk).isFull())
    return fail("disk", "full: reads still work, writes are answered with 507. Make room; the house notices by itself")
  const { path } = yield* Folder
  const bytes = roomAt(path)
  const room = `${Math.round(bytes / 1024 / 1024)} MB free at ${path}`
  return bytes < littleRoom ? warn("disk", `${room}: make room before it is full`) : ok("disk", room)
})

const audit = Effect.gen(function* () {
  const trail = yield* Audit
  const { secretKey } = yield* Folder
  const { brokenAt, rows, sealed, why } = yield* trail.verify
  if (brokenAt !== null)
    return fail(
      "audit",
      `the trail breaks at row ${brokenAt}: ${why}. Somebody changed it, or the house has another secret key (STOA_SECRET_KEY or, if that is not set, ${secretKey}); keep the database and compare it with a backup`,
    )
  const { failed, first } = yield* trail.resealed
  if (!sealed)
    return warn(
      "audit",
      `${rows} rows without a signature: the next start signs them. If this house has run this version before, somebody removed the signature; compare a backup`,
    )
  if (failed !== null)
    return fail(
      "audit",
      `${rows} rows; at row ${failed} the signature did not match the house's key and was renewed: the key was changed, or somebody changed the trail. Compare a backup, then "stoa doctor --accept audit"`,
    )
  return first === null
    ? ok("audit", `${rows} rows, the chain is complete and its end is signed`)
    : warn(
        "audit",
        `${rows} rows, signed since row ${first}. If you did not upgrade then, somebody removed the signature: compare a backup. Then "stoa doctor --accept audit"`,
      )
})

const readers = Effect.gen(function* () {
  const end = yield* (yield* Journal).end
  const { list, waiting } = yield* Readers
  const all = yield* list
  const waits = yield* waiting
  /** Most events are not for it: how far it is from the end says nothing. */
  const said = ({ cursor, name }: ReaderState): string => {
    const count = cursor >= end ? 0 : waits.get(name)
    const last = `its last event was ${cursor} of ${end}`
    if (count === undefined) return `${last}; what waits for it is handled when the house runs`
    if (count === 0) return cursor >= end ? "up to date" : `up to date (${last})`
    return `${count === 1 ? "1 event" : `${count} events`} to handle`
  }
  return all.map((one) =>
    one.failure === null
      ? ok(`reader ${one.name}`, said(one))
      : fail(`reader ${one.name}`, `is at ${one.cursor} of ${end}: ${one.failure.slice(0, 200)}`),
  )
})

const clock = Effect.gen(function* () {
  const { now, seen, waits } = yield* (yield* Retention).clock
  return waits
    ? warn(
        "clock",
        `it says ${now}, but the house was last active at ${seen}: no expired row is removed until you accept the clock. If it is right, "stoa doctor --accept clock"`,
      )
    : ok("clock", `it says ${now}; expired rows are removed by this clock, at most those of one day per hour`)
})

// Read from the table: the service itself would start firing timers, and a check must change nothing.
const timers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql<{ n: number }>`SELECT count(*) AS n FROM timers`)
  return ok("timers", `${rows[0]!.n} set`)
})

// Also read from the tables: the progress of all records of the house.
const embedding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(
    sql<{ model: string; problem: string | null }>`SELECT model, problem FROM memory_embedding`,
  )
  if (rows[0] === undefined) return ok("embedding", "no record has been embedded: a search compares words only")
  const { model, problem } = rows[0]
  const counts = yield* Effect.orDie(sql<{ records: number; embedded: number }>`SELECT
    (SELECT count(*) FROM memory_records WHERE deleted_at IS NULL) AS records,
    (SELECT count(*) FROM search_vectors WHERE part = 0 AND model = ${model}) AS embedded`)
  const { embedded, records } = counts[0]!
  const far = `${embedded} of ${records} records by ${model.trim()}`
  return problem === null
    ? ok("embedding", far)
    : warn("embedding", `${far}; it waits: ${problem} Until it answers, a search compares words only`)
})

/** Whoever has little room left is named before a write is refused. */
const storage = Effect.gen(function* () {
  const most = yield* (yield* Storage).most(5)
  const mebibytes = (bytes: number) => `${Math.ceil(bytes / 104_857.6) / 10} MiB`
  const said = most.map(({ bytes, limit, name }) => `${name} ${mebibytes(bytes)} of ${mebibytes(limit)}`).join(", ")
  if (most.length === 0) return ok("storage", "nobody stores anything in memory")
  return most.every(({ bytes, limit }) => bytes < limit * 0.9)
    ? ok("storage", `most in memory: ${said}`)
    : warn("storage", `${said}: at the limit writes are refused; raise "stored" under "limits", or delete records`)
})

const secrets = Effect.gen(function* () {
  const shut = yield* (yield* Secrets).unreadable
  const { secretKey } = yield* Folder
  return shut.length === 0
    ? ok("secrets", "all can be opened with the present key")
    : fail(
        "secrets",
        `encrypted with another key: ${shut.join(", ")}. Start with the right one (STOA_SECRET_KEY or, if that is not set, ${secretKey}), or set them again with "stoa secrets set NAME"`,
      )
})

// Also read from the tables: a disconnected server may still have the tool.
const allowLists = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { items } = yield* (yield* AllowLists).list
  const servers = yield* Effect.orDie(sql<{ name: string }>`SELECT name FROM mcp_servers`)
  const tools = yield* Effect.orDie(
    sql<{ name: string; tool: string }>`SELECT s.name, t.tool FROM mcp_tools t JOIN mcp_servers s ON s.id = t.server`,
  )
  const served = new Set(["*", ...servers.map(({ name }) => wholeServer(name))])
  for (const { name, tool } of tools) served.add(`${name}/${tool}`)
  const unknownIn = ({ tools, toolset, unknown }: AllowList) =>
    toolset === "upstream" ? tools.filter((name) => !served.has(name)) : unknown
  const unknown = items.flatMap((list) => unknownIn(list).map((name) => `${list.toolset}/${list.context}: ${name}`))
  return unknown.length === 0
    ? ok("allow lists", `${items.length} lists, every name is known`)
    : warn("allow lists", `unknown names: ${unknown.join(", ")}`)
})

const rules = Effect.gen(function* () {
  const held = yield* Rules
  const unknownPrincipals = yield* held.unknownPrincipals
  const count = (yield* held.policies).length + (yield* held.limits).length
  return unknownPrincipals.length === 0
    ? ok("rules", `${count} of the configuration file, every name is known`)
    : warn(
        "rules",
        `${unknownPrincipals.join("; ")}. Correct the name in the configuration file, or add that principal`,
      )
})

// Read from the tables, like the timers.
const runs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const letters = yield* Effect.orDie(sql<{ n: number }>`SELECT count(*) AS n FROM dead_letters WHERE state = 'open'`)
  const repairs = yield* Effect.orDie(
    sql<{ name: string; times: number; lastAt: string }>`SELECT name, times, last_at FROM repairs ORDER BY name`,
  )
  const put = repairs.map(({ lastAt, name, times }) => `${name}: ${times} times, last ${lastAt}`).join("; ")
  const said = put === "" ? "the watchdog had nothing to put right" : `the watchdog put right: ${put}`
  return letters[0]!.n === 0
    ? ok("runs", said)
    : warn("runs", `${letters[0]!.n} events could not be handled (stoa runs letters); ${said}`)
})

// Also read from the tables: a limit that is looser than its agent's toolset has no effect, which is easily overlooked.
const agentLimits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(
    sql<{ name: string; toolsets: string; limits: string }>`SELECT p.name, p.toolsets, a.limits FROM agents a
      JOIN principals p ON p.id = a.principal WHERE p.retired_at IS NULL ORDER BY p.name`,
  )
  const said = rows.flatMap(({ limits, name, toolsets }) => {
    const agent = { limits: JSON.parse(limits), toolsets: JSON.parse(toolsets) } as Pick<Agent, "limits" | "toolsets">
    return agentNotes(agent).map((note) => `${name}: ${note}`)
  })
  return said.length === 0
    ? ok("agents", "all their limits are in effect")
    : warn("agents", `${said.join(" ")} Lower the limit, or give it another toolset`)
})

/** What is configured and would fail when it is used. Each note is a sentence with the next step. */
const noted = (check: string, fine: string, notes: ReadonlyArray<string>): Finding =>
  notes.length === 0 ? ok(check, fine) : warn(check, notes.join(" "))

const tools = Effect.gen(function* () {
  const notesOf = yield* makeToolNotes
  return noted("tools", "every secret, variable and agent that a configured tool names is there", yield* notesOf())
})

const servers = Effect.gen(function* () {
  const notesOf = yield* makeServerNotes
  return noted("servers", "every secret, variable and program that an MCP server names is there", yield* notesOf())
})

const programs = Effect.gen(function* () {
  const notesOf = yield* makeProgramNotes
  const notes = yield* Effect.forEach(yield* (yield* Agents).living, notesOf)
  return noted("programs", "every program of an agent is there", notes.flat())
})

const models = Effect.gen(function* () {
  const found = yield* (yield* Languages).list
  const undeclared = yield* yield* makeHouseModelNotes
  return noted("models", `${found.length} declared, all can be used`, [
    ...found.flatMap(({ problem = [] }) => problem),
    ...undeclared,
  ])
})

const configured = Effect.all([tools, servers, programs, models])

const quick = Effect.all([
  clock,
  readers,
  timers,
  runs,
  agentLimits,
  embedding,
  storage,
  secrets,
  allowLists,
  rules,
  configured,
])
const rooms = Effect.all([audit, quick])

/** An operator's acceptance is recorded in the journal, and so in the audit. */
export const acceptFinding = Effect.fn("Doctor.accept")(function* (check: Acceptable) {
  const journal = yield* Journal
  const { accept } = yield* Retention
  yield* journal.transact(
    Effect.andThen(
      check === "clock" ? accept : Effect.void,
      journal.append({ kind: "house.accepted", body: { check } }),
    ),
  )
  // The doctor reads it from the audit, so wait for that.
  yield* (yield* Readers).receipt("audit")
})

/** For a database of another version only the outer checks run: its tables may differ. */
export const doctorReport = Effect.gen(function* () {
  const outside = yield* Effect.all([store, schema, integrity, folder, disk])
  const current = outside.every(({ check, state }) => check !== "schema" || state === "ok")
  return new Report({ findings: [...outside, ...(current ? (yield* rooms).flat(3) : [])] })
}).pipe(Effect.withSpan("Doctor.report"))

/** The cheap checks: without every page of the database and the whole audit trail. */
export const quickReport = Effect.gen(function* () {
  const outside = yield* Effect.all([store, schema, folder, disk])
  return new Report({ findings: [...outside, ...(yield* quick).flat(2)] })
}).pipe(Effect.withSpan("Doctor.quick"))
