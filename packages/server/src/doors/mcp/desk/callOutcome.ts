/** A stored call as an outcome of `tools/call`, or as a task. Pure. */
import { type CallRow, isSettled } from "../../../calls/Calls.ts"
import type { JsonObject, Outcome, Task } from "./Desk.ts"

type Settled = Extract<Outcome, { readonly _tag: "Done" | "Content" | "Failed" }>

/** One of our errors with all its fields, but without its stack or cause. */
export const failure = (error: { readonly _tag: string; readonly message: string }): Settled => {
  const {
    _tag: tag,
    cause: _cause,
    input: _input,
    agentId: _agent,
    ...fields
  } = { ...error } as JsonObject & typeof error
  return { _tag: "Failed", error: { ...fields, tag, message: error.message } }
}

const errorIn = (text: string | null): { readonly tag: string; readonly message: string } => {
  const { message, tag } = (text === null ? {} : JSON.parse(text)) as {
    readonly tag?: string
    readonly message?: string
  }
  return { tag: tag ?? "ToolExecutionError", message: message ?? "The call failed" }
}

const settledOf = (row: CallRow): Settled => {
  if (row.state !== "done") return { _tag: "Failed", error: { ...errorIn(row.error), call: row.id } }
  if (row.outputFile !== null)
    return { _tag: "Done", json: JSON.stringify({ file: row.outputFile, size: row.outputSize ?? 0 }) }
  return { _tag: "Done", json: row.output ?? "null" }
}

export const taskOf = (row: CallRow): Task => {
  const base = {
    id: row.id,
    createdAt: row.createdAt,
    updatedAt: row.settledAt ?? row.createdAt,
    ttlMs: null,
    pollMs: 1000,
  }
  if (row.state === "canceled") return { ...base, status: "cancelled" }
  if (isSettled(row.state)) return { ...base, status: "completed", outcome: settledOf(row) }
  if (row.state !== "waiting") return { ...base, status: "working" }
  const what = `It waits for a ${row.onKind ?? "answer"} (${row.onId ?? ""})`
  return { ...base, status: "working", message: typeof row.note === "string" ? `${what}. ${row.note}` : what }
}

export const outcomeOf = (row: CallRow): Outcome => {
  if (isSettled(row.state)) return settledOf(row)
  if (row.state === "waiting" && row.onKind !== null)
    return {
      _tag: "Waiting",
      call: row.id,
      on: { kind: row.onKind, id: row.onId ?? "" },
      task: taskOf(row),
      ...(typeof row.note === "string" ? { note: row.note } : {}),
    }
  return { _tag: "Running", call: row.id, task: taskOf(row) }
}
