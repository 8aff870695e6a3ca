/** Rows of hosts: what they offer, who owns them, and which of their processes was sent which call. */
import { Host, type HostedCall, type HostedTool, type HostId, type PrincipalId } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isGone } from "../../store/leases/Holder.ts"
import { Flag } from "../../store/database/dialect/Columns.ts"

export interface HostRow {
  readonly id: HostId
  readonly owner: PrincipalId
  readonly name: string
  readonly shared: boolean
  readonly tools: ReadonlyArray<HostedTool>
  /** The process that connected last. */
  readonly instance: string | null
  readonly connected: boolean
  /** The house process that has, or had, its connection. */
  readonly holder: string | null
  readonly lastSeenAt: string | null
  readonly createdAt: string
}

interface Stored extends Omit<HostRow, "tools" | "shared" | "connected"> {
  readonly tools: string
  readonly shared: unknown
  readonly connected: unknown
}

/** A call that waits for a host, and the process it was sent to. */
export interface WaitingCall {
  readonly id: string
  readonly tool: string
  readonly instance: string | null
}

interface Sent {
  readonly id: string
  readonly tool: string
  readonly input: string
  readonly principal: string
  readonly space: string | null
  readonly createdAt: string
}

/** What is waiting for a host as its process takes it; `isMeant`: it may be sent there. */
interface Found extends Sent {
  readonly isMeant: unknown
}

/** A call as it is sent to its host. */
export type SentCall = (typeof HostedCall)["Encoded"]

const flag = Schema.decodeUnknownSync(Flag)
const decode = Schema.decodeUnknownSync(Host)

export const hostFrom = (row: HostRow): Host => {
  const { holder: _holder, instance: _instance, tools, ...rest } = row
  return decode({ ...rest, tools: tools.map((tool) => tool.name) })
}

/** A name can be taken once per scope. */
const scopeOf = (row: Pick<HostRow, "shared" | "owner">): string => (row.shared ? "" : row.owner)

