/**
 * What is written of a call: one row, and its events in the same transaction. Every change of state is one guarded UPDATE,
 * so that of two who would settle a call one does, and the other learns of it.
 */
import {
  type CallError,
  type CallId,
  type FileId,
  type PrincipalId,
  type Provenance,
  ToolExecutionError,
  type WaitsOn,
} from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Files, largestFile } from "../../store/Files.ts"
import { type CausedEvent, Journal } from "../../store/journal/Journal.ts"
import { makeInsert } from "../../store/database/Inserts.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { from, settledBy, type Step } from "./lifecycle.ts"
import { makePosting } from "./posting.ts"
import type { Seen } from "../kinds/Kind.ts"
import { redact } from "./redact.ts"
import type { CallRow } from "./rows.ts"
import { makeSettleMany, settleAll } from "./settleMany.ts"

/** Larger than this, a result is kept as a file and carried by reference (G-30). */
const largestOutput = 64 * 1024

export type Ending =
  | { readonly step: "finish"; readonly output: unknown }
  | { readonly step: Exclude<Step, "wait" | "start" | "finish">; readonly error: CallError & Record<string, unknown> }

/** The same key came twice at once: the other one was first, and what this one wrote is undone. */
class Taken {
  readonly _tag = "Taken"
}

/** What an ending fills in a row, and what is too large for it. */
interface Kept {
  readonly small: Pick<CallRow, "state" | "output" | "outputFile" | "outputSize" | "meta" | "error"> & {
    readonly settledAt: string
  }
  readonly large?: string
}

/** A call as it is first written down. */
export type NewRow = Omit<
  CallRow,
  | "state"
  | "onKind"
  | "onId"
  | "message"
  | "output"
  | "outputFile"
  | "outputSize"
  | "meta"
  | "error"
  | "owner"
  | "settledAt"
>

/** The columns of a call that needs no transaction of its own when it is first written down: the others are empty. */
const loneColumns = [
  "id",
  "principal",
  "context",
  "tool",
  "input",
  "digest",
  "fingerprint",
  "state",
  "space",
  "visibility",
  "customUi",
  "output",
  "meta",
  "error",
  "rule",
  "correlationId",
  "owner",
  "createdAt",
  "settledAt",
] as const

/** How a call has ended, and when. */
export interface Ended {
  readonly settledAt: string
  readonly durationMs: number
  readonly ending: Ending
  readonly seen: Seen
  readonly provenance: Provenance
}

/** The end of such a call, where it was written down when it began. */
export interface LoneEnd {
  readonly row: CallRow
  readonly event: CausedEvent
}

