/**
 * In whose place a tool acts. `wallet_address` stays in the seed's schemas, and is never believed: to write, it is the
 * caller's own wallet or one that was lent to it; to read, another's shows what is public (S2-17, S2-78).
 */
import { Caller, Forbidden, type MemoryRecord, type Principal, type PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Wallets } from "../../access/identity/Wallets.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Memories } from "../../memory/Memories.ts"
import { missing, recordIdOf, shownEngram } from "./shapes.ts"

export interface Holder {
  /** Whose records they are, and by whose rights they are changed. */
  readonly id: PrincipalId
  /** Who does it. */
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

export const makeHolders = Effect.gen(function* () {
  const wallets = yield* Wallets
  const memories = yield* Memories

  /** Whoever has this wallet, if the caller may change what is theirs. Unknown and another's look alike. */
  const of = Effect.fnUntraced(function* (address: string, call: HandlerCall, action: Change = "write") {
    const caller = yield* Caller
    const found = (yield* wallets.mayUse(caller, action, address)) ? yield* wallets.holder(address) : undefined
    if (found === undefined) return yield* notYours(address, action, caller.principal)
    return { id: found.id, acting: caller.principal.id, call: call.id } satisfies Holder
  })

  /** Whose it is, and as whom it is read: as its holder where the caller may, as a stranger otherwise. Undefined: nobody's. */
  const readable = Effect.fnUntraced(function* (address: string) {
    const caller = yield* Caller
    const found = yield* wallets.holder(address)
    if (found === undefined) return undefined
    const own = yield* wallets.mayUse(caller, "read", address)
    return { owner: found.id, reader: own ? found.id : caller.principal.id, own }
  })

  /** For what is shown of a wallet while something in it is changed: a wallet that was lent for writing alone is not read. */
  const requireReading = Effect.fnUntraced(function* (address: string) {
    const caller = yield* Caller
    if (!(yield* wallets.mayUse(caller, "read", address))) return yield* notYours(address, "read", caller.principal)
  })

  /** An engram by its id, of the caller's or of somebody whose wallet it was lent; any other is not there (S2-28). */
  const byId = Effect.fnUntraced(function* (given: string, call: HandlerCall, action: Change) {
    const caller = yield* Caller
    for (const id of yield* wallets.usable(caller, action)) {
      const record = yield* Effect.catchTag(memories.get({ id }, recordIdOf(given)), "Missing", () =>
        Effect.succeed(undefined),
      )
      if (record?.owner === id && record.namespace === "engrams") {
        const holder: Holder = { id, acting: caller.principal.id, call: call.id }
        return { record, holder }
      }
    }
    return yield* missing(given)
  })

  const show = Effect.fnUntraced(function* (records: ReadonlyArray<MemoryRecord>) {
    const addresses = yield* wallets.addresses(records.map(({ owner }) => owner))
    return records.map((record) => shownEngram(record, addresses.get(record.owner)))
  })

  return { of, readable, requireReading, byId, show }
})

export type Holders = Effect.Success<typeof makeHolders>
