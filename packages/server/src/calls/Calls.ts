/**
 * The one road to execution, with the store between its steps. Doors and runs call it; kinds are called by it. It never
 * sleeps: a call settles or it waits, and what waits is a row.
 */
import {
  type BadInput,
  type CallId,
  CallPreview,
  type CallResult,
  type CallState,
  Caller,
  Forbidden,
  Missing,
  type Page,
  type PageQuery,
  type Principal,
  type Provenance,
  ToolAuthorizationError,
  ToolNotFoundError,
  ToolValidationError,
  type TooManyRequests,
  WrongState,
} from "@stoa/contract"
import { type Call as Begun, digestOf, isTooDeep } from "@stoa/tools"
import { Cause as Failure, Clock, Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../access/rights/Grants.ts"
import { ActiveSpaces } from "../spaces/ActiveSpaces.ts"
import { mayPost } from "../spaces/Messages.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { goOn } from "../store/AtHand.ts"
import { type Cause, causeOr, Correlation, currentCause, newId } from "../store/journal/Correlation.ts"
import { Journal } from "../store/journal/Journal.ts"
import { isoMoment } from "../store/Moment.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"
import type { Answers } from "../upstreams/Asked.ts"
import { makeAsking } from "./road/asking.ts"
import { everything, type Face } from "./catalogue/Catalogue.ts"
import type { OpenQuestions } from "./waiting/questions.ts"
import { unseen } from "./kinds/Kind.ts"
import { errorOf, makeRecord, type NewRow } from "./road/record.ts"
import { makeReturning } from "./waiting/returning.ts"
import { type CallRow, isWithHost } from "./road/rows.ts"
import { makeRunning, measure, type Progress } from "./road/running.ts"
import { makeWalk, type Reached, reachedNothing, type Walked } from "./road/walk.ts"
import { makeWatch } from "./waiting/watch.ts"

export type { CallRow } from "./road/rows.ts"
export { callFrom } from "./road/rows.ts"

/** What a call may ask for. */
export interface CallRequest {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The space it is made in, by id or name; otherwise the one its caller has entered. */
  readonly space?: string
  /** The same key is the same call: a retry finds the first one and its result. */
  readonly key?: string
  readonly face?: Face
  /** How long to stay with a call that runs, in milliseconds. */
  readonly wait?: number
  /** Stay with one that waits, too. */
  readonly stay?: boolean
  readonly progress?: Progress
}

export type Refused = ToolNotFoundError | ToolAuthorizationError | ToolValidationError

/** Who looks at calls: their maker, and whoever may look everywhere. */
export interface CallReader {
  readonly principal: Principal
  readonly all: boolean
}

const usualWait = 30_000

export class Calls extends Context.Service<
  Calls,
  {
    readonly call: (
      request: CallRequest,
    ) => Effect.Effect<CallRow, Refused | TooManyRequests | WrongState | Missing | Forbidden, Caller>
    readonly preview: (
      request: CallRequest,
    ) => Effect.Effect<CallPreview, Refused | TooManyRequests | Missing | Forbidden, Caller>
    readonly get: (id: string, reader: CallReader) => Effect.Effect<CallRow, Missing>
    readonly list: (
      reader: CallReader,
      query: PageQuery & { readonly state?: CallState; readonly tool?: string },
    ) => Effect.Effect<Page<CallRow>>
    /** Returns when it has settled, or as it stands when the time is up. */
    readonly settled: (id: string, milliseconds: number) => Effect.Effect<CallRow>
    readonly cancel: (id: string, reason: string) => Effect.Effect<CallRow, Missing | WrongState>
    /** `by` is a member, or nobody where the door has checked a signature. */
    readonly result: (
      id: string,
      by: Principal | null,
      result: CallResult,
    ) => Effect.Effect<CallRow, Missing | WrongState | BadInput | Forbidden>
    readonly resume: (call: CallId, decision: string) => Effect.Effect<void>
    /** What the client that made a call says to what the call was asked; returns when it has settled, or asks again. */
    readonly hear: (
      id: string,
      by: Principal,
      answers: Answers,
      options: { readonly wait: number; readonly progress?: Progress },
    ) => Effect.Effect<CallRow, Missing>
    /** What a call was asked before it can go on. */
    readonly asks: (id: string) => Effect.Effect<OpenQuestions | undefined>
    readonly expire: (call: string) => Effect.Effect<void>
    readonly halt: (subject: string) => Effect.Effect<void>
    readonly recover: Effect.Effect<number>
  }
>()("server/calls/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const record = yield* makeRecord
      const walk = yield* makeWalk
      const active = yield* ActiveSpaces
      const spaces = yield* Spaces
      const grants = yield* Grants
      const clock = yield* Clock.Clock
      const watch = makeWatch(record)
      const running = yield* makeRunning(record, yield* makeAsking, watch)
      const returning = yield* makeReturning(record, running, watch)

      const begin = (request: CallRequest, { principal }: Caller["Service"], cause: Cause): Begun => {
        const id = newId<CallId>("call")
        return {
          id,
          toolName: request.tool,
          arguments: request.input,
          agentId: principal.id,
          sessionId: request.space ?? "",
          correlationId: cause.correlationId,
          idempotencyKey: request.key ?? id,
          startedAt: clock.currentTimeMillisUnsafe(),
        }
      }

      const rowOf = (
        begun: Begun,
        reached: Reached,
        caller: Caller["Service"],
        digest: string,
        input: string,
      ): NewRow => ({
        id: begun.id as CallId,
        principal: caller.principal.id,
        context: caller.context,
        idempotencyKey: begun.idempotencyKey === begun.id ? null : begun.idempotencyKey,
        tool: reached.tool,
        input,
        digest,
        fingerprint: reached.fingerprint,
        space: begun.sessionId === "" ? null : begun.sessionId,
        visibility: reached.visibility,
        customUi: reached.customUI,
        rule: reached.rule,
        correlationId: begun.correlationId,
        createdAt: isoMoment(begun.startedAt),
      })

      /** Stays with a call for as long as its caller wants to: by default with one that runs, not with one that waits. */
      const stay = (row: CallRow, { stay: patient, wait = usualWait }: CallRequest): Effect.Effect<CallRow> =>
        wait > 0 && (row.state === "running" || isWithHost(row) || (row.state === "waiting" && patient === true))
          ? watch.settled(row.id, wait)
          : Effect.succeed(row)

      /** A retry finds the first call and its result, or the refusal it met. */
      const again = Effect.fnUntraced(function* (row: CallRow, digest: string, request: CallRequest) {
        if (row.digest !== digest)
          return yield* new WrongState({
            detail: "This idempotency key was used for another call. Take a new key for a new call.",
          })
        if (row.state === "refused" && row.onKind === null) return yield* Effect.fail(refusalFrom(row))
        return yield* stay(row, request)
      })

      /** Refused before anything ran: written down all the same. */
      const refuse = Effect.fnUntraced(function* (row: NewRow, refusal: Refused) {
        const ending = { step: "refuse", error: errorOf(refusal) } as const
        const written = yield* journal.transact(record.whole(row, ending, unseen()))
        yield* measure(written)
        return yield* Effect.fail(refusal)
      })

      /** What it waits for once it has begun may come soon; one that still runs has had its time. */
      const recordAndStay = Effect.fnUntraced(function* (
        row: NewRow,
        walked: Walked,
        caller: Caller["Service"],
        request: CallRequest,
        provenance: Provenance,
      ) {
        const { progress, wait = usualWait } = request
        const now = yield* running.recordThenRun(row, walked, caller, wait, progress, provenance)
        return now.state === "waiting" ? yield* stay(now, request) : now
      })

      const first = Effect.fnUntraced(function* (
        request: CallRequest,
        begun: Begun,
        caller: Caller["Service"],
        digest: string,
        { provenance }: Cause,
      ) {
        const reached: Reached = reachedNothing(request.tool)
        const options = { face: request.face ?? everything, hasSpace: request.space !== undefined, counted: true }
        const walked = yield* Effect.exit(walk(caller, begun, options, reached))
        if (Exit.isFailure(walked)) {
          const refusal = Failure.squash(walked.cause)
          if (!isRefusal(refusal)) return yield* Effect.failCause(walked.cause)
          return yield* refuse(rowOf(begun, reached, caller, digest, textOf(begun.arguments)), refusal)
        }
        const { call } = walked.value
        const row = rowOf(call, reached, caller, digest, JSON.stringify(call.arguments))
        const { progress } = request
        if (walked.value.asks) return yield* stay(yield* running.askFirst(row, walked.value, caller), request)
        switch (walked.value.listed.effects) {
          case "none":
            return yield* stay(yield* running.runThenRecord(row, walked.value, caller, progress, provenance), request)
          case "store":
            return yield* running.runInside(row, walked.value, caller, progress)
          case "outside":
            return yield* recordAndStay(row, walked.value, caller, request, provenance)
        }
      })

      /** A call belongs to the space it names, if its caller may speak there, or to the one its caller stands in. */
      const placed = (given: CallRequest, caller: Caller["Service"]) =>
        given.space === undefined
          ? goOn(active.of(caller), (space) => Effect.succeed(space === undefined ? given : { ...given, space }))
          : placedIn(given, given.space, caller)
      const placedIn = Effect.fnUntraced(function* (given: CallRequest, named: string, caller: Caller["Service"]) {
        const space = yield* spaces.get(named, yield* grants.viewer("spaces"))
        if (!mayPost(space, caller.principal.id))
          return yield* new Forbidden({
            action: "call tools in",
            resource: `spaces/${space.name}`,
            rule: "members only",
          })
        return { ...given, space: space.id }
      })

      const callBy = Effect.fnUntraced(function* (given: CallRequest, caller: Caller["Service"], cause: Cause) {
        const request = yield* placed(given, caller)
        const { principal } = caller
        const digest = request.key === undefined ? "" : digestOf([request.tool, textOf(request.input), request.space])
        const before = request.key === undefined ? undefined : yield* record.byKey(principal.id, request.key)
        if (before !== undefined) return yield* again(before, digest, request)
        const begun = begin(request, caller, cause)
        const made = first(request, begun, caller, digest, cause)
        if (request.key === undefined) return yield* Effect.catchTag(made, "Taken", Effect.die)
        return yield* Effect.catchTag(made, "Taken", () =>
          Effect.flatMap(record.byKey(principal.id, begun.idempotencyKey), (row) => again(row!, digest, request)),
        )
      })
      // Without a span: that would cost as much as the walk.
      const call: Calls["Service"]["call"] = (given) =>
        Effect.withFiber((fiber) =>
          callBy(given, Context.getUnsafe(fiber.context, Caller), causeOr(fiber.getRef(Correlation))),
        )

      const preview: Calls["Service"]["preview"] = Effect.fn("Calls.preview")(function* (given) {
        const caller = yield* Caller
        const request = yield* placed(given, caller)
        const reached: Reached = reachedNothing(request.tool)
        const options = { face: request.face ?? everything, hasSpace: request.space !== undefined, counted: true }
        const { asks, call, listed } = yield* walk(
          caller,
          begin(request, caller, yield* currentCause),
          options,
          reached,
        )
        return new CallPreview({
          dryRun: true,
          tool: listed.tool.definition.name,
          input: call.arguments,
          verdict: asks ? "ask" : "allow",
          rule: reached.rule ?? "",
          asks,
          sends: listed.preview?.(call.arguments) ?? null,
        })
      })

      const get: Calls["Service"]["get"] = Effect.fn("Calls.get")(function* (id, { all, principal }) {
        const row = yield* record.byId(id)
        if (row === undefined || (!all && row.principal !== principal.id))
          return yield* new Missing({ noun: "call", ref: id })
        return row
      })

      const list: Calls["Service"]["list"] = Effect.fn("Calls.list")(function* ({ all, principal }, query) {
        const { after, limit } = pageFrom(query)
        const where = [sql`id > ${after}`]
        if (!all) where.push(sql`principal = ${principal.id}`)
        if (query.state !== undefined) where.push(sql`state = ${query.state}`)
        if (query.tool !== undefined) where.push(sql`tool = ${query.tool}`)
        const rows = yield* Effect.orDie(
          sql<CallRow>`SELECT * FROM calls WHERE ${sql.and(where)} ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(
          rows,
          limit,
          (row) => row,
          (row) => row.id,
        )
      })

      return Calls.of({ call, preview, get, list, settled: watch.settled, ...returning })
    }),
  )
}

const isRefusal = (error: unknown): error is Refused =>
  error instanceof ToolNotFoundError || error instanceof ToolAuthorizationError || error instanceof ToolValidationError

/** The refusal a call met, as it was told the first time. */
const refusalFrom = (row: CallRow): Refused => {
  const { tag, ...fields } = JSON.parse(row.error!) as { readonly tag: string }
  const given = fields as never
  if (tag === "ToolNotFoundError") return new ToolNotFoundError(given)
  return tag === "ToolValidationError" ? new ToolValidationError(given) : new ToolAuthorizationError(given)
}

/** What is nested too deep is refused, and the refusal is kept without it. */
const textOf = (input: Begun["arguments"]): string => (isTooDeep(input) ? "{}" : JSON.stringify(input))
