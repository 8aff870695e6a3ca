/** Rows of calls as values. */
import {
  type AccessContext,
  Call,
  type CallError,
  type CallState,
  type PrincipalId,
  type Visibility,
} from "@stoa/contract"
import { Schema } from "effect"

export interface CallRow {
  readonly id: Call["id"]
  readonly principal: PrincipalId
  readonly context: AccessContext
  /** Only where the caller gave one: without it there is nothing to find the call by but its id. */
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
  /** Of one that a run took over from an earlier run: the call that was made. */
  readonly copyOf?: Call["id"] | null
}

/** A call as it is first written down: what is not known yet is empty. */
export type NewRow = Omit<CallRow, keyof typeof unsettled | "state" | "message">

/** The columns of a call that has not come to anything. */
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

/** Waits for a process that works on it now: as good as running, but it holds nothing here. */
export const isWithHost = ({ id, onId, onKind, state }: CallRow): boolean =>
  state === "waiting" && onKind === "callback" && onId !== id

/** How long it took, in milliseconds. */
export const tookMs = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from))

const decode = Schema.decodeUnknownSync(Call)

export const callFrom = (row: CallRow): Call => {
  const { error, onId, onKind, output, outputFile, outputSize, state } = row
  const file =
    outputFile === null ? undefined : { file: outputFile, size: outputSize ?? 0, mediaType: "application/json" }
  return decode({
    id: row.id,
    tool: row.tool,
    state,
    input: JSON.parse(row.input) as unknown,
    ...(state !== "done" ? {} : { output: file ?? (output === null ? null : (JSON.parse(output) as unknown)) }),
    ...(file === undefined ? {} : { outputFile: file }),
    ...(row.meta === null ? {} : { meta: JSON.parse(row.meta) as unknown }),
    ...(error === null ? {} : { error: errorFrom(error) }),
    ...(state === "waiting" && onKind !== null && onId !== null ? { on: { kind: onKind, id: onId } } : {}),
    principal: row.principal,
    space: row.space,
    ...(row.run === null ? {} : { run: { id: row.run, step: row.step, place: row.place } }),
    rule: row.rule,
    createdAt: row.createdAt,
    settledAt: row.settledAt,
  })
}

export const errorFrom = (text: string): CallError => {
  const { message, tag } = JSON.parse(text) as CallError
  return { tag, message }
}
