/**
 * Steps that change only their own rows are written in batches with those of other runs, and so are new runs: a commit
 * costs the same for one as for fifty. Each still moves only under its own fence.
 */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeInsert, type Rows } from "../../store/database/dialect/Inserts.ts"
import { type CausedEvent, Journal } from "../../store/journal/Journal.ts"
import { makeBatch } from "../../store/journal/Batch.ts"
import { endOf, from, to } from "./lifecycle.ts"
import { profileNamed } from "../profile.ts"
import { accountsOf, hasSpent, makeAccounts } from "../spend/accounts.ts"
import type { RunEnd, RunRow, Usage, StepRow, PromptRow, TriggerRow } from "./rows.ts"

export interface StepWrite {
  readonly row: RunRow
  readonly step: StepRow
  readonly promptRows: ReadonlyArray<PromptRow>
  readonly calls: number
  readonly spent: Usage
  readonly end: RunEnd | undefined
}

export interface StartWrite {
  readonly row: RunRow
  readonly trigger: TriggerRow
  readonly events: ReadonlyArray<CausedEvent>
}

const states = from("advance")
  .map((state) => `'${state}'`)
  .join(", ")

/** The columns of a value: those of the row, whether or not this step ends it. */
const update = (values: string, int: (at: number) => string): string => `UPDATE runs SET step = ${int(2)}, attempts = 0,
  tokens_in = tokens_in + ${int(3)}, tokens_out = tokens_out + ${int(4)}, cost_micros = cost_micros + ${int(5)},
  busy_ms = busy_ms + ${int(6)}, reserved_tokens = 0, reserved_micros = 0, state = COALESCE(value->>7, state), stop = value->>8, failure = value->>9,
  ended_at = value->>10, owner = CASE WHEN value->>7 IS NULL THEN owner END
  FROM ${values} WHERE runs.id = value->>0 AND fence = ${int(1)} AND state IN (${states})`
const onSqlite = `${update("json_each(?)", (at) => `value->>${at}`)} RETURNING id`
const bigint = (at: number) => `(value->>${at})::bigint`
const alone = update("(SELECT $1::jsonb->0) AS taken(value)", bigint)
/**
 * Skips locked rows: waiting for one while holding others could deadlock with a ring of several runs in another order.
 * The ids are one array, which uses the index; joined with a list of unknown length, the whole table would be read for
 * each of them.
 */
const several = `${update("jsonb_array_elements($1::jsonb) AS taken(value)", bigint)} AND runs.id = ANY(ARRAY(
  SELECT id FROM runs WHERE id = ANY(ARRAY(SELECT value->>0 FROM jsonb_array_elements($1::jsonb) AS asked(value)))
  FOR UPDATE SKIP LOCKED))`

const stepColumns = [
  "run",
  "number",
  "state",
  "content",
  "finish",
  "model",
  "tokensIn",
  "tokensOut",
  "tokensCached",
  "costMicros",
  "beganAt",
  "saidAt",
] as const
const stepNumbers = ["number", "tokensIn", "tokensOut", "tokensCached", "costMicros"] as const
const promptColumns = ["run", "seq", "kind", "body", "step"] as const
const triggerColumns = [
  "agent",
  "source",
  "run",
  "kind",
  "message",
  "space",
  "author",
  "text",
  "depth",
  "at",
  "causer",
] as const
const runNumbers = [
  "lane",
  "width",
  "chainDepth",
  "nesting",
  "step",
  "rung",
  "fence",
  "resumed",
  "readyAt",
  "attempts",
  "tokensIn",
  "tokensOut",
  "costMicros",
  "busyMs",
  "waits",
  "reservedTokens",
  "reservedMicros",
] as const

/**
 * Nobody can wait for it: a service woke it, its row was written already claimed, so that no mail has joined it in the
 * queue, and it has made no call that others could wait for.
 */
const isUnwatched = (row: RunRow, { number }: StepRow, calls: number): boolean =>
  row.triggerKind === "service" &&
  row.fence === 1 &&
  row.startedAt === row.createdAt &&
  row.parentCall === null &&
  number === 1 &&
  calls === 0 &&
  !profileNamed(row.profile).inbox

/**
 * The events of a step, and of the end it brings: attributed to the agent, under the correlation id of what woke it.
 */
