/**
 * Rows of MCP servers and of their pinned tools. The connection details of a server are encrypted, because they may
 * contain keys.
 */
import { MCPServerTool, type MCPServerSpec, type MCPTransport, type PrincipalId, type Source } from "@stoa/contract"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { nameKey } from "../access/identity/Principals.ts"
import type { Secrets } from "../access/secrets/Secrets.ts"
import type { Pin, Step } from "./tools/pins.ts"
import { transportOf } from "./connections/connectionConfig.ts"

export interface Server {
  readonly id: string
  readonly name: string
  readonly transport: MCPTransport
  /** Undefined: encrypted with another key than the present one. */
  readonly spec: MCPServerSpec | undefined
  readonly source: Source
  readonly owner: PrincipalId | null
  /** Rises with each change: a connection made for an older revision is replaced. */
  readonly revision: number
  readonly createdAt: DateTime.Utc
}

interface ServerRow extends Omit<Server, "spec" | "createdAt"> {
  readonly spec: Uint8Array
  readonly createdAt: string
}

/** Unique among the house's servers, and among each agent's own. */
export const serverKey = (name: string, owner: PrincipalId | null): string => `${owner ?? ""}/${nameKey(name)}`

const parseMoment = Schema.decodeSync(Schema.DateTimeUtcFromString)

interface ToolRow {
  readonly tool: string
  readonly state: Pin["state"]
  readonly definition: string
  readonly digest: string
  readonly heldDefinition: string | null
  readonly heldDigest: string | null
  readonly firstSeenAt: string
}

const toolFrom = (row: ToolRow): MCPServerTool =>
  new MCPServerTool({
    name: row.tool,
    state: row.state,
    definition: JSON.parse(row.definition) as Schema.Json,
    digest: row.digest,
    held:
      row.heldDefinition === null || row.heldDigest === null
        ? null
        : { definition: JSON.parse(row.heldDefinition) as Schema.Json, digest: row.heldDigest },
    firstSeenAt: parseMoment(row.firstSeenAt),
  })

export const makeRows = (sql: SqlClient.SqlClient, secrets: Secrets["Service"]) => {
  const label = (id: string) => `mcp-server/${id}`
  const sealed = (id: string, spec: MCPServerSpec) => secrets.seal(label(id), Buffer.from(JSON.stringify(spec)))

  const opened = (row: ServerRow) =>
    Effect.try(
      () => JSON.parse(Buffer.from(secrets.unseal(label(row.id), row.spec)).toString("utf8")) as MCPServerSpec,
    ).pipe(
      Effect.orElseSucceed(() => undefined),
      Effect.map((spec): Server => ({ ...row, spec, createdAt: parseMoment(row.createdAt) })),
    )

  const all = Effect.gen(function* () {
    const rows = yield* sql<ServerRow>`SELECT id, name, transport, spec, source, owner, revision, created_at
      FROM mcp_servers ORDER BY name_key`
    return yield* Effect.forEach(rows, opened)
  }).pipe(Effect.orDie)

  const insert = Effect.fnUntraced(function* (
    server: Pick<Server, "id" | "name" | "source" | "owner"> & { readonly spec: MCPServerSpec },
  ) {
    const { id, name, owner, source, spec } = server
    const row = {
      id,
      name,
      nameKey: serverKey(name, owner),
      transport: transportOf(spec),
      spec: sealed(id, spec),
      source,
      owner,
      revision: 1,
      createdAt: DateTime.formatIso(yield* DateTime.now),
    }
    yield* sql`INSERT INTO mcp_servers ${sql.insert(row)}`
  })

  const update = Effect.fnUntraced(function* (id: string, name: string, spec: MCPServerSpec, elsewhere: boolean) {
    const row = { name, transport: transportOf(spec), spec: sealed(id, spec) }
    yield* sql`UPDATE mcp_servers SET ${sql.update(row)}, revision = revision + 1 WHERE id = ${id}`
    // Another program's definitions are not a change of this one's.
    if (elsewhere) yield* sql`DELETE FROM mcp_tools WHERE server = ${id}`
  }, Effect.orDie)

  const remove = Effect.fnUntraced(function* (id: string) {
    yield* sql`DELETE FROM mcp_tools WHERE server = ${id}`
    yield* sql`DELETE FROM mcp_servers WHERE id = ${id}`
  }, Effect.orDie)

  const pins = Effect.gen(function* () {
    const rows = yield* sql<
      Pin & { readonly server: string }
    >`SELECT server, tool, state, digest, held_digest, pinned_at
      FROM mcp_tools`
    const byServer = new Map<string, Map<string, Pin>>()
    for (const { server, ...pin } of rows) {
      const mine = byServer.get(server) ?? new Map<string, Pin>()
      byServer.set(server, mine.set(pin.tool, pin))
    }
    return byServer
  }).pipe(Effect.orDie)

  const write = Effect.fnUntraced(function* (server: string, { definition, digest, kind, tool }: Step) {
    const now = DateTime.formatIso(yield* DateTime.now)
    const at = { definition, digest, state: "active", heldDefinition: null, heldDigest: null }
    const mine = sql`WHERE server = ${server} AND tool = ${tool}`
    if (kind === "hold" || kind === "again")
      yield* sql`UPDATE mcp_tools SET ${sql.update({ state: "held", heldDefinition: definition, heldDigest: digest })} ${mine}`
    else if (kind === "pin") {
      const row = { server, tool, ...at, firstSeenAt: now, pinnedAt: now }
      yield* sql`INSERT INTO mcp_tools ${sql.insert(row)} ON CONFLICT (server, tool) DO NOTHING`
    } else {
      // Only an acceptance changes the date: a tool that returns to its pinned definition keeps it.
      const since = kind === "accept" ? { pinnedAt: now } : {}
      yield* sql`UPDATE mcp_tools SET ${sql.update({ ...at, ...since })} ${mine}`
    }
  }, Effect.orDie)

  const tools = Effect.fnUntraced(function* (server: string) {
    const rows = yield* sql<ToolRow>`SELECT tool, state, definition, digest, held_definition, held_digest, first_seen_at
      FROM mcp_tools WHERE server = ${server} ORDER BY tool`
    return rows.map(toolFrom)
  }, Effect.orDie)

  /** Accepts the held definition; returns its digest, or undefined if the held one is not the one that was seen. */
  const accept = Effect.fnUntraced(function* (server: string, tool: string, seen: string) {
    const rows = yield* sql<{ digest: string }>`UPDATE mcp_tools SET state = 'active', definition = held_definition,
      digest = held_digest, held_definition = NULL, held_digest = NULL,
      pinned_at = ${DateTime.formatIso(yield* DateTime.now)}
      WHERE server = ${server} AND tool = ${tool} AND state = 'held' AND held_digest = ${seen} RETURNING digest`
    return rows[0]?.digest
  }, Effect.orDie)

  return { all, insert, update, remove, pins, tools, write, accept }
}