export const makeHostRows = Effect.map(SqlClient.SqlClient, (sql) => {
  const read = (row: Stored): HostRow => ({
    ...row,
    shared: flag(row.shared),
    connected: flag(row.connected),
    tools: JSON.parse(row.tools) as ReadonlyArray<HostedTool>,
  })
  const one = (rows: ReadonlyArray<Stored>) => (rows[0] === undefined ? undefined : read(rows[0]))

  const all = Effect.map(Effect.orDie(sql<Stored>`SELECT * FROM hosts ORDER BY created_at, id`), (rows) =>
    rows.map(read),
  )
  const byId = (id: string) => Effect.map(Effect.orDie(sql<Stored>`SELECT * FROM hosts WHERE id = ${id}`), one)
  const ofOwner = (owner: string, name: string) =>
    Effect.map(Effect.orDie(sql<Stored>`SELECT * FROM hosts WHERE owner = ${owner} AND name = ${name}`), one)

  /** Writes a host and the names it takes; false if another host took one of them first. */
  const put = Effect.fnUntraced(function* (row: HostRow) {
    const { id, shared } = row
    const tools = JSON.stringify(row.tools)
    yield* sql`INSERT INTO hosts ${sql.insert({ ...row, tools } as never)}
      ON CONFLICT (id) DO UPDATE SET shared = ${shared}, tools = ${tools}`
    yield* sql`DELETE FROM hosted_tools WHERE host = ${id}`
    const names = row.tools.map(({ name }) => ({ scope: scopeOf(row), name, host: id }))
    if (names.length === 0) return true
    const made =
      yield* sql`INSERT INTO hosted_tools ${sql.insert(names as never)} ON CONFLICT DO NOTHING RETURNING name`
    return made.length === names.length
  }, Effect.orDie)

  /** A name that is taken by the house, by another host for everybody, or by another host of the same owner. */
  const taken = Effect.fnUntraced(function* (row: HostRow) {
    const names = row.tools.map(({ name }) => name)
    if (names.length === 0) return undefined
    const found = yield* sql<{ name: string }>`SELECT name FROM tools WHERE ${sql.in("name", names)}
      UNION SELECT name FROM hosted_tools
        WHERE ${sql.in("name", names)} AND host <> ${row.id} AND ${sql.in("scope", ["", scopeOf(row)])}`
    return found[0]?.name
  }, Effect.orDie)

  /** False: it was removed before. */
  const remove = Effect.fnUntraced(function* (id: string) {
    yield* sql`DELETE FROM hosted_tools WHERE host = ${id}`
    yield* sql`DELETE FROM hosted_calls WHERE host = ${id}`
    return (yield* sql`DELETE FROM hosts WHERE id = ${id} RETURNING id`).length > 0
  }, Effect.orDie)

  /** Its process connected here. False: the host was removed meanwhile. */
  const connected = (id: string, connection: Pick<HostRow, "instance" | "holder" | "lastSeenAt">) =>
    Effect.map(
      Effect.orDie(
        sql`UPDATE hosts SET ${sql.update({ ...connection, connected: true } as never)} WHERE id = ${id} RETURNING id`,
      ),
      (rows) => rows.length > 0,
    )

  /** Its connection ended. False: this was not its connection any more, since another house has it, or nobody. */
  const disconnected = (id: string, { holder, lastSeenAt }: Pick<HostRow, "holder" | "lastSeenAt">) =>
    Effect.map(
      Effect.orDie(
        sql`UPDATE hosts SET ${sql.update({ connected: false, lastSeenAt } as never)}
          WHERE id = ${id} AND connected = ${true} AND holder = ${holder} RETURNING id`,
      ),
      (rows) => rows.length > 0,
    )

  /** Whether another living process has its connection. */
  const isHeldBeside = (id: string, me: string) =>
    Effect.map(
      Effect.orDie(
        sql`SELECT 1 FROM hosts WHERE id = ${id} AND connected = ${true} AND holder <> ${me} AND NOT ${isGone(sql, "holder")}`,
      ),
      (rows) => rows.length > 0,
    )

  const waits = (host: string) => sql`c.state = 'waiting' AND c.on_kind = 'callback' AND c.on_id = ${host}`
  /** A private host gets only the calls of its owner. */
  const isMeant = sql`(h.shared = ${true} OR c.principal = h.owner)`

  const waiting = (host: string) =>
    Effect.orDie(
      sql<WaitingCall>`SELECT c.id, c.tool, s.instance FROM calls c LEFT JOIN hosted_calls s ON s.call = c.id
        WHERE ${waits(host)}`,
    )
  /** Those that it may not be sent any more, since it is private now. */
  const strangers = (host: string) =>
    Effect.orDie(
      sql<WaitingCall>`SELECT c.id, c.tool, s.instance FROM calls c JOIN hosts h ON h.id = ${host}
        LEFT JOIN hosted_calls s ON s.call = c.id WHERE ${waits(host)} AND NOT ${isMeant}`,
    )

  const sent = (row: Sent): SentCall => ({ ...row, input: JSON.parse(row.input) as Schema.Json })

  const columns = sql.literal("c.id, c.tool, c.input, c.principal, c.space, c.created_at")

  /** What this process was sent and has not answered. */
  const unanswered = (host: string, instance: string) =>
    Effect.map(
      Effect.orDie(
        sql<Sent>`SELECT ${columns} FROM calls c JOIN hosted_calls s ON s.call = c.id AND s.host = ${host}
          JOIN hosts h ON h.id = s.host
          WHERE ${waits(host)} AND ${isMeant} AND s.instance = ${instance} ORDER BY c.created_at, c.id`,
      ),
      (rows) => rows.map(sent),
    )

  // On Postgres: whoever connects the host elsewhere waits until these calls are taken, and then sends them again.
  const whileHeld = sql.onDialectOrElse({ pg: () => sql`FOR SHARE OF h`, orElse: () => sql`` })
  /**
   * Takes calls that nobody was sent yet, for this process only, while the connection is of the house process `holder`.
   * `strangers`: those that began to wait when the host had just become private.
   */
  const take = Effect.fnUntraced(function* (
    host: string,
    connection: { instance: string; holder: string },
    limit: number,
  ) {
    const { holder, instance } = connection
    const rows =
      yield* sql<Found>`SELECT ${columns}, CASE WHEN ${isMeant} THEN 1 ELSE 0 END AS is_meant FROM calls c JOIN hosts h ON h.id = ${host} AND h.holder = ${holder}
      LEFT JOIN hosted_calls s ON s.call = c.id
      WHERE ${waits(host)} AND s.call IS NULL ORDER BY c.created_at, c.id LIMIT ${limit} ${whileHeld}`
    const found = rows.map(({ isMeant, ...row }) => ({ row, isMeant: flag(isMeant) }))
    const meant = found.filter((one) => one.isMeant).map(({ row }) => row)
    if (meant.length > 0)
      yield* sql`INSERT INTO hosted_calls ${sql.insert(meant.map(({ id }) => ({ call: id, host, instance })) as never)}`
    const strangers = found.filter((one) => !one.isMeant)
    return {
      calls: meant.map(sent),
      strangers: strangers.map(({ row }): WaitingCall => ({ id: row.id, tool: row.tool, instance: null })),
    }
  }, Effect.orDie)

  /** Settled calls need not be remembered. */
  const forget = (host: string) =>
    Effect.orDie(
      sql`DELETE FROM hosted_calls WHERE host = ${host}
        AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.id = hosted_calls.call AND c.state = 'waiting')`,
    )

  return {
    all,
    byId,
    ofOwner,
    put,
    taken,
    remove,
    connected,
    disconnected,
    isHeldBeside,
    waiting,
    strangers,
    unanswered,
    take,
    forget,
  }
})
