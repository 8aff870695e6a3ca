/** A process that writes a row and its event, many at a time, and says each id once it is acknowledged. Killed by crash.test.ts. */
import { randomUUID } from "node:crypto"
import { Effect, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { migrations } from "../../../src/Migrations.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { migrate } from "../../../src/store/Schemas.ts"
import { Store } from "../../../src/store/database/Store.ts"
import { crashReaders, insertAnswer } from "./crashReaders.ts"

const [dialect, where] = process.argv.slice(2) as [string, string]

const write = Effect.gen(function* () {
  const journal = yield* Journal
  const id = randomUUID()
  yield* journal.transact(
    Effect.andThen(insertAnswer("writer", id), journal.append({ kind: "secret.set", body: { name: id } })),
  )
  console.log(id)
})

const store = dialect === "sqlite" ? Store.layerSqlite(where) : Store.layerPostgres(Redacted.make(where))
const house = crashReaders.pipe(
  Layer.provideMerge(Readers.layer),
  Layer.provideMerge(Journal.layer),
  Layer.provideMerge(Layer.effectDiscard(migrate({ migrations, backup: () => Effect.die("nothing to migrate") }))),
  Layer.provideMerge(store),
  Layer.provide(Logger.layer([])),
)
const writers = Effect.forEach(Array.from({ length: 24 }), () => Effect.forever(write), { concurrency: "unbounded" })
await Effect.runPromise(Effect.provide(writers as Effect.Effect<unknown, never, Journal | SqlClient.SqlClient>, house))
