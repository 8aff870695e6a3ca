/** Where the house is reached from outside: told by the door once it is open, for those who are asked to answer later. */
import { Context, Effect, Layer } from "effect"

export class Address extends Context.Service<
  Address,
  { readonly now: () => string; readonly tell: (address: string) => Effect.Effect<void> }
>()("server/calls/waiting/Address") {
  static readonly layer = Layer.sync(Address, () => {
    let known = ""
    return Address.of({
      now: () => known,
      tell: (address) => Effect.sync(() => void (known = address.replace(/\/$/, ""))),
    })
  })
}
