/** A Postgres database with every table and nothing in it, made once a run: a house of a test begins with a copy of it. */
import { Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { migrations } from "../src/Migrations.ts"
import { Store } from "../src/store/database/Store.ts"
import { migrate } from "../src/store/Schemas.ts"

const name = "stoa_template"

export const makeTemplate = async (url: string): Promise<string> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const store = Store.layerPostgres(Redacted.make(url.replace(/\/postgres$/, `/${name}`)))
  const tables = migrate({ migrations, backup: () => Effect.die("a new database needs no backup") })
  await Effect.runPromise(Effect.scoped(Layer.build(Layer.effectDiscard(tables).pipe(Layer.provide(store)))))
  return name
}
