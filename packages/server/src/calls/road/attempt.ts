/**
 * A call on the road: the request, the caller, and what the steps have found out so far. Its handler gets a part of it.
 * Also the place of a call that a program makes in its turn.
 */
import type { CallId, Caller, CallRun, CorrelationId, Provenance, RunId, SpaceId, TokenId } from "@stoa/contract"
import { type Progress, Redactor } from "@stoa/tools"
import { DateTime, Effect, type Schema } from "effect"
import type { Credential } from "../../access/identity/Tokens.ts"
import { type Cause, newId } from "../../store/journal/Correlation.ts"
import { isoMoment } from "../../store/Moment.ts"
import type { CallingClient, MCPCall } from "../../servers/InputRequired.ts"
import { everything, type ToolScope } from "../catalogue/Catalogue.ts"
import type { CatalogueTool } from "../catalogue/Traits.ts"
import type { HandlerCall } from "./Handler.ts"
import type { CallRow, NewRow } from "./record/rows.ts"

/** What a call may ask for. */
export interface CallRequest {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The space it is made in, by id or name; by default the caller's active space. */
  readonly space?: string
  /** The same key means the same call: a retry gets the first one and its result. */
  readonly key?: string
  readonly scope?: ToolScope
  /** How long to wait for a running call, in milliseconds. */
  readonly wait?: number
  /** Wait for a waiting call, too. */
  readonly stay?: boolean
  readonly progress?: Progress
  /** The id it must have: for callers that may have to stop it before it has answered. */
  readonly id?: CallId
  /**
   * Asked if the request is interrupted: whether its sender gave it up, which cancels the call. Without this, the call
   * continues without the request.
   */
  readonly isGivenUp?: () => boolean
  /** The MCP client that makes it. */
  readonly client?: CallingClient
  /** Why it cannot be made, in a sentence: the call is refused and recorded, and never runs. */
  readonly fault?: string
  /** The outermost run it is part of: an approval for a run is valid in all of it. */
  readonly root?: string
  /** The run it is part of. Doors cannot set this. */
  readonly run?: CallRun
}

export interface Attempt extends HandlerCall {
  /** The name it was called by; after `find`, the tool's one name. */
  tool: string
  /** The input as given; after `validate`, as the schema returns it. */
  input: Readonly<Record<string, unknown>>
  /** When it was made, as stored. */
  readonly startedAt: number
  /** The same on the monotonic clock, if it was made in this process. */
  readonly began?: number
  readonly scope: ToolScope
  readonly provenance: Provenance
  /** The outermost run it is part of. */
  readonly root: string | undefined
  /** A retry with the same key must have the same digest. */
  readonly digest: string
  found: CatalogueTool | undefined
  /** The rule that allowed or refused it. */
  rule: string | null
  transaction: HandlerCall["transaction"]
  keep: MCPCall["keep"]
  /** Its row, as written when it began to wait for an approval. */
  asked: CallRow | undefined
  /** Its server continues with it even if this process ends, and a row says how to find it again. */
  kept: boolean
}

const longestName = 256
const silent: Progress = () => Effect.void
const nothingKept: MCPCall["keep"] = () => Effect.void

export const begin = (
  request: CallRequest,
  caller: Caller["Service"],
  cause: Cause,
  about: { readonly space: SpaceId | null; readonly digest: string; readonly now: number; readonly began: number },
): Attempt => {
  const id = request.id ?? newId<CallId>("call")
  return {
    id,
    // No tool has a longer name: one character more is stored, so that the part is not taken for a tool.
    tool: request.tool.slice(0, longestName + 1),
    input: request.input,
    caller,
    principal: caller.principal.id,
    space: about.space,
    run: request.run ?? null,
    correlationId: cause.correlationId,
    provenance: cause.provenance,
    root: request.root,
    idempotencyKey: request.key ?? id,
    digest: about.digest,
    startedAt: about.now,
    began: about.began,
    scope: request.scope ?? everything,
    progress: request.progress ?? silent,
    client: request.client,
    answered: undefined,
    transaction: undefined,
    keep: nothingKept,
    kept: false,
    asked: undefined,
    redactor: new Redactor(),
    meta: new Map(),
    found: undefined,
    rule: null,
  }
}

/** What a waiting call needs to continue, besides the other columns of its row. */
interface Made {
  readonly token: TokenId | null
  /** Milliseconds. */
  readonly expiresAt?: number
  readonly run?: string
  readonly turn?: Caller["Service"]["turn"]
  readonly root?: string
  /** Absent: everything. */
  readonly scope?: ToolScope
}

