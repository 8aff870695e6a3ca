/** What a house does if nobody says anything, and how it refuses what it is told wrongly: the variables as they are read. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Settings } from "../../src/Settings.ts"

const settingsOf = (environment: Record<string, string>) => Effect.provide(Settings, Settings.layer(environment))

describe("settings", () => {
  it.effect(
    "G-44 without a variable the house is safe: on loopback, with a token or not at all, its programs isolated",
    () =>
      Effect.gen(function* () {
        // An empty variable counts as absent.
        for (const environment of [{}, { STOA_HOST: "", STOA_ANONYMOUS: "", STOA_PROGRAMS: "", DATABASE_URL: "" }]) {
          const settings = yield* settingsOf(environment)
          const { host, loopback, log, monthBudget, port, programs, runner, sessionBudget } = settings
          assert.deepStrictEqual(
            { host, loopback, port, programs, runner, log },
            { host: "127.0.0.1", loopback: true, port: 4040, programs: "isolated", runner: "single", log: "info" },
          )
          assert.deepStrictEqual([monthBudget, sessionBudget], [200, 5])
          // Nobody is let in without a token, no key is known beforehand, and nothing is sent anywhere.
          for (const name of ["anonymous", "adminToken", "secretKey", "publicUrl", "database", "otlpUrl"] as const)
            assert.isTrue(Option.isNone<unknown>(settings[name]), name)
        }
        assert.isFalse((yield* settingsOf({ STOA_HOST: "0.0.0.0" })).loopback)
      }),
  )

  it.effect("G-44 a setting that is wrong stops the start with its name, what it takes and its default", () =>
    Effect.gen(function* () {
      const table: ReadonlyArray<readonly [environment: Record<string, string>, message: RegExp]> = [
        [{ STOA_HOTS: "0.0.0.0" }, /^There is no setting STOA_HOTS\. The settings are: STOA_HOST, STOA_PORT,/],
        [{ STOA_PORT: "many" }, /^STOA_PORT is not valid\. Port to listen on; .* Default: 4040\.$/],
        [{ STOA_PORT: "65536" }, /^STOA_PORT must be a number from 0 to 65535\.$/],
        [{ STOA_PROGRAMS: "loose" }, /^STOA_PROGRAMS is not valid\. `isolated`: .* Default: isolated\.$/],
        [{ STOA_LOG: "loud" }, /^STOA_LOG is not valid\. .* Default: info\.$/],
        [{ STOA_MONTH_BUDGET: "-1" }, /^STOA_MONTH_BUDGET must be a number of US dollars, 0 or more\.$/],
        [{ STOA_ADMIN_TOKEN: "short" }, /^STOA_ADMIN_TOKEN has fewer than 16 characters\./],
        [
          { STOA_ANONYMOUS: "guest", STOA_HOST: "0.0.0.0" },
          /^STOA_ANONYMOUS works on loopback only, and STOA_HOST is 0\.0\.0\.0\. Unset one of the two\.$/,
        ],
        [{ STOA_PUBLIC_URL: "house" }, /^STOA_PUBLIC_URL is not an address\. Give one such as /],
        [{ STOA_RUNNER: "cluster" }, /^STOA_RUNNER=cluster needs Postgres: /],
      ]
      for (const [environment, message] of table) {
        const error = yield* Effect.flip(settingsOf(environment))
        assert.deepStrictEqual([error._tag, error.exitCode], ["StartError", 2])
        assert.match(error.message, message)
      }
    }),
  )
})
