/** Two readers whose work can be counted afterwards: one that may repeat itself, one that would fail if it did. */
import type { Event } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readerLayer } from "../../../src/store/journal/readers/Readers.ts"

export const insertAnswer = (principal: string, key: string, repeats = false) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.asVoid(sql`INSERT INTO answers ${sql.insert({ principal, key, request: "", createdAt: "" })}
      ${repeats ? sql`ON CONFLICT (principal, key) DO NOTHING` : sql``}`),
  )

const idOf = (event: Event): string => (event.kind === "secret.set" ? event.body.name : event.kind)

export const crashReaders = Layer.mergeAll(
  readerLayer({
    name: "repeating",
    atomic: false,
    handle: (events) =>
      Effect.forEach(events, (event) => insertAnswer("repeating", idOf(event), true), { discard: true }),
  }),
  readerLayer({
    name: "once",
    atomic: true,
    handle: (events) => Effect.forEach(events, (event) => insertAnswer("once", idOf(event)), { discard: true }),
  }),
)