export const makeRecord = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const files = yield* Files
  const posting = yield* makePosting
  const timers = yield* Timers
  const insertMany = makeInsert<CallRow>(sql, "calls", loneColumns)
  const settleMany = makeSettleMany(sql)

  const event = (row: { readonly id: CallId; readonly tool: string; readonly principal: PrincipalId }) => ({
    call: row.id,
    tool: row.tool,
    principal: row.principal,
  })

  /** The columns an ending fills. */
  const columnsOf = Effect.fnUntraced(function* (ending: Ending, tool: string, seen: Seen) {
    const columns = columnsAt(DateTime.formatIso(yield* DateTime.now), ending, tool, seen)
    if (columns.large === undefined) return columns.small
    const { id } = yield* Effect.orDie(files.put(Buffer.from(columns.large), "application/json"))
    return { ...columns.small, outputFile: id, outputSize: Buffer.byteLength(columns.large) }
  })

  /** All but what is too large for a row. */
  const columnsAt = (settledAt: string, ending: Ending, tool: string, seen: Seen): Kept => {
    const meta = seen.meta.size === 0 ? null : redact(JSON.stringify(Object.fromEntries(seen.meta)), seen.revealed)
    const none = {
      meta,
      output: null as string | null,
      outputFile: null as FileId | null,
      outputSize: null as number | null,
      error: null as string | null,
    }
    const failed = (step: Exclude<Step, "wait" | "start" | "finish">, error: CallError & Record<string, unknown>) => ({
      small: { ...none, state: settledBy[step], settledAt, error: redact(JSON.stringify(error), seen.revealed) },
    })
    if (ending.step !== "finish") return failed(ending.step, ending.error)
    const given = textOf(ending.output)
    // Measured as it is kept: what stands for a secret may be longer than the secret.
    const output = given === undefined ? undefined : redact(given, seen.revealed)
    if (output === undefined || Buffer.byteLength(output) > largestFile)
      return failed("fail", {
        tag: "ToolExecutionError",
        message:
          output === undefined
            ? `The result of "${tool}" is not JSON, and was not kept`
            : `The result of "${tool}" is larger than ${largestFile} bytes, and was not kept`,
      })
    const done = { ...none, state: settledBy.finish, settledAt }
    return Buffer.byteLength(output) <= largestOutput ? { small: { ...done, output } } : { small: done, large: output }
  }

  type Settling = Pick<CallRow, "id" | "tool" | "principal" | "rule" | "createdAt">
  const settledEvent = (row: Settling, columns: Columns) =>
    journal.append(settledOf(row, columns, Math.max(0, Date.parse(columns.settledAt) - Date.parse(row.createdAt))))
  const settledOf = (row: Settling, columns: Columns, durationMs: number) =>
    ({
      kind: "call.settled",
      actor: row.principal,
      body: {
        ...event(row),
        state: columns.state,
        error: columns.error === null ? null : brief(columns.error),
        rule: row.rule,
        durationMs,
      },
    }) as const
  type Columns = Effect.Success<ReturnType<typeof columnsOf>>

  const receivedOf = (row: NewRow) => ({ kind: "call.received", actor: row.principal, body: event(row) }) as const
  const received = (row: NewRow) => journal.append(receivedOf(row))

  /** Writes a new call in the state given; false, where the same key was there before. */
  const insert = Effect.fnUntraced(function* (row: CallRow) {
    const rows = yield* Effect.orDie(
      sql`INSERT INTO calls ${sql.insert({ ...row })} ON CONFLICT (principal, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING id`,
    )
    return rows.length > 0
  })

  const empty = {
    onKind: null,
    onId: null,
    output: null,
    outputFile: null,
    outputSize: null,
    meta: null,
    error: null,
    owner: null,
    settledAt: null,
  }

  /** A call that has begun: it runs in this process, or waits. */
  const open = Effect.fnUntraced(function* (
    row: NewRow,
    state: { readonly state: "running"; readonly owner: string } | { readonly state: "waiting"; readonly on: WaitsOn },
  ) {
    const where =
      state.state === "running"
        ? { state: state.state, owner: state.owner }
        : { state: state.state, onKind: state.on.kind, onId: state.on.id }
    const message = yield* posting.begin(row, row.visibility)
    if (!(yield* insert({ ...row, ...empty, ...where, message }))) return yield* Effect.fail(new Taken())
    yield* received(row)
    if (state.state === "waiting")
      yield* journal.append({
        kind: "call.waiting",
        actor: row.principal,
        body: { ...event(row), on: state.on },
      })
  })

  /** A call that is over as soon as it is known: refused, or run without leaving a trace. One commit. */
  const whole = Effect.fnUntraced(function* (row: NewRow, ending: Ending, seen: Seen) {
    const columns = yield* columnsOf(ending, row.tool, seen)
    // What was refused never began, and is nobody's to see.
    const shown: NewRow = ending.step === "refuse" ? { ...row, visibility: "hidden" } : row
    const message = yield* posting.begin(shown, shown.visibility)
    const made: CallRow = { ...shown, ...empty, ...columns, message }
    if (!(yield* insert(made))) return yield* Effect.fail(new Taken())
    yield* received(row)
    yield* settledEvent(row, columns)
    yield* posting.end(made)
    return made
  })

  /**
   * A call that nobody is shown and nobody can find by a key: what is written of it can be written with others'. Nothing,
   * where it needs a transaction of its own.
   */
  const lone = (row: NewRow, end: Ended) => {
    const ended = loneEnd(row, end)
    if (ended === undefined) return undefined
    const { at, correlationId, provenance } = ended.event
    const events: ReadonlyArray<CausedEvent> = [{ ...receivedOf(row), at, provenance, correlationId }, ended.event]
    return { row: ended.row, events }
  }
  const isLone = (row: NewRow): boolean =>
    row.idempotencyKey === null && (row.space === null || row.visibility === "hidden")
  /** The same of one that was written down when it began. */
  const loneEnd = (row: NewRow, { durationMs, ending, provenance, seen, settledAt }: Ended): LoneEnd | undefined => {
    if (!isLone(row)) return undefined
    const columns = columnsAt(settledAt, ending, row.tool, seen)
    if (columns.large !== undefined) return undefined
    const written: CallRow = { ...row, ...empty, ...columns.small, message: null }
    const caused = { at: settledAt, provenance, correlationId: row.correlationId }
    const event: CausedEvent = { ...settledOf(row, columns.small, durationMs), ...caused }
    return { row: written, event }
  }
  /** And of one that begins to run in this process. */
  const loneBegin = (row: NewRow, at: string, owner: string, provenance: Provenance) => {
    if (!isLone(row)) return undefined
    const written: CallRow = { ...row, ...empty, state: "running", owner, message: null }
    const event: CausedEvent = { ...receivedOf(row), at, provenance, correlationId: row.correlationId }
    return { row: written, events: [event] }
  }

  /** Many such calls in one transaction. */
  const many = (calls: ReadonlyArray<NonNullable<ReturnType<typeof lone>>>): Effect.Effect<() => void> =>
    journal
      .writeTogether(
        insertMany,
        calls.map(({ row }) => row),
        calls.flatMap(({ events }) => events),
      )
      .pipe(
        // Whoever wrote may have ended between COMMIT and its answer: what is there was written, all of it.
        Effect.catchCause((cause) =>
          Effect.flatMap(byId(calls[0]!.row.id), (row) =>
            row === undefined ? Effect.failCause(cause) : Effect.logWarning("A batch was written, but not told", cause),
          ),
        ),
        Effect.as(() => {}),
      )

  /** Ends of calls this process runs. Says whether one was written: not, where somebody else has settled it meanwhile. */
  const endMany = Effect.fnUntraced(function* (ends: ReadonlyArray<LoneEnd>, owner: string) {
    const rows = ends.map(({ row }) => row)
    const all = yield* journal.updateTogether(
      settleAll(rows, owner),
      ends.map(({ event }) => event),
    )
    if (all) return () => true
    const ids = yield* journal.transact(endSome(ends, owner))
    // What was written and not told is ours all the same.
    for (const { row } of ends) {
      if (ids.has(row.id)) continue
      const now = yield* byId(row.id)
      if (now?.state === row.state && now.settledAt === row.settledAt && now.output === row.output) ids.add(row.id)
    }
    return ({ row }: LoneEnd) => ids.has(row.id)
  })
  const endSome = Effect.fnUntraced(function* (ends: ReadonlyArray<LoneEnd>, owner: string) {
    const ids = yield* Effect.orDie(
      settleMany(
        ends.map(({ row }) => row),
        owner,
      ),
    )
    yield* journal.appendAll(ends.flatMap(({ event, row }) => (ids.has(row.id) ? [event] : [])))
    return new Set(ids)
  })

  /** Settles a call that was open; nothing, where it is settled already. */
  const settle = Effect.fnUntraced(function* (id: string, ending: Ending, seen: Seen) {
    const [known] = yield* Effect.orDie(sql<CallRow>`SELECT * FROM calls WHERE id = ${id}`)
    if (known === undefined || !from(ending.step).includes(known.state)) return undefined
    const columns = yield* columnsOf(ending, known.tool, seen)
    // A result that cannot be kept fails the call, and from the same states.
    const rows = yield* Effect.orDie(
      sql<CallRow>`UPDATE calls SET ${sql.update({ ...columns, owner: null } as never)}
        WHERE id = ${id} AND ${sql.in("state", from(ending.step))} RETURNING *`,
    )
    if (rows[0] === undefined) return undefined
    if (known.onKind === "callback") yield* timers.cancelKey(id)
    yield* settledEvent(rows[0], columns)
    yield* posting.end(rows[0])
    return rows[0]
  })

  /** From waiting to running, in this process, or on from a process that is gone; nothing, where somebody else was first. */
  const start = Effect.fnUntraced(function* (id: string, owner: string, input: string | undefined) {
    const rows = yield* Effect.orDie(
      sql<CallRow>`UPDATE calls SET ${sql.update({ state: "running", owner, ...(input === undefined ? {} : { input }) } as never)}
        WHERE id = ${id} AND (state = 'waiting' OR (state = 'running' AND owner <> ${owner})) RETURNING *`,
    )
    return rows[0]
  })

  /** From running to waiting for something else. */
  const park = Effect.fnUntraced(function* (id: string, on: WaitsOn) {
    const rows = yield* Effect.orDie(
      sql<CallRow>`UPDATE calls SET state = 'waiting', owner = NULL, on_kind = ${on.kind}, on_id = ${on.id}
        WHERE id = ${id} AND state = 'running' RETURNING *`,
    )
    const row = rows[0]
    if (row === undefined) return undefined
    yield* journal.append({
      kind: "call.waiting",
      actor: row.principal,
      body: { ...event(row), on },
    })
    return row
  })

  const byId = Effect.fnUntraced(function* (id: string) {
    return (yield* Effect.orDie(sql<CallRow>`SELECT * FROM calls WHERE id = ${id}`))[0]
  })
  const byKey = Effect.fnUntraced(function* (principal: string, key: string) {
    return (yield* Effect.orDie(
      sql<CallRow>`SELECT * FROM calls WHERE principal = ${principal} AND idempotency_key = ${key}`,
    ))[0]
  })

  return { open, whole, lone, loneBegin, loneEnd, many, endMany, settle, start, park, byId, byKey }
})

/** An error in the journal is its tag and a sentence; the row has all of it. */
const brief = (error: string): CallError => {
  const { message, tag } = JSON.parse(error) as CallError
  return { tag, message: message.slice(0, 1000) }
}

const textOf = (output: unknown): string | undefined => {
  try {
    // What gives nothing gives null: JSON has no other word for it.
    return output === undefined ? "null" : JSON.stringify(output)
  } catch {
    return undefined
  }
}

/** A failure as it is kept: its tag, its sentence, and its own fields. */
export const errorOf = (error: unknown): CallError & Record<string, unknown> => {
  if (error instanceof ToolExecutionError) return { tag: error._tag, message: error.message, toolName: error.toolName }
  const {
    _tag: tag,
    cause: _cause,
    message,
    ...fields
  } = { ...(error as object), message: (error as Error).message } as {
    _tag?: string
    cause?: unknown
    message: string
  }
  return { tag: tag ?? "ToolExecutionError", message, ...fields }
}
