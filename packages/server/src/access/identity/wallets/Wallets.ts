/**
 * Who has a wallet, and who may use it: its holder, and those it was lent to. An address in an argument says nothing
 * about the sender (S2-78).
 */
import type { Action, Caller, Principal, PrincipalId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../rights/Grants.ts"
import { judge, rulesOnWallets, walletsIn } from "../../rights/policy.ts"
import { principalFromRow } from "../Principals.ts"
import { walletKey, walletResource } from "./walletKey.ts"

export class Wallets extends Context.Service<
  Wallets,
  {
    /** The present holder. */
    readonly holder: (address: string) => Effect.Effect<Principal | undefined>
    readonly mayUse: (who: Caller["Service"], action: Action, address: string) => Effect.Effect<boolean>
    /** The principals whose wallets the caller may use, itself first. */
    readonly usable: (who: Caller["Service"], action: Action) => Effect.Effect<ReadonlyArray<PrincipalId>>
    /** The wallets of those that have one. */
    readonly addresses: (ids: ReadonlyArray<PrincipalId>) => Effect.Effect<ReadonlyMap<PrincipalId, string>>
  }
>()("server/access/identity/Wallets") {
  static readonly layer = Layer.effect(
    Wallets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const grants = yield* Grants

      const holder: Wallets["Service"]["holder"] = Effect.fn("Wallets.holder")(function* (address) {
        const rows = yield* Effect.orDie(sql`SELECT * FROM principals WHERE wallet_key = ${walletKey(address)}`)
        return rows[0] === undefined ? undefined : principalFromRow(rows[0])
      })

      const mayUse: Wallets["Service"]["mayUse"] = Effect.fn("Wallets.mayUse")(function* (who, action, address) {
        const rules = rulesOnWallets(yield* grants.rulesOf(who))
        return (
          judge(rules, action, walletResource(`wallets/${address}`), yield* DateTime.now, who.context).verdict ===
          "allow"
        )
      })

      const usable: Wallets["Service"]["usable"] = Effect.fn("Wallets.usable")(function* (who, action) {
        const ids = [who.principal.id]
        for (const address of walletsIn(rulesOnWallets(yield* grants.rulesOf(who)))) {
          if (!(yield* mayUse(who, action, address))) continue
          const found = yield* holder(address)
          if (found !== undefined && !ids.includes(found.id)) ids.push(found.id)
        }
        return ids
      })

      const addresses: Wallets["Service"]["addresses"] = Effect.fnUntraced(function* (ids) {
        if (ids.length === 0) return new Map()
        const rows = yield* sql<{ id: PrincipalId; wallet: string }>`SELECT id, wallet FROM principals
          WHERE ${sql.in("id", [...new Set(ids)])} AND wallet_key IS NOT NULL`
        return new Map(rows.map(({ id, wallet }) => [id, wallet]))
      }, Effect.orDie)

      return Wallets.of({ holder, mayUse, usable, addresses })
    }),
  )
}
