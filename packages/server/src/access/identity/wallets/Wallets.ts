/**
 * Who has a wallet, and who may use it: its holder, and those it was lent to. An address in an argument says nothing
 * about the sender (S2-78).
 */
import { type Action, Caller, Forbidden, type Principal, type PrincipalId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../rights/Grants.ts"
import { judge, rulesOnWallets, walletsIn } from "../../rights/policy.ts"
import { principalFromRow } from "../Principals.ts"
import { walletKey, walletResource } from "./walletKey.ts"

export interface WalletReading {
  readonly owner: PrincipalId
  readonly reader: PrincipalId
}

/**
 * A run that began in a chat session: the person behind the session, who lends their wallet to it. Undefined: they no
 * longer do, because the session has ended, or it was somebody else who woke the agent there.
 */
interface Visit {
  readonly visitor: Principal | undefined
}
type VisitOf = (run: string) => Effect.Effect<Visit | undefined>

const notYours = (address: string, action: Action, { wallet }: Principal) =>
  new Forbidden({
    action,
    resource: `wallets/${address}`,
    rule: "a wallet is its holder's",
    instead:
      wallet === null
        ? "You have no wallet: an admin gives you one, or its holder lends you theirs (POST /api/v1/delegations)."
        : `Yours is ${wallet}. Its holder may lend you another (POST /api/v1/delegations).`,
  })

export class Wallets extends Context.Service<
  Wallets,
  {
    /** The present holder. */
    readonly holder: (address: string) => Effect.Effect<Principal | undefined>
    /** The holder, if the caller may use its wallet. Unknown wallets and those of others look the same. */
    readonly require: (action: Action, address: string) => Effect.Effect<Principal, Forbidden, Caller>
    /**
     * The holder, and as whom to read its things: as the holder if the caller may, otherwise as a stranger, who sees what
     * is public. Undefined: nobody's wallet.
     */
    readonly readable: (address: string) => Effect.Effect<WalletReading | undefined, never, Caller>
    /** The principals whose wallets the caller may use, itself first. */
    readonly usable: (who: Caller["Service"], action: Action) => Effect.Effect<ReadonlyArray<PrincipalId>>
    /** Whose wallet a caller uses by itself: in a chat session that of the visitor, or nobody's; elsewhere its own. */
    readonly behind: (who: Caller["Service"]) => Effect.Effect<Principal | undefined>
    /** Whether there is any wallet that a caller may use. */
    readonly hasAny: (who: Caller["Service"]) => Effect.Effect<boolean>
    /** Says which runs are visits: told later, because the room that knows is built on this one. */
    readonly learn: (visitOf: VisitOf) => void
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

      let visitOf: VisitOf = () => Effect.undefined
      const visitBy = ({ run }: Caller["Service"]) => (run === undefined ? Effect.undefined : visitOf(run))

      const behind: Wallets["Service"]["behind"] = Effect.fn("Wallets.behind")(function* (who) {
        const visit = yield* visitBy(who)
        return visit === undefined ? who.principal : visit.visitor
      })

      /**
       * In a chat session, the visitor lends exactly one wallet, as far as they may use it themselves; what the agent has
       * or was lent by others is not for this visitor.
       */
      const rulesFor = Effect.fnUntraced(function* (who: Caller["Service"]) {
        const own = rulesOnWallets(yield* grants.rulesOf(who))
        const visit = yield* visitBy(who)
        if (visit === undefined) return own
        const { visitor } = visit
        if (visitor === undefined || visitor.wallet === null) return []
        const lent = {
          name: `chat session with ${visitor.id}`,
          resource: walletResource(`wallets/${visitor.wallet}`),
          actions: ["read", "write", "delete"] as const,
          effect: "allow" as const,
          expiresAt: null,
          lentBy: rulesOnWallets(yield* grants.rulesOfPrincipal(visitor)),
        }
        return [...own.filter(({ effect, lentBy }) => lentBy === undefined && effect !== "allow"), lent]
      })

      const hasAny: Wallets["Service"]["hasAny"] = Effect.fn("Wallets.hasAny")(function* (who) {
        return who.principal.wallet !== null && who.run === undefined ? true : walletsIn(yield* rulesFor(who)).size > 0
      })

      const mayUse = Effect.fn("Wallets.mayUse")(function* (who: Caller["Service"], action: Action, address: string) {
        const rules = yield* rulesFor(who)
        return (
          judge(rules, action, walletResource(`wallets/${address}`), yield* DateTime.now, who.context).verdict ===
          "allow"
        )
      })

      const require: Wallets["Service"]["require"] = Effect.fn("Wallets.require")(function* (action, address) {
        const caller = yield* Caller
        const found = (yield* mayUse(caller, action, address)) ? yield* holder(address) : undefined
        return found ?? (yield* notYours(address, action, caller.principal))
      })

      const readable: Wallets["Service"]["readable"] = Effect.fn("Wallets.readable")(function* (address) {
        const caller = yield* Caller
        const found = yield* holder(address)
        if (found === undefined) return undefined
        return { owner: found.id, reader: (yield* mayUse(caller, "read", address)) ? found.id : caller.principal.id }
      })

      const usable: Wallets["Service"]["usable"] = Effect.fn("Wallets.usable")(function* (who, action) {
        const ids = (yield* visitBy(who)) === undefined ? [who.principal.id] : []
        for (const address of walletsIn(yield* rulesFor(who))) {
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

      const learn: Wallets["Service"]["learn"] = (told) => void (visitOf = told)

      return Wallets.of({ holder, require, readable, usable, behind, hasAny, learn, addresses })
    }),
  )
}
