/**
 * The file of a backup: a SQLite database with the house's tables, and one row in `stoa_backup` that describes it. The
 * format does not depend on the database it was made from.
 */
// edge: node:sqlite, node:fs and a worker thread; backups are made beside the running house and must not hold it up.
import * as fs from "node:fs"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { Worker } from "node:worker_threads"
import { Effect, Option, Redacted, Schema, type Scope } from "effect"
import { refuse, type StartError } from "../StartError.ts"

/** Increase it when older programs could not read the new file. */
const format = 1
const aboutTable = "stoa_backup"

const Counts = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Int))

/** The description in a backup. */
const About = Schema.Struct({
  format: Schema.Int,
  program: Schema.String,
  schema: Schema.Int,
  madeAt: Schema.String,
  dialect: Schema.Literals(["sqlite", "postgres"]),
  secretKey: Schema.NullOr(Schema.String),
  /** Rows per table, to detect a truncated or edited file. */
  counts: Counts,
  /** The value of each counter: a cursor is never reused, even after its event is gone. */
  counters: Counts,
})
type About = typeof About.Type
const encodeAbout = Schema.encodeSync(About)
export type NewAbout = Omit<About, "format">

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const describe = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Makes the file appear only when it is complete: it is written under another name, synced and then renamed. */
export const wholeFile = <A, E, R>(
  file: string,
  write: (part: string) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StartError, R> => {
  const part = `${file}.part`
  const attempt = <B>(step: () => Promise<B>) =>
    Effect.tryPromise({
      try: step,
      catch: (cause) =>
        refuse(`The backup ${file} could not be written: ${describe(cause)}. Choose another place.`, cause),
    })
  return Effect.gen(function* () {
    if (fs.existsSync(file))
      return yield* refuse(`${file} already exists. Choose another name; nothing was overwritten.`)
    // Before anything is written: a backup contains what the data folder protects from other users.
    yield* attempt(() => fs.promises.writeFile(part, "", { mode: 0o600, flag: "w" }))
    const made = yield* write(part)
    yield* attempt(async () => {
      const handle = await fs.promises.open(part, "r+")
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
      await fs.promises.rename(part, file)
    })
    return made
  }).pipe(Effect.ensuring(Effect.promise(() => fs.promises.rm(part, { force: true }))))
}

/** Copies one consistent state of a SQLite database, on a thread and a connection of its own. */
const copying = `
const { parentPort, workerData } = require("node:worker_threads")
const { DatabaseSync } = require("node:sqlite")
const source = new DatabaseSync(workerData.from, { readOnly: true, timeout: 30000 })
source.prepare("VACUUM INTO ?").run(workerData.to)
source.close()
const copy = new DatabaseSync(workerData.to, { readOnly: true })
const counts = {}
for (const { name } of copy.prepare(
  "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND substr(name, 1, 7) <> 'sqlite_'" +
  " AND name NOT IN (SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % content=%')"
).all()) counts[name] = copy.prepare('SELECT count(*) AS n FROM "' + name + '"').get().n
const counted = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get() !== undefined
const counters = {}
if (counted) for (const { name, seq } of copy.prepare("SELECT name, seq FROM sqlite_sequence").all()) counters[name] = seq
const schema = copy.prepare("SELECT max(migration_id) AS id FROM migrations").get().id
copy.close()
parentPort.postMessage({ counts, counters, schema })
`
type Copied = Pick<About, "counts" | "counters" | "schema">

export const copySqlite = (from: string, to: string): Effect.Effect<Copied, StartError> =>
  Effect.callback<Copied, StartError>((resume) => {
    const worker = new Worker(copying, { eval: true, workerData: { from, to } })
    const fail = (cause: unknown) =>
      resume(
        Effect.fail(refuse(`The database could not be copied: ${describe(cause)}. Is there room on the disk?`, cause)),
      )
    worker.once("message", (copied: Copied) => resume(Effect.succeed(copied)))
    worker.once("error", fail)
    worker.once("exit", (code) => fail(new Error(`the copying thread ended with ${code}`)))
    return Effect.promise(() => worker.terminate())
  })

/** A new file that is filled table by table. */
export class CopyWriter {
  readonly #db: DatabaseSync

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    // Nobody sees the file before it is complete and synced, so its pages need no journal.
    this.#db.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
  }

  table(name: string, columns: ReadonlyArray<string>): (rows: Iterable<ReadonlyArray<SQLInputValue>>) => void {
    this.#db.exec(`CREATE TABLE ${quoted(name)} (${columns.map(quoted).join(", ")})`)
    const insert = this.#db.prepare(`INSERT INTO ${quoted(name)} VALUES (${columns.map(() => "?").join(", ")})`)
    return (rows) => {
      for (const row of rows) insert.run(...row)
    }
  }

  end(): void {
    this.#db.exec("COMMIT")
    this.#db.close()
  }
}

