/** The address of the house as seen from outside: set by the door once it is open, for services that answer later. */
import { Context, Deferred, Effect, Layer } from "effect"

export class HouseAddress extends Context.Service<
  HouseAddress,
  {
    /** Readers start before the door is open: before they send an address out, they wait here. */
    readonly known: Effect.Effect<string>
    /** The address on this machine, for programs that the house starts. */
    readonly here: Effect.Effect<string>
    readonly tell: (address: string, here: string) => Effect.Effect<void>
  }
>()("server/calls/waiting/HouseAddress") {
  static readonly layer = Layer.effect(
    HouseAddress,
    Effect.gen(function* () {
      const known = yield* Deferred.make<string>()
      const local = yield* Deferred.make<string>()
      const put = (where: typeof known, address: string) => Deferred.succeed(where, address.replace(/\/$/, ""))
      return HouseAddress.of({
        known: Deferred.await(known),
        here: Deferred.await(local),
        tell: (address, here) => Effect.asVoid(Effect.andThen(put(known, address), put(local, here))),
      })
    }),
  )
}
