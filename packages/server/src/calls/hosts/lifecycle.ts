/**
 * The states of a host's connection as a total table: a new state or step does not compile until every cell is filled.
 */

/**
 * `declared`: it has never been connected. `away`: its process is gone, and may come back. `lost`: it did not come
 * back, and the calls it was sent have failed. `removed`: the host no longer exists.
 */
export type ConnectionState = "declared" | "connected" | "away" | "lost" | "removed"
/** `connect` may also replace another connection; `lapse`: its time to come back is over. */
export type ConnectionStep = "connect" | "leave" | "lapse" | "remove"

/** null: refused, and nothing changes. */
export const nextState: Record<ConnectionState, Record<ConnectionStep, ConnectionState | null>> = {
  declared: { connect: "connected", leave: null, lapse: null, remove: "removed" },
  connected: { connect: "connected", leave: "away", lapse: null, remove: "removed" },
  away: { connect: "connected", leave: null, lapse: "lost", remove: "removed" },
  lost: { connect: "connected", leave: null, lapse: null, remove: "removed" },
  removed: { connect: null, leave: null, lapse: null, remove: null },
}

/**
 * The state of a host that this process learns of from its row: another process declared it, or it existed before this
 * one began. Whoever was away then has had its time.
 */
export const stateIn = (row: { readonly connected: boolean; readonly instance: string | null }): ConnectionState =>
  row.connected ? "connected" : row.instance === null ? "declared" : "lost"

/** Whether to send it a call: its process is connected, or may be back in a moment. */
export const takesCalls = (state: ConnectionState): boolean => state === "connected" || state === "away"