/** For the column `resume`. */
export const resumeJson = ({ caller, root, scope }: Attempt): string =>
  JSON.stringify({
    token: caller.token,
    expiresAt: caller.expiresAt?.epochMilliseconds,
    run: caller.run,
    turn: caller.turn,
    root,
    scope: scope.kind === "all" ? undefined : scope,
  } satisfies { readonly [key in keyof Made]-?: unknown })

const madeFrom = ({ resume }: Pick<CallRow, "resume">): Made | undefined =>
  typeof resume === "string" ? (JSON.parse(resume) as Made) : undefined

/** What the caller of a stored call was identified by. */
export const credentialOf = (row: Pick<CallRow, "resume">): Credential | undefined => {
  const made = madeFrom(row)
  if (made === undefined) return undefined
  const { expiresAt, run, token, turn } = made
  return {
    token,
    expiresAt: expiresAt === undefined ? null : DateTime.makeUnsafe(expiresAt),
    ...(run === undefined ? {} : { run }),
    ...(turn === undefined ? {} : { turn }),
  }
}

/** A stored call that continues, as it was made; `more` is what has been added since. */
export const attemptFrom = (
  row: CallRow,
  caller: Caller["Service"],
  more: Partial<Pick<Attempt, "input" | "progress" | "client" | "answered">>,
): Attempt => ({
  id: row.id,
  tool: row.tool,
  input: JSON.parse(row.input) as Attempt["input"],
  caller,
  principal: row.principal,
  space: row.space as SpaceId | null,
  run: runOf(row),
  correlationId: row.correlationId,
  provenance: "tool",
  root: madeFrom(row)?.root,
  idempotencyKey: row.idempotencyKey ?? row.id,
  digest: row.digest,
  startedAt: Date.parse(row.createdAt),
  scope: madeFrom(row)?.scope ?? everything,
  progress: silent,
  client: undefined,
  answered: undefined,
  transaction: undefined,
  keep: nothingKept,
  kept: false,
  asked: undefined,
  redactor: new Redactor(),
  meta: new Map<string, Schema.Json>(),
  found: undefined,
  rule: row.rule,
  ...more,
})

/** Everything a stored call does from here on is attributed to its caller, under its original correlation id. */
export const causeOf = (row: CallRow): Cause => ({
  correlationId: row.correlationId as CorrelationId,
  actor: row.principal,
  provenance: "tool",
  ...(row.run === null ? {} : { run: row.run as RunId }),
})

export const runOf = ({ place, run, step }: Pick<CallRow, "run" | "step" | "place">): CallRun | null =>
  run === null ? null : { id: run, step: step ?? 0, place: place ?? 0 }

/**
 * Its row so far. `input` is text that fits a row: input nested too deep is refused, and the row is stored without it.
 */
export const rowOf = (attempt: Attempt, input: string): NewRow => {
  const { caller, found, run } = attempt
  return {
    id: attempt.id,
    principal: attempt.principal,
    context: caller.context,
    idempotencyKey: attempt.idempotencyKey === attempt.id ? null : attempt.idempotencyKey,
    tool: attempt.tool,
    input,
    digest: attempt.digest,
    fingerprint: found?.tool.fingerprint ?? null,
    space: attempt.space,
    visibility: found?.visibility ?? "hidden",
    customUi: found?.tool.definition.customUI ?? null,
    rule: attempt.rule,
    correlationId: attempt.correlationId,
    createdAt: isoMoment(attempt.startedAt),
    run: run?.id ?? null,
    step: run?.step ?? null,
    place: run?.place ?? null,
  }
}

const usualWaitMs = 30_000
/** A program in its turn does not wait long: it gets later results in its next turn. */
const turnWaitMs = 5000

/** For how long a caller waits for a running call, in milliseconds. */
export const waitOf = ({ turn }: Caller["Service"], wait = usualWaitMs): number =>
  turn === undefined ? wait : Math.min(wait, turnWaitMs)

/** More concurrent turns than a machine has processes. */
const maxTurns = 10_000

/**
 * The places of calls that a program makes itself during its turn: the next free place of its run and step. A turn is
 * one process of one house, so counting in this house is enough; a turn after a restart is another step.
 */
export const makePlaces = () => {
  const last = new Map<string, number>()
  return ({ run, turn }: Caller["Service"]): { readonly run: CallRun; readonly root: string } | undefined => {
    if (run === undefined || turn === undefined) return undefined
    const key = `${run} ${turn.step}`
    const place = (last.get(key) ?? 0) + 1
    last.delete(key)
    last.set(key, place)
    if (last.size > maxTurns) last.delete(last.keys().next().value!)
    return { run: { id: run, step: turn.step, place }, root: turn.root }
  }
}
