/**
 * Who may send the result of a call that waits for a host: its owner, if the host was sent this call, and, if it is
 * somebody else's, only as long as the host is shared and its owner may share it.
 */
import { type Caller, Forbidden, type Principal } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Flag } from "../../store/database/dialect/Columns.ts"
import type { CallRow } from "../road/record/rows.ts"
import { makeSharing } from "./sharing.ts"

interface Answerer {
  readonly name: string
  readonly owner: string
  readonly shared: unknown
  /** The process that was sent the call. */
  readonly instance: string | null
}

type Waiting = Pick<CallRow, "id" | "principal" | "onKind" | "onId">

const flag = Schema.decodeUnknownSync(Flag)

export const makeResultRights = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sharing = yield* makeSharing

  /** The host that a call waits for, if it waits for one and it is of this principal. */
  const hostOf = Effect.fnUntraced(function* ({ id, onId, onKind }: Waiting, by: Principal) {
    if (onKind !== "callback" || onId === null || onId === id) return undefined
    const [host] = yield* sql<Answerer>`SELECT h.name, h.owner, h.shared, s.instance FROM hosts h
      LEFT JOIN hosted_calls s ON s.host = h.id AND s.call = ${id} WHERE h.id = ${onId} AND h.owner = ${by.id}`
    return host
  }, Effect.orDie)

  return {
    /** Whether a host knows of a call: it was sent it. A settled call is no secret, and it is not remembered who was. */
    knows: (row: Waiting, by: Principal, isSettled: boolean): Effect.Effect<boolean> =>
      Effect.map(hostOf(row, by), (host) => host !== undefined && (isSettled || host.instance !== null)),
    /** Fails unless a result of this caller counts now. */
    require: Effect.fnUntraced(function* (row: Waiting, by: Caller["Service"]) {
      const refused = (rule: string) => new Forbidden({ action: "submit", resource: `calls/${row.id}`, rule })
      if (row.onId === row.id) return yield* refused("signed callbacks only")
      const host = yield* hostOf(row, by.principal)
      if (host === undefined) return yield* refused("its host only")
      if (host.instance === null) return yield* refused("its host only, once it was sent this call")
      if (row.principal === by.principal.id) return
      const shared = flag(host.shared)
      if (!shared) return yield* refused("a private host answers only its owner")
      yield* sharing.require(by, { name: host.name, shared })
    }),
  }
})
