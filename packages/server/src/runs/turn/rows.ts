/**
 * What is recorded of a program's turn. It cannot be repeated, so it is written before it begins, and again when it has
 * ended.
 */
import type { PrincipalId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Tokens } from "../../access/identity/Tokens.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { from } from "../record/lifecycle.ts"
import type { RunRecorder } from "../record/record.ts"
import type { RunRow, Usage, StepRow, PromptRow } from "../record/rows.ts"
import { inState } from "../../store/database/dialect/States.ts"

export interface NewTurn {
  readonly row: RunRow
  readonly number: number
  readonly model: string
  readonly promptRows: ReadonlyArray<PromptRow>
  /** Runs in the same transaction. */
  readonly also: Effect.Effect<void, never, Transaction>
  /** The longest life of its token. */
  readonly seconds: number
}

export const makeTurnRows = Effect.fnUntraced(function* (record: RunRecorder) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const tokens = yield* Tokens
  const iso = Effect.map(DateTime.now, DateTime.formatIso)

  const ours = (row: RunRow) =>
    Effect.map(
      Effect.orDie(sql`UPDATE runs SET step = step WHERE id = ${row.id} AND fence = ${row.fence}
        AND ${inState(sql, from("advance"))} RETURNING id`),
      (rows) => rows.length > 0,
    )

  /** The token of the turn; undefined if the run is no longer ours. */
  const begin = ({ also, model, number, row, seconds, promptRows }: NewTurn) =>
    record.because(
      row,
      journal.transact(
        Effect.gen(function* () {
          if (!(yield* ours(row))) return undefined
          if (promptRows.length > 0)
            yield* Effect.orDie(
              sql`INSERT INTO run_messages ${sql.insert(promptRows.map((one) => ({ ...one })) as never)} ON CONFLICT DO NOTHING`,
            )
          const step: StepRow = {
            run: row.id,
            number,
            state: "thinking",
            content: "[]",
            finish: null,
            model,
            tokensIn: 0,
            tokensOut: 0,
            tokensCached: 0,
            costMicros: 0,
            beganAt: yield* iso,
            saidAt: null,
          }
          yield* Effect.orDie(sql`INSERT INTO steps ${sql.insert({ ...step })}`)
          yield* also
          yield* Effect.orDie(
            sql`UPDATE triggers SET delivered_at = ${step.beganAt} WHERE run = ${row.id} AND delivered_at IS NULL`,
          )
          const until = DateTime.add(yield* DateTime.now, { seconds: seconds + 60 })
          return yield* Effect.orDie(tokens.openTurn(row.agent, { run: row.id, step: number, root: row.root }, until))
        }),
      ),
    )

  const change = (
    row: RunRow,
    number: number,
    state: "said" | "cut",
    said: { readonly text: string; readonly finish: string },
    spent: Usage & { readonly cached: number },
    session: { readonly program: string; readonly id: string } | undefined,
  ) =>
    record.because(
      row,
      journal.transact(
        Effect.gen(function* () {
          // Only its own token: the process that has the run now may have begun the next turn.
          yield* tokens.closeTurn(row.id, number)
          const moved = yield* Effect.orDie(sql`UPDATE runs SET step = ${number},
            attempts = ${state === "said" ? 0 : sql`attempts`},
            tokens_in = tokens_in + ${spent.tokensIn}, tokens_out = tokens_out + ${spent.tokensOut},
            cost_micros = cost_micros + ${spent.costMicros}, busy_ms = busy_ms + ${spent.busyMs},
            reserved_tokens = 0, reserved_micros = 0
            WHERE id = ${row.id} AND fence = ${row.fence} AND ${inState(sql, from("advance"))} RETURNING id`)
          const content = JSON.stringify(said.text === "" ? [] : [{ type: "text", text: said.text }])
          yield* Effect.orDie(sql`UPDATE steps SET state = ${state}, content = ${content}, finish = ${said.finish},
            tokens_in = ${spent.tokensIn}, tokens_out = ${spent.tokensOut}, tokens_cached = ${spent.cached},
            cost_micros = ${spent.costMicros}, said_at = ${yield* iso}
            WHERE run = ${row.id} AND number = ${number} AND state = 'thinking'`)
          if (session !== undefined && moved.length > 0) {
            const kept = { agent: row.agent, program: session.program, session: session.id, at: yield* iso }
            yield* Effect.orDie(sql`INSERT INTO program_sessions ${sql.insert(kept)}
              ON CONFLICT (agent, program) DO UPDATE SET session = excluded.session, at = excluded.at`)
          }
          yield* record.spendToday(row, spent)
          if (moved.length === 0) return false
          yield* journal.append({ kind: "run.stepped", body: { ...record.about(row), step: number, calls: 0 } })
          return true
        }),
      ),
    )

  const sessionOf = (agent: PrincipalId, program: string) =>
    Effect.map(
      Effect.orDie(
        sql<{ session: string }>`SELECT session FROM program_sessions WHERE agent = ${agent} AND program = ${program}`,
      ),
      (rows) => rows[0]?.session ?? null,
    )

  return { begin, change, sessionOf }
})
