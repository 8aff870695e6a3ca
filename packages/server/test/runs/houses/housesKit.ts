/** Several houses on one Postgres database, each in a process of its own, with agents that think by the same rules. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { Store } from "../../../src/store/database/Store.ts"
import { token } from "../../killedHouse.ts"
import { spawned } from "../../store/crash/crashProcess.ts"
import { houseDatabase, tempFolder } from "../../stores.ts"
import { config } from "../runsKit.ts"

export const key = "a-key-that-all-houses-have-got"

/** What a house on a database is started with. */
export const clusterAt = Effect.fnUntraced(function* (address: string) {
  const url = Redacted.make(address)
  const shared = yield* tempFolder
  return {
    database: address,
    rules: (rules: ReadonlyArray<object>) => writeFileSync(join(shared, "rules.json"), JSON.stringify({ rules })),
    config: {
      ...config,
      models: { demo: { provider: "scripted", rules: join(shared, "rules.json"), price: { in: 1, out: 10 } } },
    },
    look: <A, E>(body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
      Effect.scoped(Effect.provide(Effect.orDie(body), Layer.fresh(Store.layerPostgres(url, 2)))),
  }
})

/** A database of its own. */
export const cluster = Effect.flatMap(houseDatabase, ({ url }) => clusterAt(Redacted.value(url)))
type Cluster = Effect.Success<typeof cluster>

/** A process with a house, which says that it is ready, or why it refuses. */
export const begun = Effect.fnUntraced(function* (
  { config: file, database }: Cluster,
  more: { readonly database?: string; readonly key?: string; readonly runner?: "cluster" | "single" } = {},
) {
  const folder = yield* tempFolder
  writeFileSync(join(folder, "stoa.config.json"), JSON.stringify(file))
  const child = yield* spawned(new URL("./houseProcess.ts", import.meta.url), [
    folder,
    token,
    more.database ?? database,
    more.runner ?? "cluster",
    more.key ?? key,
  ])
  return { child, line: yield* child.line }
})

export const open = Effect.fnUntraced(function* (on: Cluster, more?: Parameters<typeof begun>[1]) {
  const { child, line } = yield* begun(on, more)
  assert.match(line, /^ready /)
  return { child, url: line.slice("ready ".length) }
})
export type Open = Effect.Success<ReturnType<typeof open>>
