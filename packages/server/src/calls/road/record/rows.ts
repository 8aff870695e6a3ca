/** Rows of calls as values. */
import type {
  AccessContext,
  Call,
  CallError,
  CallState,
  FileId,
  PrincipalId,
  SpaceId,
  Visibility,
} from "@stoa/contract"
import { DateTime, type Schema } from "effect"

export interface CallRow {
  readonly id: Call["id"]
  readonly principal: PrincipalId
  readonly context: AccessContext
  /** Null if the caller gave none; then the call can be found only by its id. */
  readonly idempotencyKey: string | null
  readonly tool: string
  readonly input: string
  readonly digest: string
  readonly fingerprint: string | null
  readonly state: CallState
  readonly onKind: "decision" | "client" | "callback" | "run" | "reply" | null
  readonly onId: string | null
  readonly space: string | null
  readonly visibility: Visibility
  readonly customUi: string | null
  readonly message: string | null
  readonly output: string | null
  readonly outputFile: string | null
  readonly outputSize: number | null
  readonly meta: string | null
  readonly error: string | null
  readonly rule: string | null
  readonly correlationId: string
  readonly owner: string | null
  readonly createdAt: string
  readonly settledAt: string | null
  /** The run it is part of, the step that asked for it, and its place among that step's calls. */
  readonly run: string | null
  readonly step: number | null
  readonly place: number | null
  /** For a call that a run took over from an earlier run: the call that was actually made. */
  readonly copyOf?: Call["id"] | null
  /** For a call that waits and then runs: what it was made with (`Made`, in `road/attempt.ts`), as JSON. */
  readonly resume?: string | null
  /** No column: what its caller should know while it waits (`waiting/notes.ts`); null if that is nothing. */
  readonly note?: string | null
}

/** A call as it is first recorded: without the columns that are filled later. */
export type NewRow = Omit<CallRow, keyof typeof unsettled | "state" | "message">

/** The columns of an unsettled call. */
export const unsettled = {
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

/** Waits for a process that is working on it now: practically running, but it holds nothing here. */
export const isWithHost = ({ id, onId, onKind, state }: CallRow): boolean =>
  state === "waiting" && onKind === "callback" && onId !== id

/** Duration in milliseconds. */
export const tookMs = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from))

const json = (text: string) => JSON.parse(text) as Schema.Json

export const callFrom = (row: CallRow): Call => {
  const { error, meta, onId, onKind, output, outputFile, outputSize, run, settledAt, state } = row
  const file =
    outputFile === null
      ? undefined
      : { file: outputFile as FileId, size: outputSize ?? 0, mediaType: "application/json" }
  return {
    id: row.id,
    tool: row.tool,
    state,
    input: json(row.input),
    ...(state !== "done" ? {} : { output: file ?? (output === null ? null : json(output)) }),
    ...(file === undefined ? {} : { outputFile: file }),
    ...(meta === null ? {} : { meta: json(meta) as Schema.JsonObject }),
    ...(error === null ? {} : { error: errorFrom(error) }),
    ...(state === "waiting" && onKind !== null && onId !== null ? { on: { kind: onKind, id: onId } } : {}),
    ...(typeof row.note === "string" ? { note: row.note } : {}),
    principal: row.principal,
    space: row.space as SpaceId | null,
    ...(run === null ? {} : { run: { id: run, step: row.step!, place: row.place! } }),
    rule: row.rule,
    createdAt: DateTime.makeUnsafe(row.createdAt),
    settledAt: settledAt === null ? null : DateTime.makeUnsafe(settledAt),
  }
}

export const errorFrom = (text: string): CallError => {
  const { message, tag } = JSON.parse(text) as CallError
  return { tag, message }
}
