/**
 * For whom a tool acts. `wallet_address` stays in the seed's schemas, and is never trusted: to write, it must be the
 * caller's own wallet or one lent to it; to read, another's wallet shows what is public (S2-17, S2-78).
 */
import { Caller, Forbidden, type MemoryRecord, type Principal, type PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Wallets } from "../../access/identity/wallets/Wallets.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Memories } from "../../memory/Memories.ts"
import { missingEngram, recordIdOf, engramView } from "./shapes.ts"

export interface WalletHolder {
  /** The owner of the records, whose rights apply to changes. */
  readonly id: PrincipalId
  /** The principal that acts. */
  readonly acting: PrincipalId
  readonly call: HandlerCall["id"]
}

export type Change = "write" | "delete"

const notYours = (address: string, action: Change | "read", { wallet }: Principal) =>
  new Forbidden({
    action,
    resource: `wallets/${address}`,
    rule: "a wallet is its holder's",
    instead:
      wallet === null
        ? "You have no wallet: an admin gives you one, or its holder lends you theirs (POST /api/v1/delegations)."
        : `Yours is ${wallet}. Its holder may lend you another (POST /api/v1/delegations).`,
  })

export const makeWalletHolders = Effect.gen(function* () {
  const wallets = yield* Wallets
  const memories = yield* Memories

  /**
   * The holder of this wallet, if the caller may change its records. Unknown wallets and those of others look the same.
   */
  const of = Effect.fnUntraced(function* (address: string, call: HandlerCall, action: Change = "write") {
    const caller = yield* Caller
    const found = (yield* wallets.mayUse(caller, action, address)) ? yield* wallets.holder(address) : undefined
    if (found === undefined) return yield* notYours(address, action, caller.principal)
    return { id: found.id, acting: caller.principal.id, call: call.id } satisfies WalletHolder
  })

  /**
   * The holder, and as whom to read: as the holder if the caller may, otherwise as a stranger. Undefined: nobody's
   * wallet.
   */
  const readable = Effect.fnUntraced(function* (address: string) {
    const caller = yield* Caller
    const found = yield* wallets.holder(address)
    if (found === undefined) return undefined
    const own = yield* wallets.mayUse(caller, "read", address)
    return { owner: found.id, reader: own ? found.id : caller.principal.id, own }
  })

  /** For tools that show a wallet's content while they change it: a wallet lent only for writing must not be read. */
  const requireReading = Effect.fnUntraced(function* (address: string) {
    const caller = yield* Caller
    if (!(yield* wallets.mayUse(caller, "read", address))) return yield* notYours(address, "read", caller.principal)
  })

  /** An engram by its id, of the caller or of a wallet lent to it; any other counts as missing (S2-28). */
  const byId = Effect.fnUntraced(function* (given: string, call: HandlerCall, action: Change) {
    const caller = yield* Caller
    for (const id of yield* wallets.usable(caller, action)) {
      const record = yield* Effect.catchTag(memories.get({ id }, recordIdOf(given)), "Missing", () =>
        Effect.succeed(undefined),
      )
      if (record?.owner === id && record.namespace === "engrams") {
        const holder: WalletHolder = { id, acting: caller.principal.id, call: call.id }
        return { record, holder }
      }
    }
    return yield* missingEngram(given)
  })

  const show = Effect.fnUntraced(function* (records: ReadonlyArray<MemoryRecord>) {
    const addresses = yield* wallets.addresses(records.map(({ owner }) => owner))
    return records.map((record) => engramView(record, addresses.get(record.owner)))
  })

  return { of, readable, requireReading, byId, show }
})

export type WalletHolders = Effect.Success<typeof makeWalletHolders>
