// edge: the system's resolver is a promise.
/** Names to addresses: a port, so that a test can simulate DNS rebinding. */
import { lookup } from "node:dns/promises"
import { Context, Effect } from "effect"

export interface ResolverService {
  /** Every address of a name; none if the name does not exist. */
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<string>>
}

export const Resolver = Context.Reference<ResolverService>("tools/egress/Resolver", {
  defaultValue: () => ({
    resolve: (host) =>
      Effect.promise(() => lookup(host, { all: true, order: "verbatim" }).catch(() => [])).pipe(
        Effect.map((found) => found.map(({ address }) => address)),
      ),
  }),
})
