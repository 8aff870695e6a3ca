/** Parts of statements for rooms above: what has woken an agent. Statements that name the table stand in this room. */
import type { PrincipalId } from "@stoa/contract"
import type { SqlClient, Statement } from "effect/sql"
import type { Naming } from "../../access/identity/Agents.ts"

export const makeTriggerReads = (sql: SqlClient.SqlClient) => ({
  /** A query for the spaces from which an agent was woken. */
  spacesOf: (agent: PrincipalId): Statement.Fragment =>
    sql`SELECT space FROM triggers WHERE agent = ${agent} AND space IS NOT NULL`,
  /** The messages that have woken an agent. */
  messagesOf: (agent: PrincipalId): Statement.Fragment =>
    sql`SELECT message FROM triggers WHERE agent = ${agent} AND message IS NOT NULL`,
  /** The name of an agent that a message has woken. */
  nameOfWoken: (message: Statement.Fragment, naming: Naming): Statement.Fragment =>
    sql`(SELECT ${naming(sql`agent.id`, sql`agent.name`)} FROM triggers woken JOIN principals agent ON agent.id = woken.agent
      WHERE woken.message = ${message} ORDER BY agent.name LIMIT 1)`,
})
