/** The demo's own rows: that it was made, its parts, and the first steps that were taken. */
import type { DemoPartKind, FirstStep, SpaceId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export interface DemoRow {
  readonly state: "on" | "removing" | "removed"
  readonly space: SpaceId
  readonly model: string
  readonly budgetMicros: number
}

export interface PartRow {
  readonly kind: DemoPartKind
  readonly ref: string
  readonly name: string
  readonly done: number
}

export const makeRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    get: Effect.map(
      Effect.orDie(sql<DemoRow>`SELECT state, space, model, budget_micros FROM demos WHERE id = 1`),
      (rows) => rows[0],
    ),
    parts: Effect.orDie(sql<PartRow>`SELECT * FROM demo_parts ORDER BY kind, name`),
    steps: Effect.orDie(sql<{ step: FirstStep; at: string }>`SELECT step, at FROM first_steps`),
    /** False: there is or was one. */
    claim: (row: { readonly madeAt: string; readonly model: string; readonly budgetMicros: number }) =>
      Effect.map(
        Effect.orDie(
          sql`INSERT INTO demos ${sql.insert({ id: 1, state: "on", space: "", ...row, removedAt: null })}
            ON CONFLICT (id) DO NOTHING RETURNING id`,
        ),
        (rows) => rows.length > 0,
      ),
    setSpace: (space: SpaceId) => Effect.orDie(sql`UPDATE demos SET space = ${space} WHERE id = 1`),
    setModel: (model: string, budgetMicros: number) =>
      Effect.orDie(sql`UPDATE demos SET model = ${model}, budget_micros = ${budgetMicros} WHERE id = 1`),
    /** Whether it was in the state `from`: of two concurrent requests, one succeeds. */
    move: (from: DemoRow["state"], to: DemoRow["state"], at: string) =>
      Effect.map(
        Effect.orDie(
          sql`UPDATE demos SET state = ${to}, removed_at = ${at} WHERE id = 1 AND state = ${from} RETURNING id`,
        ),
        (rows) => rows.length > 0,
      ),
    part: (kind: DemoPartKind, ref: string, name: string, done = true) =>
      Effect.orDie(
        sql`INSERT INTO demo_parts ${sql.insert({ kind, ref, name, done: done ? 1 : 0 })}
          ON CONFLICT (kind, ref) DO NOTHING`,
      ),
    partDone: (kind: DemoPartKind, ref: string) =>
      Effect.orDie(sql`UPDATE demo_parts SET done = 1 WHERE kind = ${kind} AND ref = ${ref}`),
    forget: (kind: DemoPartKind, ref: string) =>
      Effect.orDie(sql`DELETE FROM demo_parts WHERE kind = ${kind} AND ref = ${ref}`),
    /** Whether it was the first time. */
    step: (step: FirstStep, at: string) =>
      Effect.map(
        Effect.orDie(
          sql`INSERT INTO first_steps ${sql.insert({ step, at })} ON CONFLICT (step) DO NOTHING RETURNING step`,
        ),
        (rows) => rows.length > 0,
      ),
  }
})
