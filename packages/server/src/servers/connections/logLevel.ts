/**
 * How much an old-era server logs. It has one level for everybody who shares the connection: the default level of
 * clients, and everything once somebody wants more. Who receives what is filtered per client.
 */
import type { MCPConnection } from "@stoa/tools"
import { Effect } from "effect"

const usual = "info"
const wanted = new WeakMap<MCPConnection, "info" | "debug">()

/** The server has connected, perhaps again. */
export const beginLog = (connection: MCPConnection): Effect.Effect<void> =>
  Effect.ignore(connection.setLogLevel(wanted.get(connection) ?? usual))

/** Before a client's call: the server must log at least what this client wants. */
export const lowerLog = (connection: MCPConnection, level: string | undefined): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (level !== "debug" || wanted.get(connection) === "debug") return Effect.void
    wanted.set(connection, "debug")
    return Effect.ignore(connection.setLogLevel("debug"))
  })
