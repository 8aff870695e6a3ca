/** Who a credential originally came from: whoever made or gave it may have it too. */
import type { Caller, PrincipalId, TokenId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who a credential originally came from, and after which event of the journal (`Journal.committed`). */
export interface FirstIssuer {
  readonly hand: PrincipalId | null
  readonly handAfter: number
}

export const makeFirstIssuer = Effect.map(SqlClient.SqlClient, (sql) => {
  const ofToken = (id: TokenId): Effect.Effect<FirstIssuer | undefined> =>
    Effect.map(Effect.orDie(sql<FirstIssuer>`SELECT hand, hand_after FROM tokens WHERE id = ${id}`), (rows) => rows[0])
  /**
   * What principals give themselves, a token or a wallet, comes from whoever their own token came from. Undefined: from
   * whoever gives it, and from now on.
   */
  const ofGift = (caller: Caller["Service"] | undefined, to: PrincipalId): Effect.Effect<FirstIssuer | undefined> =>
    caller?.principal.id === to && caller.token !== null ? ofToken(caller.token) : Effect.succeed(undefined)
  return { ofToken, ofGift }
})
