/**
 * Where tools may connect to (G-16), from `egress` in the configuration file: public addresses only, unless an operator
 * names an internal host. Every outgoing request of a tool runs `within` these rules.
 */
import { CurrentEgressPolicy, defaultEgressPolicy, type EgressPolicy } from "@stoa/tools"
import { Context, Effect, Layer } from "effect"
import { rightsEpoch } from "../rights/Rights.ts"
import { Rules } from "../rights/Rules.ts"

/** The most that a tool may request in its own configuration; the defaults are lower. */
const most = { maxBytes: 8 * 1024 * 1024, timeoutMs: 300_000 }

export class EgressRules extends Context.Service<
  EgressRules,
  {
    readonly policy: Effect.Effect<EgressPolicy>
    readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("server/access/secrets/EgressRules") {
  static readonly layer = Layer.effect(
    EgressRules,
    Effect.gen(function* () {
      const rules = yield* Rules
      const epochNow = yield* rightsEpoch
      // Rules change only with the epoch, so they are cached by it.
      let known: { readonly epoch: number; readonly policy: EgressPolicy } | undefined
      const policy = Effect.flatMap(Effect.suspend(epochNow), (epoch) =>
        known?.epoch === epoch
          ? Effect.succeed(known.policy)
          : Effect.map(rules.egress, (stated) => {
              known = { epoch, policy: { ...defaultEgressPolicy, ...most, ...stated } }
              return known.policy
            }),
      )
      return EgressRules.of({
        policy,
        within: (effect) => Effect.flatMap(policy, (now) => Effect.provideService(effect, CurrentEgressPolicy, now)),
      })
    }),
  )
}
