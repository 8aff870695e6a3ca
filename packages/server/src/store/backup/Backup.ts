/**
 * Backups: one consistent state of everything in one file, made while the house runs, and restored into either
 * database. The secret key is included only on request.
 */
import { join } from "node:path"
import { Context, DateTime, Effect, Layer, Option, Redacted, References, Stream } from "effect"
import { SqlClient } from "effect/sql"
import {
  bytesOf,
  copySqlite,
  describeCopy,
  makeFolder,
  openBackup,
  removeFile,
  sizeOf,
  wholeFile,
} from "./backupFile.ts"
import { copyIn, copyPostgres, dropTables } from "./copyRows.ts"
import { newId } from "../journal/Correlation.ts"
import { type Migrations, migrate, newestSchema, refuseForeign, versionOf } from "../Schemas.ts"
import { refuse, StartError } from "../StartError.ts"
import { Store } from "../database/Store.ts"
import { tableNames } from "./tables.ts"

/** What was written to a backup or restored from one. */
export interface Contents {
  readonly file: string
  readonly bytes: number
  readonly schema: number
  readonly madeAt: string
  /** The number of rows. */
  readonly rows: number
  /** Without the key the encrypted secrets in the backup are useless: store the key elsewhere. */
  readonly hasKey: boolean
}

export interface RestoreResult extends Contents {
  readonly secretKey: Option.Option<Redacted.Redacted>
  /** Where the previous data was moved, if there was any. */
  readonly replaced: string | undefined
}

interface Options {
  /** The version of this program, written into backups. */
  readonly program: string
  readonly migrations: Migrations
  /** Where a database is copied before it is changed: the folder `backups` in the data folder. */
  readonly folder: string
  /** Creates the tables that a library manages itself in our database, so that a restore can fill them. */
  readonly librariesTables?: Effect.Effect<void, unknown, SqlClient.SqlClient>
}

export class Backup extends Context.Service<
  Backup,
  {
    readonly make: (
      file: string,
      options?: { readonly secretKey?: Redacted.Redacted },
    ) => Effect.Effect<Contents, StartError>
    /** The bytes of a backup, for a door to send. */
    readonly stream: (options?: { readonly secretKey?: Redacted.Redacted }) => Stream.Stream<Uint8Array, StartError>
    /** For `migrate`: copies the database before it is changed, and returns where the copy is. */
    readonly beforeMigration: (from: number) => Effect.Effect<string, StartError>
    /** All or nothing. A database that is not empty is replaced only on request, and then a copy of it is kept. */
    readonly restore: (file: string, options: { readonly replace: boolean }) => Effect.Effect<RestoreResult, StartError>
  }
>()("server/store/backup/Backup") {
  static readonly layer = ({ folder, librariesTables, migrations, program }: Options) =>
    Layer.effect(
      Backup,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const store = yield* Store
        const onStore = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          Effect.provideService(effect, SqlClient.SqlClient, sql)

        const copy = Effect.fnUntraced(function* (to: string) {
          if (store.dialect === "postgres")
            return yield* onStore(Effect.catchTag(copyPostgres(to), "SqlError", Effect.die))
          if (store.where === ":memory:") return yield* refuse("A database in memory has no backup. Set STOA_DATA.")
          return yield* copySqlite(store.where, to)
        })

        const make: Backup["Service"]["make"] = Effect.fn("Backup.make")(function* (file, options) {
          const madeAt = DateTime.formatIso(yield* DateTime.now)
          const secretKey = options?.secretKey === undefined ? null : Redacted.value(options.secretKey)
          const copied = yield* wholeFile(file, (part) =>
            Effect.tap(copy(part), (copied) =>
              describeCopy(part, { ...copied, program, madeAt, secretKey, dialect: store.dialect }),
            ),
          )
          const rows = Object.values(copied.counts).reduce((sum, n) => sum + n, 0)
          return { file, bytes: yield* sizeOf(file), schema: copied.schema, madeAt, rows, hasKey: secretKey !== null }
        })

        const stream: Backup["Service"]["stream"] = (options) =>
          Effect.gen(function* () {
            yield* makeFolder(folder)
            const file = join(folder, newId("download"))
            yield* Effect.addFinalizer(() => removeFile(file))
            yield* make(file, options)
            return Stream.fromAsyncIterable(bytesOf(file), (cause) =>
              refuse(`The backup could not be read: ${String(cause)}`, cause),
            )
          }).pipe(Stream.unwrap)

        const aside = Effect.fnUntraced(function* (name: string) {
          yield* makeFolder(folder)
          const at = DateTime.formatIso(yield* DateTime.now).replace(/[:.]/g, "-")
          return (yield* make(join(folder, `${name}-${at}.db`))).file
        })

        const restore: Backup["Service"]["restore"] = Effect.fn("Backup.restore")(function* (file, { replace }) {
          const opened = yield* openBackup(file)
          const { about } = opened
          if (about.schema > newestSchema(migrations))
            return yield* refuse(
              `${file} was made at version ${about.schema} by Stoa ${about.program}; this program knows ${newestSchema(migrations)}. Restore it with a newer Stoa.`,
            )
          yield* onStore(refuseForeign)
          const there = (yield* onStore(Effect.orDie(tableNames))).length > 0 && (yield* onStore(versionOf)) > 0
          if (there && !replace)
            return yield* refuse(
              `${store.where} is not empty. Restore into a new one, or replace it with --replace; a copy of it is kept.`,
            )
          const replaced = there ? yield* aside("replaced") : undefined
          yield* Effect.gen(function* () {
            yield* dropTables
            yield* migrate({ migrations, backup: () => Effect.succeed(file), upTo: about.schema })
            if (librariesTables !== undefined) yield* librariesTables
            yield* copyIn(opened)
            yield* migrate({ migrations, backup: () => Effect.succeed(file) })
          }).pipe(
            sql.withTransaction,
            onStore,
            // No warning about a slow transaction: it holds the writer for long, but nobody else is waiting.
            Effect.provideService(References.MinimumLogLevel, "Error"),
            Effect.mapError((cause) =>
              cause instanceof StartError
                ? cause
                : refuse(`${file} could not be restored: ${String(cause)}. Nothing was changed.`, cause),
            ),
          )
          const rows = Object.values(about.counts).reduce((sum, n) => sum + n, 0)
          const { madeAt, schema } = about
          const hasKey = Option.isSome(opened.secretKey)
          return {
            file,
            bytes: yield* sizeOf(file),
            schema,
            madeAt,
            rows,
            hasKey,
            secretKey: opened.secretKey,
            replaced,
          }
        }, Effect.scoped)

        return Backup.of({ make, stream, beforeMigration: (from) => aside(`before-${from}`), restore })
      }),
    )
}
