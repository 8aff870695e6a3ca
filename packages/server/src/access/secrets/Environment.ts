/**
 * Which environment variables tools may read (S1-26): only those listed under `env` in the configuration file. The list
 * is checked at every call, so that removing a name works at once.
 */
import { WrongState } from "@stoa/contract"
import { Context, Effect, Layer, Redacted } from "effect"
import { Settings } from "../../Settings.ts"
import { Rules } from "../rights/Rules.ts"

export class Environment extends Context.Service<
  Environment,
  {
    /** The names that may be read. */
    readonly names: Effect.Effect<ReadonlyArray<string>>
    readonly read: (name: string) => Effect.Effect<Redacted.Redacted, WrongState>
  }
>()("server/access/secrets/Environment") {
  static readonly layer = Layer.effect(
    Environment,
    Effect.gen(function* () {
      const rules = yield* Rules
      const { variable } = yield* Settings
      const read: Environment["Service"]["read"] = Effect.fn("Environment.read")(function* (name) {
        if (!(yield* rules.env).includes(name))
          return yield* new WrongState({
            detail: `Tools may not read the environment variable ${name}. An operator can list it under "env" in the configuration file.`,
          })
        const value = variable(name)
        // An empty variable counts as not set.
        if (value === undefined || value === "")
          return yield* new WrongState({
            detail: `The environment variable ${name} is not set. Set it where the house is started.`,
          })
        return Redacted.make(value)
      })
      return Environment.of({ names: rules.env, read })
    }),
  )
}
