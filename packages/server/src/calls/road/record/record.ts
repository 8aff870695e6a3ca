/**
 * What is recorded of a call: what its ending writes (pure), one row, and its events in the same transaction. Every
 * change of state is one UPDATE guarded by the table of `lifecycle.ts`, so that of two writers only one settles the
 * call, and the other notices.
 */
import type { CallState, SpaceId, WaitsOn, CallError, FileId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Files, largestFile } from "../../../store/Files.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import { Timers } from "../../../store/journal/Timers.ts"
import { runOf } from "../attempt.ts"
import { makeCallMessage } from "./callMessage.ts"
import type { Traces } from "../Handler.ts"
import { first, from, to, type Settling } from "./lifecycle.ts"
import { type CallRow, type NewRow, tookMs, unsettled } from "./rows.ts"
import { makeRowInsert } from "../../../store/database/dialect/Inserts.ts"
import { lockRead } from "../../../store/database/dialect/Locks.ts"
import { inState } from "../../../store/database/dialect/States.ts"
import type { Failure, CallSettlement } from "@stoa/tools"

/** A larger result is stored as a file and carried by reference (G-30). */
const largestOutput = 64 * 1024

export type CallEnd =
  | { readonly step: "finish"; readonly output: unknown }
  | {
      readonly step: Exclude<Settling, "finish">
      readonly error: Failure
      /** Who ended it, if it was not a rule of the house. */
      readonly rule?: string
    }

/** How a handler ends its call. */
export type HandlerEnd =
  | Extract<CallEnd, { readonly step: "finish" }>
  | { readonly step: "fail"; readonly error: Failure }

/** The error of an interrupted call: it is never run again automatically. */
export const unknownOutcome: Failure = {
  tag: "ToolExecutionError",
  message: "The house stopped while this ran. Whether it had an effect is not known; look before you call it again",
}

/**
 * How a handler ended. A cancel settles the call before it interrupts; any other interruption means that the house
 * stopped.
 */
export const endingOf = (settled: CallSettlement): HandlerEnd => {
  if (settled.state === "done") return { step: "finish", output: settled.output }
  return { step: "fail", error: settled.error.tag === "Interrupted" ? unknownOutcome : settled.error }
}

export type Columns = Pick<CallRow, "state" | "output" | "outputFile" | "outputSize" | "meta" | "error"> & {
  readonly settledAt: string
  /** The rule that refused it in the end, if it is not the one it was judged by. */
  readonly rule?: string
}

const finished = to("finish")

/** The end of a call that is recorded together with it. */
export type WholeEnd =
  | Extract<CallEnd, { readonly step: "finish" }>
  | {
      readonly step: Exclude<Settling, "finish" | "expire">
      readonly error: Failure
    }

/** The columns, and an output that is too large for them. */
export interface Outcome {
  /** The step it takes: a result that cannot be stored fails the call. */
  readonly step: Settling
  readonly columns: Columns
  readonly large?: string
}

export const outcomeOf = (settledAt: string, ending: CallEnd, tool: string, { meta, redactor }: Traces): Outcome => {
  const empty = {
    meta: meta.size === 0 ? null : redactor.jsonText(JSON.stringify(Object.fromEntries(meta))),
    output: null as string | null,
    outputFile: null as FileId | null,
    outputSize: null as number | null,
    error: null as string | null,
    settledAt,
  }
  const failed = (step: Exclude<Settling, "finish">, error: Failure): Outcome => ({
    step,
    columns: {
      ...empty,
      state: to(step),
      error: redactor.jsonText(JSON.stringify(error)),
      ...(typeof error["rule"] === "string" ? { rule: error["rule"] } : {}),
    },
  })
  if (ending.step !== "finish") return failed(ending.step, ending.error)
  const given = textOf(ending.output)
  // Measured after redaction: the replacement may be longer than the secret.
  const output = given === undefined ? undefined : redactor.jsonText(given)
  if (output === undefined || Buffer.byteLength(output) > largestFile)
    return failed("fail", {
      tag: "ToolExecutionError",
      message:
        output === undefined
          ? `The result of "${tool}" is not JSON, and was not kept`
          : `The result of "${tool}" is larger than ${largestFile} bytes, and was not kept`,
    })
  const done = { ...empty, state: finished }
  return Buffer.byteLength(output) <= largestOutput
    ? { step: "finish", columns: { ...done, output } }
    : { step: "finish", columns: done, large: output }
}

