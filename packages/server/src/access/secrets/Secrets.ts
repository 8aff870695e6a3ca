/** Named secrets, encrypted at rest (G-17). `reveal` is only for the place where a tool runs. */
import { Missing, type Page, Secret, type SecretName, WrongState } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { derive, seal, unseal } from "./cipher.ts"

const decode = Schema.decodeUnknownSync(Secret)

export class Secrets extends Context.Service<
  Secrets,
  {
    readonly set: (name: SecretName, value: Redacted.Redacted) => Effect.Effect<void, never, Transaction>
    readonly remove: (name: SecretName) => Effect.Effect<void, Missing, Transaction>
    /** Names only. */
    readonly list: Effect.Effect<Page<Secret>>
    readonly reveal: (name: string) => Effect.Effect<Redacted.Redacted, Missing | WrongState>
    /** The names of secrets that the present key does not decrypt, because another key encrypted them. */
    readonly unreadable: Effect.Effect<ReadonlyArray<string>>
    /** For secret data that must be stored for a while, such as the first answer to an idempotency key. */
    readonly seal: (label: string, bytes: Uint8Array) => Uint8Array
    readonly unseal: (label: string, bytes: Uint8Array) => Uint8Array
    /** A key for one purpose, always the same under the same house key. */
    readonly derive: (label: string) => Redacted.Redacted
  }
>()("server/access/secrets/Secrets") {
  static readonly layer = (key: Redacted.Redacted) =>
    Layer.effect(
      Secrets,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal

        const set: Secrets["Service"]["set"] = Effect.fn("Secrets.set")(function* (name, value) {
          const sealed = seal(key, `secret/${name}`, Buffer.from(Redacted.value(value), "utf8"))
          const setAt = DateTime.formatIso(yield* DateTime.now)
          yield* sql`INSERT INTO secrets ${sql.insert({ name, sealed, setAt })}
            ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, set_at = excluded.set_at`
          yield* journal.append({ kind: "secret.set", body: { name } })
        }, Effect.orDie)

        const remove: Secrets["Service"]["remove"] = Effect.fn("Secrets.remove")(function* (name) {
          const rows = yield* Effect.orDie(sql`DELETE FROM secrets WHERE name = ${name} RETURNING name`)
          if (rows.length === 0) return yield* new Missing({ noun: "secret", ref: name })
          yield* journal.append({ kind: "secret.removed", body: { name } })
        })

        const list = sql`SELECT name, set_at FROM secrets ORDER BY name`.pipe(
          Effect.map((rows): Page<Secret> => ({ items: rows.map((row) => decode(row)), next: null })),
          Effect.orDie,
        )

        const open = (row: { readonly name: string; readonly sealed: Uint8Array }) =>
          Effect.try({
            try: () => Redacted.make(Buffer.from(unseal(key, `secret/${row.name}`, row.sealed)).toString("utf8")),
            catch: () =>
              new WrongState({
                detail: `The secret "${row.name}" was encrypted with another key. Start with the right one (STOA_SECRET_KEY, or secret.key of the data folder), or set it again.`,
              }),
          })

        const reveal: Secrets["Service"]["reveal"] = Effect.fn("Secrets.reveal")(function* (name) {
          const rows = yield* Effect.orDie(
            sql<{ name: string; sealed: Uint8Array }>`SELECT name, sealed FROM secrets WHERE name = ${name}`,
          )
          return rows[0] === undefined ? yield* new Missing({ noun: "secret", ref: name }) : yield* open(rows[0])
        })

        const unreadable = Effect.gen(function* () {
          const rows = yield* sql<{ name: string; sealed: Uint8Array }>`SELECT name, sealed FROM secrets ORDER BY name`
          const shut = yield* Effect.filter(rows, (row) => Effect.isFailure(open(row)))
          return shut.map((row) => row.name)
        }).pipe(Effect.orDie)

        return Secrets.of({
          set,
          remove,
          list,
          reveal,
          unreadable,
          seal: (label, bytes) => seal(key, label, bytes),
          unseal: (label, bytes) => unseal(key, label, bytes),
          derive: (label) => derive(key, label),
        })
      }),
    )
}
