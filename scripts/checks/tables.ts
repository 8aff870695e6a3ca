// SQL lives in the room that owns the table. The rooms and their tables are derived from the statements that make them; a
// statement of another room that names one fails here, unless `allowed` says who may, in which direction and why.
// Migrations are left out: each runs once, on the tables of its day.
import { type Check, files, foldersAbove, isTest, read } from "./kit.ts"

const home = "packages/server/src/"
type Way = "read" | "write"

/** Tables that a migration of one room made and another room keeps. */
const keptBy: Readonly<Record<string, string>> = {
  // Made with the journal, before there was a room for idempotency keys.
  answers: "access",
}

interface Allowance {
  readonly table: string
  /** "any": every room. */
  readonly room: string
  /** Who may write may read. */
  readonly may: Way
  readonly why: string
}
const reads = (table: string, room: string, why: string): Allowance => ({ table, room, may: "read", why })
const allowed: ReadonlyArray<Allowance> = [
  reads("principals", "any", "names, kinds and owners of principals are joined everywhere; no rule is about a name"),
  reads("agents", "decisions", "who is above and below an agent is followed in one recursive statement"),
  reads("agents", "runs", "a claim looks at gate and superiors in the statement that chooses the run"),
  reads("holders", "runs", "a claim looks whether its own house is alive, under the lock that it counts with"),
  reads("calls", "runs", "the calls of a run are part of its steps: loaded and judged with its rows"),
  reads("decisions", "runs", "the times of a step include what its calls were asked"),
  reads("decisions", "calls", "after a restart, the calls whose decision is closed are found in one statement"),
  reads("journal", "access", "the trail is verified against the journal"),
  reads("readers", "access", "the trail is verified against how far its reader came, in one consistent statement"),
  reads("search_vectors", "memory", "progress counts records with and without a vector in one statement"),
  {
    table: "dead_letters",
    room: "store",
    may: "write",
    why: "a reader of any room buries its events there; the table came with runs, which show and repeat them",
  },
]
/** What stands above all rooms, such as the doctor, looks at any table and changes none. */
const above = "house"

const roomOf = (path: string): string => {
  const [first = "", ...rest] = path.slice(home.length).split("/")
  return rest.length === 0 || foldersAbove.includes(first) ? above : first
}

const makes = /\bCREATE (?:VIRTUAL |UNLOGGED )?TABLE (?:IF NOT EXISTS )?"?(\w+)/g
const drops = /\bDROP TABLE (?:IF EXISTS )?"?(\w+)/g

interface Naming {
  readonly table: string
  readonly way: Way
  readonly at: number
}
const name = `"?(\\w+)"?`
const more = `((?:\\s+(?:AS\\s+)?(?!(?:WHERE|JOIN|LEFT|CROSS|ON|SET|ORDER|GROUP|LIMIT)\\b)\\w+)?(?:\\s*,\\s*"?\\w+"?)*)`
const statement = new RegExp(`\\b(DELETE FROM|FROM|JOIN|INTO|UPDATE|USING)\\s+(?:ONLY\\s+)?${name}${more}`, "g")
/** A table given by name to what writes the statement: `makeRowInsert(sql, "calls")`, `{ table: "timers" }`, `sql("runs")`. */
const given = /(?:(?<!lockName)\(sql, |\btable: |\bsql\()"(\w+)"/g
const small = /\bsql(?:<[^`]*>)?`\s*(?:select|insert|update|delete|with)\b/g

const namings = (text: string): ReadonlyArray<Naming> => [
  ...[...text.matchAll(statement)].flatMap(({ 1: verb = "", 2: first = "", 3: others = "", index }) => {
    const way: Way = verb === "FROM" || verb === "JOIN" || verb === "USING" ? "read" : "write"
    const rest = [...others.matchAll(/,\s*"?(\w+)/g)].flatMap(([, table]) => table ?? [])
    return [first, ...rest].map((table) => ({ table, way, at: index }))
  }),
  ...[...text.matchAll(given)].map(({ 1: table = "", index }) => ({ table, way: "write" as const, at: index })),
]

const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length

export const tables: Check = async (root) => {
  const sources = (await files(root)).filter((path) => path.startsWith(home) && path.endsWith(".ts") && !isTest(path))
  const texts = new Map(sources.map((path) => [path, read(root, path)]))
  const owners = new Map<string, string>()
  for (const [path, text] of texts) {
    if (roomOf(path) === above) continue
    for (const [, table = ""] of text.matchAll(makes)) owners.set(table, keptBy[table] ?? roomOf(path))
  }
  for (const [path, text] of texts)
    if (path.includes("/migrations/")) for (const [, table = ""] of text.matchAll(drops)) owners.delete(table)

  const used = new Set<Allowance>()
  const faults: Array<string> = []
  for (const [path, text] of texts) {
    if (path.includes("/migrations/")) continue
    const room = roomOf(path)
    for (const { index } of text.matchAll(small))
      faults.push(`${path}:${lineAt(text, index)}: write the words of SQL in capitals, so that its tables are found`)
    for (const { at, table, way } of namings(text)) {
      const owner = owners.get(table)
      if (owner === undefined || owner === room || (room === above && way === "read")) continue
      const allowance = allowed.find(
        (one) =>
          one.table === table && (one.room === "any" || one.room === room) && (one.may === "write" || way === "read"),
      )
      if (allowance === undefined)
        faults.push(
          `${path}:${lineAt(text, at)}: ${way}s ${table}, a table of ${owner}. Put the statement, or that part of it, ` +
            `into a public file of ${owner} (as spaces/MessageReads.ts) and call it` +
            (way === "read" ? "; a read that must stay is a line of `allowed` in scripts/checks/tables.ts" : ""),
        )
      else used.add(allowance)
    }
  }
  for (const one of allowed)
    if (owners.has(one.table) && !used.has(one))
      faults.push(`scripts/checks/tables.ts: ${one.room} no longer ${one.may}s ${one.table}; remove the line`)
  if (owners.size === 0 && texts.has(`${home}Migrations.ts`))
    faults.push(`${home}: no table found; are they still made with CREATE TABLE?`)
  return { looked: sources.length, unit: `files, ${owners.size} tables`, faults }
}