const eventsOf = ({ calls, end, row, step }: StepWrite, at: string): ReadonlyArray<CausedEvent> => {
  const caused = { at, actor: row.agent, provenance: "agent", correlationId: row.correlationId } as const
  const about = { run: row.id, principal: row.agent }
  const stepped = { ...caused, kind: "run.stepped", body: { ...about, step: step.number, calls } } as const
  if (end === undefined) return [stepped]
  const { failure, stop } = end
  const whole = isUnwatched(row, step, calls) ? ({ whole: true } as const) : {}
  const body = { ...about, state: to(endOf[stop]), stop, failure, ...whole }
  const ended = { kind: "run.ended", body } as const
  return [stepped, { ...caused, ...ended, ...(row.triggerSpace === null ? {} : { space: row.triggerSpace }) }]
}

const valueOf = ({ end, row, spent, step }: StepWrite, at: string): ReadonlyArray<unknown> => [
  row.id,
  row.fence,
  step.number,
  spent.tokensIn,
  spent.tokensOut,
  spent.costMicros,
  spent.busyMs,
  ...(end === undefined ? [null, null, null, null] : [to(endOf[end.stop]), end.stop, end.failure, at]),
]

export const makeTogether = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const move = sql.onDialectOrElse({
    pg: () => (count: number) => `${count === 1 ? alone : several} RETURNING id`,
    orElse: () => () => onSqlite,
  })
  const steps = makeInsert<StepRow>(sql, "steps", stepColumns, "", stepNumbers)
  const promptRows = makeInsert<PromptRow>(sql, "run_messages", promptColumns, "ON CONFLICT DO NOTHING", [
    "seq",
    "step",
  ])
  const accounts = makeAccounts(sql)
  const triggers = makeInsert<TriggerRow>(sql, "triggers", triggerColumns, "", ["depth"])

  /** The rows of other tables that our steps add. */
  const rowsOf = (items: ReadonlyArray<StepWrite>, at: string): ReadonlyArray<Rows> => [
    promptRows.with(items.flatMap((item) => item.promptRows)),
    steps.with(items.map(({ step }) => step)),
    accounts.with(accountsOf(at.slice(0, 10), items)),
  ]
  const isSpent = (rows: ReadonlyArray<Rows>): boolean => rows.at(-1)!.count > 0

  /** Returns which of them were ours and not locked by another process. */
  const writeSome = Effect.fnUntraced(function* (items: ReadonlyArray<StepWrite>) {
    const at = DateTime.formatIso(yield* DateTime.now)
    const values = JSON.stringify(items.map((item) => valueOf(item, at)))
    const all = rowsOf(items, at)
    const events = items.flatMap((item) => eventsOf(item, at))
    // Nearly always all are ours: then one statement is enough.
    const update = { sql: move(items.length), rows: values, expects: items.length }
    if (yield* journal.moveTogether(update, all, events)) {
      if (isSpent(all)) yield* hasSpent(sql)
      return new Set<string>(items.map(({ row }) => row.id))
    }
    return yield* journal.transact(
      Effect.gen(function* () {
        const rows = yield* sql.unsafe<{ readonly id: string }>(move(items.length), [values])
        const ids = new Set(rows.map(({ id }) => id))
        const ours = items.filter(({ row }) => ids.has(row.id))
        if (ours.length === 0) return ids
        const some = rowsOf(ours, at)
        for (const { count, run } of some) if (count > 0) yield* run()
        if (isSpent(some)) yield* sql.afterCommit(hasSpent(sql))
        yield* journal.appendAll(ours.flatMap((item) => eventsOf(item, at)))
        return ids
      }).pipe(Effect.orDie),
    )
  })
  const writeSteps = Effect.fnUntraced(function* (items: ReadonlyArray<StepWrite>) {
    const moved = new Set(yield* writeSome(items))
    // A row that was locked may still be ours.
    if (items.length > 1)
      for (const item of items) if (!moved.has(item.row.id)) for (const id of yield* writeSome([item])) moved.add(id)
    return ({ row }: StepWrite) => moved.has(row.id)
  })

  let runs: ReturnType<typeof makeInsert<RunRow>> | undefined
  const writeStarts = (items: ReadonlyArray<StartWrite>) => {
    const columns = Object.keys(items[0]!.row) as ReadonlyArray<keyof RunRow>
    const insert = (runs ??= makeInsert<RunRow>(sql, "runs", columns, "", runNumbers))
    return Effect.as(
      journal.writeTogether(
        [triggers.with(items.map(({ trigger }) => trigger)), insert.with(items.map(({ row }) => row))],
        items.flatMap(({ events }) => events),
      ),
      () => {},
    )
  }

  return {
    /** False: the run is no longer ours. */
    step: yield* makeBatch(writeSteps),
    /** A run that a one-time trigger wakes. */
    start: yield* makeBatch(writeStarts),
  }
})