export const describeCopy = (file: string, about: NewAbout): Effect.Effect<void> =>
  Effect.sync(() => {
    const db = new DatabaseSync(file)
    try {
      db.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
      const row = encodeAbout({ ...about, format })
      const names = Object.keys(row)
      db.exec(`CREATE TABLE ${aboutTable} (${names.join(", ")})`)
      db.prepare(`INSERT INTO ${aboutTable} VALUES (${names.map(() => "?").join(", ")})`).run(
        ...(Object.values(row) as Array<SQLInputValue>),
      )
    } finally {
      db.close()
    }
  })

/** A backup that was opened and verified. */
export interface OpenBackup {
  readonly about: About
  readonly secretKey: Option.Option<Redacted.Redacted>
  readonly tables: ReadonlyArray<string>
  readonly columns: (table: string) => ReadonlyArray<string>
  /** The rows of a table, in chunks of `atOnce`. */
  readonly rows: (table: string, atOnce: number) => Iterable<ReadonlyArray<ReadonlyArray<unknown>>>
}

const open = (file: string): { readonly db: DatabaseSync; readonly opened: OpenBackup } => {
  if (!fs.existsSync(file)) throw refuse(`There is no file ${file}.`)
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return { db, opened: read(file, db) }
  } catch (cause) {
    db.close()
    throw cause
  }
}

const read = (file: string, db: DatabaseSync): OpenBackup => {
  const all = (sql: string, ...params: ReadonlyArray<string>) =>
    db.prepare(sql).all(...params) as Array<Record<string, unknown>>
  if (all("SELECT 1 FROM sqlite_schema WHERE name = ?", aboutTable).length === 0)
    throw refuse(
      `${file} is a database but not a backup of Stoa: it does not say what it is. Give a file that "stoa backup" made.`,
    )
  const row = all(`SELECT * FROM ${aboutTable}`)[0]
  if (typeof row?.["format"] !== "number" || row["format"] > format)
    throw refuse(
      `${file} was made by a newer Stoa (format ${String(row?.["format"])}; this one reads ${format}). Restore it with that one.`,
    )
  const about = Schema.decodeUnknownSync(About)(row)
  const damage = all("PRAGMA quick_check(1)")[0]?.["quick_check"]
  if (damage !== "ok") throw refuse(`${file} is damaged (${String(damage)}). Take another backup; nothing was changed.`)
  for (const [table, count] of Object.entries(about.counts)) {
    const found = all(`SELECT count(*) AS n FROM ${quoted(table)}`)[0]!["n"]
    if (found !== count)
      throw refuse(
        `${file} was changed after it was made: ${table} has ${String(found)} rows instead of ${count}. Nothing was changed.`,
      )
  }
  const columns = (table: string) =>
    all("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", table).map((one) => String(one["name"]))
  return {
    about,
    secretKey: Option.map(Option.fromNullOr(about.secretKey), (key) => Redacted.make(key)),
    tables: Object.keys(about.counts),
    columns,
    rows: function* (table, atOnce) {
      const statement = db.prepare(`SELECT ${columns(table).map(quoted).join(", ")} FROM ${quoted(table)}`)
      statement.setReadBigInts(true)
      statement.setReturnArrays(true)
      let batch: Array<ReadonlyArray<unknown>> = []
      for (const one of statement.iterate() as unknown as Iterable<ReadonlyArray<unknown>>) {
        batch.push(one)
        if (batch.length < atOnce) continue
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
    },
  }
}

export const openBackup = (file: string): Effect.Effect<OpenBackup, StartError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => open(file),
      catch: (cause) =>
        (cause as { _tag?: string })._tag === "StartError"
          ? (cause as StartError)
          : refuse(
              `${file} cannot be read as a backup: ${describe(cause)}. Give a file that "stoa backup" made.`,
              cause,
            ),
    }),
    ({ db }) => Effect.sync(() => db.close()),
  ).pipe(Effect.map(({ opened }) => opened))

/** The bytes of a file. The caller removes it afterwards. */
export const bytesOf = (file: string): AsyncIterable<Uint8Array> =>
  fs.createReadStream(file, { highWaterMark: 256 * 1024 })
export const removeFile = (file: string): Effect.Effect<void> =>
  Effect.promise(() => fs.promises.rm(file, { force: true }))
export const makeFolder = (path: string): Effect.Effect<void, StartError> =>
  Effect.tryPromise({
    try: async () => void (await fs.promises.mkdir(path, { recursive: true, mode: 0o700 })),
    catch: (cause) => refuse(`The folder ${path} cannot be made: ${describe(cause)}.`, cause),
  })
export const sizeOf = (file: string): Effect.Effect<number> =>
  Effect.promise(async () => (await fs.promises.stat(file)).size)