const textOf = (output: unknown): string | undefined => {
  try {
    // A tool without output gives null, since JSON has no undefined.
    return output === undefined ? "null" : JSON.stringify(output)
  } catch {
    return undefined
  }
}

/** The journal gets the tag and the message of an error; the row has all of it. */
const brief = (error: string): CallError => {
  const { message, tag } = JSON.parse(error) as CallError
  return { tag, message: message.slice(0, 1000) }
}

/**
 * Two calls came at once with the same key or at the same place of a run: the other was first, and this one's writes
 * are rolled back.
 */
export class CallExists {
  readonly _tag = "CallExists"
}

type About = Pick<CallRow, "id" | "tool" | "principal" | "run" | "step" | "place">

const about = (row: About) => {
  const run = runOf(row)
  const base = { call: row.id, tool: row.tool, principal: row.principal }
  return run === null ? base : { ...base, run }
}

export const receivedEvent = (row: About) =>
  ({ kind: "call.received", actor: row.principal, body: about(row) }) as const

const waitingEvent = (row: About, on: WaitsOn) =>
  ({ kind: "call.waiting", actor: row.principal, body: { ...about(row), on } }) as const

export const settledEvent = (row: About & Pick<CallRow, "rule" | "space">, columns: Columns, durationMs: number) =>
  ({
    kind: "call.settled",
    actor: row.principal,
    body: {
      ...about(row),
      state: columns.state,
      error: columns.error === null ? null : brief(columns.error),
      rule: columns.rule ?? row.rule,
      durationMs,
      space: row.space as SpaceId | null,
    },
  }) as const

/** The event of a call that is recorded together with its end. */
export const wholeEvent = (...of: Parameters<typeof settledEvent>) => {
  const event = settledEvent(...of)
  return { ...event, body: { ...event.body, whole: true } } as const
}

