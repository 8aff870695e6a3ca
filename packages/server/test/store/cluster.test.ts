/** effect/cluster on our drivers: its storages open, and a workflow is finished by the process after the one that died. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { MessageStorage, RunnerStorage, ShardingConfig, SqlMessageStorage, SqlRunnerStorage } from "effect/cluster"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { spawned } from "./crashProcess.ts"
import { places, tempDatabase, tempFolder } from "../stores.ts"

const addresses = {
  sqlite: Effect.map(tempFolder, (folder) => join(folder, "stoa.db")),
  postgres: Effect.map(tempDatabase, ({ url }) => Redacted.value(url)),
}

for (const [name, place] of places)
  describe(`effect/cluster on ${name}`, () => {
    it.live("its storages open on our driver, whose names are transformed, and open again on what is there", () =>
      Effect.gen(function* () {
        const store = yield* place
        const storages = Layer.mergeAll(SqlMessageStorage.layer, SqlRunnerStorage.layer).pipe(
          Layer.provide(Digest.layerWebCrypto),
          Layer.provide(ShardingConfig.layer()),
          Layer.provideMerge(store),
        )
        const look = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const messages = yield* MessageStorage.MessageStorage
          const runners = yield* RunnerStorage.RunnerStorage
          assert.deepStrictEqual(yield* runners.getRunners, [])
          assert.isTrue(
            Option.isNone(
              Option.fromNullishOr(yield* messages.unprocessedMessages([]).pipe(Effect.map((all) => all[0]))),
            ),
          )
          return yield* sql`SELECT entity_type, request_id FROM cluster_messages`
        })
        for (const _ of [1, 2])
          assert.deepStrictEqual(yield* Effect.scoped(Effect.provide(look, Layer.fresh(storages))), [])
      }),
    )

    it.live("a workflow goes on after kill -9: what was finished is not done again, what was under way is", () =>
      Effect.gen(function* () {
        const where = yield* addresses[name as keyof typeof addresses]
        const log = join(yield* tempFolder, "log")
        const said = (child: { readonly line: Effect.Effect<string> }, wanted: string): Effect.Effect<string> =>
          Effect.flatMap(child.line, (line) =>
            line.startsWith(wanted)
              ? Effect.succeed(line)
              : line.startsWith("exited")
                ? Effect.die(line)
                : said(child, wanted),
          )
        const first = yield* spawned(new URL("./clusterRunner.ts", import.meta.url), [name, where, log, "hang"])
        yield* said(first, "second")
        yield* first.kill
        const second = yield* spawned(new URL("./clusterRunner.ts", import.meta.url), [name, where, log, "go"])
        yield* said(second, "waiting")
        // And once more, while it waits for a person: nothing is held.
        yield* second.kill
        const third = yield* spawned(new URL("./clusterRunner.ts", import.meta.url), [name, where, log, "go"])
        yield* third.say("Ada")
        assert.strictEqual(yield* said(third, "result"), "result: first done, second done, approved by Ada, third done")
        assert.strictEqual(yield* third.exit, 0)
        const steps = readFileSync(log, "utf8")
          .split("\n")
          .filter((line) => line !== "" && line !== "waiting")
        assert.deepStrictEqual(steps, ["first", "second", "second", "third"])
      }),
    )
  })
