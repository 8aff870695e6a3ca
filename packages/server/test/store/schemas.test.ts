/** Migrations: forward only, all or nothing, after a copy; and a database that cannot be used says so in one sentence. */
import { once } from "node:events"
import * as fs from "node:fs"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { type Migrations, migrate, versionOf } from "../../src/store/Schemas.ts"
import { Store } from "../../src/store/database/Store.ts"
import { places, type Stored, tempFolder } from "../stores.ts"

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql.unsafe(text)))
const first: Migrations = { "0001_one": statement("CREATE TABLE ones (id TEXT PRIMARY KEY)") }
const second: Migrations = { ...first, "0002_two": statement("CREATE TABLE twos (id TEXT PRIMARY KEY)") }

const on = <A, E>(store: Stored, effect: Effect.Effect<A, E, SqlClient.SqlClient | Store>) =>
  Effect.scoped(Effect.provide(effect, Layer.fresh(store)))
const noBackup = () => Effect.die("no copy was to be made")

for (const [name, place] of places)
  describe(`G-28 schemas on ${name}`, () => {
    it.live("a new database is brought up without a copy, an existing one after a copy, a current one not at all", () =>
      Effect.gen(function* () {
        const store = yield* place
        const made = yield* on(store, migrate({ migrations: first, backup: noBackup }))
        assert.deepStrictEqual(made, { from: 0, to: 1, copy: undefined })
        const copies: Array<number> = []
        const backup = (from: number) =>
          Effect.sync(() => {
            copies.push(from)
            return "/the/copy.db"
          })
        const moved = yield* on(
          store,
          Effect.andThen(statement("INSERT INTO ones VALUES ('kept')"), migrate({ migrations: second, backup })),
        )
        assert.deepStrictEqual(moved, { from: 1, to: 2, copy: "/the/copy.db" })
        assert.deepStrictEqual(copies, [1])
        yield* on(store, migrate({ migrations: second, backup: noBackup }))
        const rows = yield* on(
          store,
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM ones`),
        )
        assert.deepStrictEqual(rows, [{ id: "kept" }])
      }),
    )

    it.live("the copy is made before anything is changed, and without it nothing is", () =>
      Effect.gen(function* () {
        const store = yield* place
        yield* on(store, migrate({ migrations: first, backup: noBackup }))
        const exit = yield* on(
          store,
          Effect.exit(migrate({ migrations: second, backup: () => Effect.die("the disk is full") })),
        )
        assert.strictEqual(exit._tag, "Failure")
        assert.strictEqual(yield* on(store, versionOf), 1)
      }),
    )

    it.live("a migration that fails leaves the database as it was and names the copy", () =>
      Effect.gen(function* () {
        const store = yield* place
        yield* on(store, migrate({ migrations: first, backup: noBackup }))
        const failing: Migrations = {
          ...second,
          "0003_half": Effect.andThen(
            statement("CREATE TABLE halves (id TEXT)"),
            Effect.andThen(statement("INSERT INTO ones VALUES ('half')"), statement("INSERT INTO nowhere VALUES (1)")),
          ),
        }
        const error = yield* Effect.flip(
          on(store, migrate({ migrations: failing, backup: () => Effect.succeed("/the/copy.db") })),
        )
        assert.strictEqual(error._tag, "StartError")
        assert.match(
          error.message,
          /from version 1 to 3 \(Migration "3_half" failed: .*nowhere.*it was left at 1\. A copy from before is at \/the\/copy\.db/,
        )
        yield* on(
          store,
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            assert.strictEqual(yield* versionOf, 1)
            assert.lengthOf(yield* sql`SELECT id FROM ones`, 0)
            assert.strictEqual((yield* Effect.exit(sql`SELECT id FROM halves`))._tag, "Failure")
            assert.strictEqual((yield* Effect.exit(sql`SELECT id FROM twos`))._tag, "Failure")
          }),
        )
        // And the program that knows better goes on from there.
        yield* on(store, migrate({ migrations: second, backup: () => Effect.succeed("/the/copy.db") }))
      }),
    )

    it.live("a database newer than the program is refused and not touched", () =>
      Effect.gen(function* () {
        const store = yield* place
        yield* on(store, migrate({ migrations: second, backup: noBackup }))
        const error = yield* Effect.flip(on(store, migrate({ migrations: first, backup: noBackup })))
        assert.include(error.message, "The database is at version 2, this program knows 1. Run a newer Stoa")
        assert.strictEqual(yield* on(store, versionOf), 2)
      }),
    )

    it.live("a database with other people's tables is refused and not touched", () =>
      Effect.gen(function* () {
        for (const table of ["CREATE TABLE customers (id TEXT)", "CREATE TABLE migrations (id TEXT, batch INTEGER)"]) {
          const store = yield* place
          yield* on(store, statement(table))
          const error = yield* Effect.flip(on(store, migrate({ migrations: first, backup: noBackup })))
          assert.match(error.message, /has tables that are not Stoa's \((customers|migrations)\)/)
          assert.strictEqual((yield* Effect.exit(on(store, statement("SELECT * FROM ones"))))._tag, "Failure")
        }
      }),
    )
  })

describe("a database that cannot be used", () => {
  /** Why a store does not open, and that it says so soon. */
  const refusal = (store: Stored) =>
    Effect.map(Effect.timed(Effect.flip(on(store, Store))), ([took, error]) => {
      assert.strictEqual(error._tag, "StartError")
      assert.isBelow(Duration.toMillis(took), 5000)
      assert.notInclude(error.message, "\n")
      assert.notInclude(error.message, "secret")
      return error.message
    })
  const postgres = (url: string) => refusal(Store.layerPostgres(Redacted.make(url)))

  it.live("a SQLite file that is none is named, with what to do", () =>
    Effect.gen(function* () {
      const file = join(yield* tempFolder, "stoa.db")
      fs.writeFileSync(file, "these are not the pages you are looking for ".repeat(1000))
      const message = yield* refusal(Store.layerSqlite(file))
      assert.include(message, `The database ${file} cannot be opened`)
      assert.include(message, "stoa restore")
    }),
  )

  it.live("a Postgres that is not there, does not know us, or does not answer", () =>
    Effect.gen(function* () {
      assert.match(
        yield* postgres("postgres://me:secret@127.0.0.1:1/house"),
        /^postgres:\/\/127\.0\.0\.1:1\/house cannot be reached: .*ECONNREFUSED.*Check DATABASE_URL/,
      )
      assert.include(yield* postgres("postgres://me:secret@localhost:1/house"), "ECONNREFUSED")
      const nowhere = inject("databaseUrl").replace(/\/postgres$/, "/nowhere")
      assert.include(yield* postgres(nowhere), 'database "nowhere" does not exist')
      const silent = yield* listening(() => {})
      assert.include(yield* postgres(`postgres://me:secret@127.0.0.1:${silent}/house`), "cannot be reached: timeout")
    }),
  )

  it.live("a Postgres that is too old", () =>
    Effect.gen(function* () {
      const port = yield* listening(oldPostgres)
      assert.match(
        yield* postgres(`postgres://me:secret@127.0.0.1:${port}/house`),
        /^postgres:\/\/127\.0\.0\.1:\d+\/house is Postgres 14\.9; Stoa needs 15 or newer\. Upgrade it, or use another\.$/,
      )
    }),
  )
})

const listening = (serve: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        serve(socket)
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      return { server, sockets }
    }),
    ({ server, sockets }) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      }),
  ).pipe(Effect.map(({ server }) => (server.address() as AddressInfo).port))

/** Speaks just enough of Postgres's protocol to say its version. */
const oldPostgres = (socket: Socket): void => {
  const message = (type: string, ...parts: ReadonlyArray<Buffer>) => {
    const body = Buffer.concat(parts)
    const head = Buffer.alloc(5)
    head.write(type)
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const numbers = (...of: ReadonlyArray<readonly [bytes: number, value: number]>) =>
    Buffer.concat(of.map(([bytes, value]) => Buffer.from(value.toString(16).padStart(bytes * 2, "0"), "hex")))
  const text = (value: string) => Buffer.from(`${value}\0`)
  const ready = message("Z", Buffer.from("I"))
  const column = [text("server_version"), numbers([4, 0], [2, 0], [4, 25], [2, 65535], [4, 0], [2, 0])]
  socket.once("data", () => {
    socket.write(Buffer.concat([message("R", numbers([4, 0])), ready]))
    socket.once("data", () => {
      const row = message("D", numbers([2, 1], [4, 4]), Buffer.from("14.9"))
      socket.write(Buffer.concat([message("T", numbers([2, 1]), ...column), row, message("C", text("SHOW")), ready]))
    })
  })
}