export const makeCallRecorder = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const files = yield* Files
  const message = yield* makeCallMessage
  const timers = yield* Timers

  /** The columns that an ending fills; an output too large for a row becomes a file. */
  const columnsOf = Effect.fnUntraced(function* (ending: CallEnd, tool: string, traces: Traces) {
    const { columns, large, step } = outcomeOf(DateTime.formatIso(yield* DateTime.now), ending, tool, traces)
    if (large === undefined) return { step, columns }
    const { id } = yield* Effect.orDie(files.put(Buffer.from(large), "application/json"))
    return { step, columns: { ...columns, outputFile: id, outputSize: Buffer.byteLength(large) } }
  })

  const insertRow = makeRowInsert(sql, "calls", "ON CONFLICT DO NOTHING RETURNING id")
  /** Writes a new call; fails if its key or place is taken. */
  const insert = Effect.fnUntraced(function* (row: CallRow) {
    const rows = yield* Effect.orDie(insertRow(row))
    if (rows.length === 0) return yield* Effect.fail(new CallExists())
  })

  /** A guarded change: undefined if the table does not allow it from the call's present state. */
  const change = Effect.fnUntraced(function* (
    id: string,
    step: Parameters<typeof to>[0],
    columns: Partial<CallRow>,
    also = sql`1 = 1`,
  ) {
    const rows = yield* Effect.orDie(
      sql<CallRow>`UPDATE calls SET ${sql.update({ ...columns, state: to(step) } as never)}
        WHERE id = ${id} AND ${inState(sql, from(step))} AND ${also} RETURNING *`,
    )
    return rows[0]
  })

  /** Records a call that runs in this process. */
  const openRunning = (row: NewRow, owner: string) => open({ ...row, ...unsettled, state: first("start"), owner })
  /** Records a call that waits. */
  const openWaiting = Effect.fnUntraced(function* (row: NewRow, on: WaitsOn) {
    const opened = yield* open({ ...row, ...unsettled, state: first("wait"), onKind: on.kind, onId: on.id })
    yield* journal.append(waitingEvent(row, on))
    return opened
  })
  const open = Effect.fnUntraced(function* (row: Omit<CallRow, "message">) {
    const opened: CallRow = { ...row, message: yield* message.begin(row, row.visibility) }
    yield* insert(opened)
    yield* journal.append(receivedEvent(row))
    return opened
  })

  /** A call that is recorded with its end: refused, or run without outside effects. One commit. */
  const whole = Effect.fnUntraced(function* (row: NewRow, ending: WholeEnd, traces: Traces) {
    const { columns } = yield* columnsOf(ending, row.tool, traces)
    // A refused call never began, so no space shows it.
    const shown: NewRow = ending.step === "refuse" ? { ...row, visibility: "hidden" } : row
    const posted = yield* message.begin({ ...shown, ...unsettled, state: first("start") }, shown.visibility)
    const made: CallRow = { ...shown, ...unsettled, ...columns, message: posted }
    yield* insert(made)
    yield* journal.append(receivedEvent(row))
    yield* journal.append(wholeEvent(row, columns, tookMs(row.createdAt, columns.settledAt)))
    yield* message.end(made)
    return made
  })

  /** Locks the row, for a transaction that writes something else of the call first. */
  const hold = (id: string) => Effect.orDie(sql`SELECT id FROM calls WHERE id = ${id} ${lockRead(sql, "calls")}`)

  /** Its row still says so: null if no process runs it. */
  const ownedBy = (owner: string | null) => (owner === null ? sql`owner IS NULL` : sql`owner = ${owner}`)

  /**
   * Settles an open call. Undefined if it is settled already, or no longer belongs to `owner`: whoever read the row some
   * time ago gives the owner that it named.
   */
  const settle = Effect.fnUntraced(function* (id: string, ending: CallEnd, traces: Traces, owner?: string | null) {
    const known = yield* byId(id)
    if (known === undefined || !from(ending.step).includes(known.state)) return undefined
    const { columns, step } = yield* columnsOf(ending, known.tool, traces)
    const mine = owner === undefined ? undefined : ownedBy(owner)
    const by = ending.step !== "finish" && ending.rule !== undefined ? { rule: ending.rule } : {}
    const row = yield* change(id, step, { ...columns, ...by, owner: null }, mine)
    if (row === undefined) return undefined
    if (known.onKind === "callback" || known.onKind === "run") yield* timers.cancelKeys([id])
    yield* journal.append(settledEvent(row, columns, tookMs(row.createdAt, columns.settledAt)))
    yield* message.end(row)
    return row
  })

  /** From waiting to running, in this process; undefined if another process was first. */
  const start = Effect.fnUntraced(function* (id: string, owner: string, input?: string) {
    const row = yield* startHidden(id, owner, input)
    if (row !== undefined) yield* message.change(row)
    return row
  })
  /** The same for a call that no space shows: one statement. */
  const startHidden = (id: string, owner: string, input?: string) =>
    change(id, "start", { owner, ...(input === undefined ? {} : { input }) })

  /** Takes over from a dead process. */
  const takeOver = (id: string, owner: string, gone: string | null) => change(id, "takeOver", { owner }, ownedBy(gone))

  /** A waiting call that this process is about to start: if the process dies, another one finds it. */
  const own = (id: string, owner: string) =>
    Effect.orDie(sql`UPDATE calls SET owner = ${owner} WHERE id = ${id} AND ${inState(sql, from("start"))}`)

  /** From running to waiting for something. */
  const park = Effect.fnUntraced(function* (id: string, on: WaitsOn, owner: string) {
    const columns = { owner: null, onKind: on.kind, onId: on.id }
    const row = yield* change(id, "wait", columns, ownedBy(owner))
    if (row === undefined) return undefined
    yield* journal.append(waitingEvent(row, on))
    yield* message.change(row)
    return row
  })

  /** What it was made with, for a call that has run and goes on later. */
  const keepMade = (id: string, made: string) => Effect.orDie(sql`UPDATE calls SET resume = ${made} WHERE id = ${id}`)

  const byId = Effect.fnUntraced(function* (id: string) {
    return (yield* Effect.orDie(sql<CallRow>`SELECT * FROM calls WHERE id = ${id}`))[0]
  })
  const byKey = Effect.fnUntraced(function* (principal: string, key: string) {
    return (yield* Effect.orDie(
      sql<CallRow>`SELECT * FROM calls WHERE principal = ${principal} AND idempotency_key = ${key}`,
    ))[0]
  })
  /** The call at a place of a run, for the process that continues the run. */
  const byPlace = Effect.fnUntraced(function* (run: string, step: number, place: number) {
    return (yield* Effect.orDie(
      sql<CallRow>`SELECT * FROM calls WHERE run = ${run} AND step = ${step} AND place = ${place}`,
    ))[0]
  })
  const inStates = (states: ReadonlyArray<CallState>) => inState(sql, states)

  return {
    openRunning,
    openWaiting,
    whole,
    hold,
    settle,
    start,
    startHidden,
    takeOver,
    own,
    park,
    keepMade,
    byId,
    byKey,
    byPlace,
    inStates,
  }
})

export type CallRecorder = Effect.Success<typeof makeCallRecorder>
