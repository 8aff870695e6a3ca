/** A house in a process of its own, to be killed at once and started again on the same database; and a look at what it left. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { pause } from "../../../test/pause.ts"
import { Store } from "../src/store/database/Store.ts"
import { config } from "./calls/callsKit.ts"
import { spawned } from "./store/crash/crashProcess.ts"
import { type Stored, houseDatabase, tempFolder } from "./stores.ts"

export const token = "stoa_the-admin-of-houses-that-are-killed"

export interface Home {
  readonly args: ReadonlyArray<string>
  readonly store: Stored
  /** Nothing of the dead process is on its way into the database any more. */
  readonly quiet: Effect.Effect<void>
}

/** A dead client's last COMMIT may still be on its way through Postgres: over when none of its connections is left. */
const disconnected = (url: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const others = () =>
      client.query("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
    while ((await others()).rowCount !== 0) await pause()
    await client.end()
  })

export const homes: ReadonlyArray<readonly [string, Effect.Effect<Home, never, Scope.Scope>]> = [
  [
    "sqlite",
    Effect.map(tempFolder, (folder) => ({
      quiet: Effect.void,
      args: [folder, token],
      store: Store.layerSqlite(join(folder, "data", "stoa.db")),
    })),
  ],
  [
    "postgres",
    Effect.gen(function* () {
      const [folder, { url }] = [yield* tempFolder, yield* houseDatabase]
      const address = Redacted.value(url)
      return { args: [folder, token, address], store: Store.layerPostgres(url), quiet: disconnected(address) }
    }),
  ],
]

/** What the dead process has left, looked at without a house. */
export const look = <A, E>(home: Home, body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(Effect.provide(Effect.orDie(body), Layer.fresh(home.store)))

/** As if the dead one's leases had run out: nobody waits for that here. */
const leasesOver = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE readers SET lease_owner = NULL, lease_until = NULL`
  yield* sql`UPDATE timers SET lease_owner = NULL, lease_until = NULL`
})

type Process = Effect.Success<ReturnType<typeof spawned>>

export const start = Effect.fnUntraced(function* (home: Home, configuration: object = config) {
  writeFileSync(join(home.args[0]!, "stoa.config.json"), JSON.stringify(configuration))
  for (;;) {
    const child: Process = yield* spawned(new URL("./calls/crash/callsProcess.ts", import.meta.url), home.args)
    const line = yield* child.line
    // Postgres may still be letting go of the dead one's lock.
    if (line.startsWith("refused Another Stoa")) continue
    if (!line.startsWith("ready ")) return assert.fail(line)
    return { child, url: line.slice("ready ".length) }
  }
})

/** Dead at once, and its leases with it. */
export const kill = (home: Home, child: Process) =>
  child.kill.pipe(Effect.andThen(home.quiet), Effect.andThen(look(home, leasesOver)))

export const send = (url: string, who: string, method: string, path: string, body?: unknown, key?: string) =>
  Effect.promise(async () => {
    const answer = await fetch(new URL(`/api/v1${path}`, url), {
      method,
      headers: {
        authorization: `Bearer ${who}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: (text === "" ? undefined : JSON.parse(text)) as Record<string, unknown> }
  })
