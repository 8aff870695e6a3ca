/**
 * For whom a tool acts. `wallet_address` stays in the seed's schemas, and is never trusted: `Wallets` says whether the
 * caller may use it, and as whom it reads (S2-17, S2-78).
 */
import { Caller, type MemoryRecord, type PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Wallets } from "../../access/identity/wallets/Wallets.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Engrams } from "../../memory/Engrams.ts"
import { missingEngram, recordIdOf, engramView } from "./shapes.ts"

export interface WalletHolder {
  /** The owner of the records, whose rights apply to changes. */
  readonly id: PrincipalId
  /** The principal that acts. */
  readonly acting: PrincipalId
  readonly call: HandlerCall["id"]
}

export type Change = "write" | "delete"

export const makeWalletHolders = Effect.gen(function* () {
  const wallets = yield* Wallets
  const engrams = yield* Engrams

  /** The holder of this wallet, if the caller may change its records. */
  const of = Effect.fnUntraced(function* (address: string, call: HandlerCall, action: Change = "write") {
    const { id } = yield* wallets.require(action, address)
    return { id, acting: (yield* Caller).principal.id, call: call.id } satisfies WalletHolder
  })

  /** For what needs no wallet: the visitor in whose chat session it is, or the caller. */
  const self = Effect.fnUntraced(function* (call: HandlerCall) {
    const { id: acting } = (yield* Caller).principal
    const id = (yield* wallets.behind(call.caller))?.id ?? acting
    return { id, acting, call: call.id } satisfies WalletHolder
  })

  const { readable } = wallets

  /** For tools that show a wallet's content while they change it: a wallet lent only for writing must not be read. */
  const requireReading = (address: string) => Effect.asVoid(wallets.require("read", address))

  /** An engram by its id, of the caller or of a wallet lent to it; any other counts as missing (S2-28). */
  const byId = Effect.fnUntraced(function* (given: string, call: HandlerCall, action: Change) {
    const caller = yield* Caller
    const record = yield* engrams.byId(yield* wallets.usable(caller, action), recordIdOf(given))
    if (record === undefined) return yield* missingEngram(given)
    const holder: WalletHolder = { id: record.owner, acting: caller.principal.id, call: call.id }
    return { record, holder }
  })

  const show = Effect.fnUntraced(function* (records: ReadonlyArray<MemoryRecord>) {
    const addresses = yield* wallets.addresses(records.map(({ owner }) => owner))
    return records.map((record) => engramView(record, addresses.get(record.owner)))
  })

  return { of, self, readable, requireReading, byId, show }
})

export type WalletHolders = Effect.Success<typeof makeWalletHolders>
