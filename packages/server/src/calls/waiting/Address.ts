/** The address of the house as seen from outside: set by the door once it is open, for services that answer later. */
import { Context, Deferred, Effect, Layer } from "effect"

export class Address extends Context.Service<
  Address,
  {
    /** Readers run before the door is open: what they send out with an address in it waits for it. */
    readonly known: Effect.Effect<string>
    readonly tell: (address: string) => Effect.Effect<void>
  }
>()("server/calls/waiting/Address") {
  static readonly layer = Layer.effect(
    Address,
    Effect.map(Deferred.make<string>(), (known) =>
      Address.of({
        known: Deferred.await(known),
        tell: (address) => Effect.asVoid(Deferred.succeed(known, address.replace(/\/$/, ""))),
      }),
    ),
  )
}
