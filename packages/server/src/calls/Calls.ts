/**
 * The one road to execution, with the store between its steps. Doors and runs call it; it calls the kinds. It never
 * sleeps: a call settles, or waits as a row.
 */
import {
  type Ambiguous,
  type BadInput,
  type CallId,
  CallPreview,
  type CallResult,
  type CallOrder,
  type CallState,
  Caller,
  Forbidden,
  Missing,
  type Page,
  type PageQuery,
  type ResultSignature,
  ToolAuthorizationError,
  ToolNotFoundError,
  ToolValidationError,
  type TooManyRequests,
  type Unauthenticated,
  WrongState,
} from "@stoa/contract"
import { digestOf, isTooDeep, Road } from "@stoa/tools"
import { Cause as Failure, Clock, Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Endings } from "../access/identity/Endings.ts"
import { otherRequest } from "../access/identity/IdempotencyKeys.ts"
import { Limits } from "../access/limits/Limits.ts"
import { isPause } from "../access/limits/Pauses.ts"
import { makeRefusals } from "../access/limits/Refusals.ts"
import { Grants } from "../access/rights/Grants.ts"
import { type BasicViewer, ownViewer } from "../access/rights/Viewer.ts"
import { ActiveSpaces } from "../spaces/ActiveSpaces.ts"
import { makeCallSpace } from "./road/CallSpace.ts"
import { monotonicOf } from "../store/Moment.ts"
import { Holder } from "../store/leases/Holder.ts"
import { type Cause, causeOr, Correlation, currentCause, newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"
import type { Answers } from "../servers/InputRequired.ts"
import { makeAsk } from "./road/ask.ts"
import { type Attempt, begin, type CallRequest, rowOf, makePlaces, waitOf } from "./road/attempt.ts"
import { makeExecute, measure } from "./road/execute.ts"
import { noTraces } from "./road/Handler.ts"
import { type CallEnd, type CallExists, makeCallRecorder } from "./road/record/record.ts"
import { makePrepare } from "./road/prepare.ts"
import { refusedInput } from "./road/record/refusedInput.ts"
import { type CallRow, isWithHost } from "./road/record/rows.ts"
import { makeCallbackCheck, type SignedResult } from "./waiting/Callbacks.ts"
import { makeEndings } from "./waiting/endings.ts"
import { isSettled } from "./road/record/lifecycle.ts"
import { CallNews } from "./waiting/CallNews.ts"
import { makeListeners } from "./waiting/listeners.ts"
import { makeNotes } from "./waiting/notes.ts"
import type { OpenQuestions } from "./waiting/questions.ts"

export type { CallRequest } from "./road/attempt.ts"
export type { CallRow } from "./road/record/rows.ts"
export { callFrom } from "./road/record/rows.ts"
export { isSettled } from "./road/record/lifecycle.ts"

/** The request names a space in which the caller may not call tools. */
type Unplaced = Missing | Ambiguous | Forbidden

/** The caller's token has ended while it waited; the call goes on. */
type Ended = Unauthenticated

export type CallRefusal = ToolNotFoundError | ToolAuthorizationError | ToolValidationError

export class Calls extends Context.Service<
  Calls,
  {
    readonly call: (
      request: CallRequest,
    ) => Effect.Effect<CallRow, CallRefusal | TooManyRequests | WrongState | Unplaced | Ended, Caller>
    readonly preview: (
      request: CallRequest,
    ) => Effect.Effect<CallPreview, CallRefusal | TooManyRequests | WrongState | Unplaced, Caller>
    readonly get: (id: string, viewer: BasicViewer) => Effect.Effect<CallRow, Missing>
    readonly list: (
      viewer: BasicViewer,
      query: PageQuery & { readonly state?: CallState; readonly tool?: string; readonly order?: CallOrder },
    ) => Effect.Effect<Page<CallRow>>
    /** Returns when the call has settled, or its present state after the timeout. */
    readonly settled: (id: string, milliseconds: number) => Effect.Effect<CallRow, Ended, Caller>
    /** Its caller may, and whoever may see every call. */
    readonly cancel: (id: string, viewer: BasicViewer, reason: string) => Effect.Effect<CallRow, Missing | WrongState>
    /** Proof that the service of the tool has signed this result of a call that waits for it; undefined if it has not. */
    readonly signedBy: (result: SignedResult) => Effect.Effect<ResultSignature | undefined>
    /**
     * `by` is a member of the space, a host, or the proof from `signedBy` for this call. With any other proof the call
     * counts as missing.
     */
    readonly result: (
      id: string,
      by: Caller["Service"] | ResultSignature,
      result: CallResult,
    ) => Effect.Effect<CallRow, Missing | WrongState | BadInput | Forbidden>
    readonly resume: (call: CallId, decision: string) => Effect.Effect<void>
    /** The answers of the calling client to the call's questions; returns when the call has settled or asks again. */
    readonly hear: (
      id: string,
      by: Caller["Service"],
      answers: Answers,
      options: Pick<CallRequest, "isGivenUp" | "progress" | "client"> & { readonly wait: number },
    ) => Effect.Effect<CallRow, Missing | Ended>
    /** The client has given up the request that waits for the call: the caller's call is canceled. */
    readonly giveUp: (id: string, by: Caller["Service"]) => Effect.Effect<void>
    /** The questions that a call waits on. */
    readonly asks: (id: string) => Effect.Effect<OpenQuestions | undefined>
    /** Ends a waiting call in the caller's transaction, for rooms above. Returns undefined if it is over already. */
    readonly finish: (call: string, ending: CallEnd) => Effect.Effect<CallRow | undefined, never, Transaction>
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
      const active = yield* ActiveSpaces
      const callSpace = yield* makeCallSpace
      const limits = yield* Limits
      const clock = yield* Clock.Clock
      const { id: me } = yield* Holder
      const record = yield* makeCallRecorder
      const prepared = yield* makePrepare
      const { pay, prepare } = prepared
      const recordRefusal = yield* makeRefusals
      const { recordDenial } = yield* Grants
      const access = yield* Endings
      const listeners = makeListeners(record, yield* CallNews, access)
      const ask = yield* makeAsk(record)
      const execute = yield* makeExecute(record, ask, listeners, me)
      const { isProven, signedBy } = yield* makeCallbackCheck(record.byId)
      const endings = yield* makeEndings(record, prepared, execute, listeners, isProven)
      const noted = yield* makeNotes

      /** Waits for a call as long as its caller wants: by default for a running call, not for a waiting one. */
      const stay = (row: CallRow, { stay: patient, wait = 0 }: CallRequest): Effect.Effect<CallRow, Ended, Caller> =>
        wait > 0 && (row.state === "running" || (row.state === "waiting" && (patient === true || isWithHost(row))))
          ? remain(row.id, wait)
          : Effect.succeed(row)

      /**
       * A caller that waits for too many calls already gets this one in its present state; the call itself continues.
       */
      const remain = (id: string, milliseconds: number): Effect.Effect<CallRow, Ended, Caller> =>
        Effect.flatMap(Caller, (caller) =>
          Effect.catchTag(
            limits.within(caller, "waits", listeners.settled(caller, id, milliseconds)),
            "TooManyRequests",
            () => listeners.now(id),
          ),
        )

      /** A call that has settled already takes none of the slots for waiting requests. */
      const settled = (id: string, milliseconds: number): Effect.Effect<CallRow, Ended, Caller> =>
        Effect.flatMap(listeners.now(id), (row) =>
          isSettled(row.state) ? Effect.succeed(row) : Effect.flatMap(remain(id, milliseconds), noted),
        )

      /** A retry gets the first call and its result, or the refusal it met. */
      const again = Effect.fnUntraced(function* (row: CallRow, digest: string, request: CallRequest) {
        if (row.digest !== digest) return yield* otherRequest()
        if (row.state === "refused" && row.onKind === null) return yield* Effect.fail(refusalFrom(row))
        return yield* stay(row, request)
      })

      /** Refused before anything ran, but recorded all the same. */
      const refuse = Effect.fnUntraced(function* (attempt: Attempt, refusal: CallRefusal) {
        const recorded = Effect.suspend(() => {
          const row = rowOf(attempt, refusedInput(attempt.input))
          const ending = { step: "refuse", error: Road.failureOf(refusal) } as const
          return Effect.flatMap(journal.transact(record.whole(row, ending, noTraces())), measure)
        })
        const { caller, principal } = attempt
        const refused = { principal, action: "execute", resource: "tools/*" }
        yield* recordRefusal(refused, limits.take(caller, "calls/refused"), recorded)
        return yield* Effect.fail(refusal)
      })

      /**
       * A call belongs to the space it names, if its caller may speak there, or to the caller's active space (X-63).
       */
      const spaceOf = ({ space }: CallRequest, caller: Caller["Service"]) =>
        space === undefined ? active.of(caller) : callSpace(space, caller)

      /**
       * The road: find, judge, validate (`prepare`), record, ask, execute, settle. What a call changes decides when it
       * is recorded; a call that needs an approval is recorded with its question, and waits.
       */
      const walk = Effect.fnUntraced(function* (attempt: Attempt, request: CallRequest) {
        if (request.fault !== undefined) return yield* refuse(attempt, faulty(attempt.tool, request.fault))
        const judged = yield* Effect.exit(prepare(attempt, { counted: true }))
        if (Exit.isFailure(judged)) {
          const refusal = Failure.squash(judged.cause)
          return yield* isRefusal(refusal) ? refuse(attempt, refusal) : Effect.failCause(judged.cause)
        }
        const { found, mustAsk } = judged.value
        if (mustAsk && (yield* Road.ask(ask.approvals, found.tool, attempt)).state === "waiting") {
          const isOver = yield* execute.endPaused(attempt)
          return yield* stay(isOver ? yield* listeners.now(attempt.id) : attempt.asked!, request)
        }
        // Paid in the transaction that records the call: a duplicate, whose key or place is taken, pays nothing.
        if (found.priceMicros !== undefined) {
          const paid: Effect.Effect<CallRow, CallExists | ToolAuthorizationError | TooManyRequests | Ended> =
            found.effects === "store"
              ? execute.executeInside(attempt, pay(attempt))
              : execute.recordThenExecute(attempt, request.wait ?? 0, pay(attempt))
          return yield* stay(
            yield* Effect.catchTag(paid, "ToolAuthorizationError", (refusal) => refuse(attempt, refusal)),
            request,
          )
        }
        switch (found.effects) {
          case "none":
            return yield* stay(
              yield* Effect.tap(execute.executeThenRecord(attempt), () => access.unlessEnded(attempt.caller)),
              request,
            )
          case "store":
            return yield* execute.executeInside(attempt)
          case "outside": {
            const now = yield* execute.recordThenExecute(attempt, request.wait ?? 0)
            // A call that began and now waits may be answered soon, so stay with it; a call that still runs has used up
            // its wait.
            return now.state === "waiting" ? yield* stay(now, request) : now
          }
        }
      })

      /** Of several calls with the same key, or at the same place of a run, the first is made; the others return it. */
      const walkOnce = Effect.fnUntraced(function* (request: CallRequest, attempt: Attempt) {
        const { digest, principal } = attempt
        const { key, run } = request
        const known = key === undefined ? undefined : yield* record.byKey(principal, key)
        if (known !== undefined) return yield* again(known, digest, request)
        return yield* Effect.catchTag(walk(attempt, request), "CallExists", () => {
          const first =
            key !== undefined
              ? record.byKey(principal, key)
              : run !== undefined
                ? record.byPlace(run.id, run.step, run.place)
                : Effect.succeed(undefined)
          return Effect.flatMap(first, (row) =>
            row === undefined ? Effect.die(new Error("A call that exists is not found")) : again(row, digest, request),
          )
        })
      })

      // wall clock: the moment is stored with the call.
      const begun = () => ({ now: clock.currentTimeMillisUnsafe(), began: monotonicOf(clock) })

      const placeOf = makePlaces()

      const callBy = Effect.fnUntraced(function* (given: CallRequest, caller: Caller["Service"], cause: Cause) {
        // Calls that a program makes during its turn belong to its run.
        const place = given.run === undefined ? placeOf(caller) : undefined
        const request = { ...given, ...place, wait: waitOf(caller, given.wait) }
        const space = (yield* spaceOf(request, caller)) ?? null
        const isOnce = request.key !== undefined || request.run !== undefined
        const digest = isOnce ? digestOf([request.tool, textOf(request.input), space ?? undefined]) : ""
        const attempt = begin(request, caller, cause, { space, digest, ...begun() })
        return yield* isOnce
          ? walkOnce(request, attempt)
          : Effect.catchTag(walk(attempt, request), "CallExists", Effect.die)
      })
      const giveUp: Calls["Service"]["giveUp"] = (id, { principal }) =>
        Effect.ignore(endings.cancel(id, ownViewer(principal), "The client cancelled it"))
      /** One rule for every tool: giving up the request gives up its call. */
      const unlessGivenUp = <A, E, R>(
        id: string,
        by: Caller["Service"],
        isGivenUp: () => boolean,
        waiting: Effect.Effect<A, E, R>,
      ) => Effect.onInterrupt(waiting, () => (isGivenUp() ? giveUp(id, by) : Effect.void))

      // Without a span: a span would cost as much as the walk.
      const call: Calls["Service"]["call"] = (request) =>
        Effect.withFiber((fiber) => {
          const caller = Context.getUnsafe(fiber.context, Caller)
          const cause = causeOr(fiber.getRef(Correlation))
          const { isGivenUp } = request
          if (isGivenUp === undefined) return Effect.flatMap(callBy(request, caller, cause), noted)
          // Chosen here, because the request may be given up before the call has a row.
          const id = request.id ?? newId<CallId>("call")
          const made = Effect.flatMap(callBy({ ...request, id }, caller, cause), noted)
          return unlessGivenUp(id, caller, isGivenUp, made)
        })

      const preview: Calls["Service"]["preview"] = Effect.fn("Calls.preview")(function* (request) {
        const caller = yield* Caller
        const space = (yield* spaceOf(request, caller)) ?? null
        const about = { space, digest: "", ...begun() }
        const attempt = begin(request, caller, yield* currentCause, about)
        const { found, mustAsk } = yield* prepare(attempt, { counted: true }).pipe(
          // A dry run leaves no row, so its refusal is recorded as any other denial.
          Effect.tapErrorTag(["ToolAuthorizationError", "ToolNotFoundError"], () => {
            const { rule, tool } = attempt
            return recordDenial(
              new Forbidden({ action: "execute", resource: `tools/${tool}`, rule: rule ?? "there is no such tool" }),
            )
          }),
        )
        const standing = mustAsk ? yield* ask.standing(found, attempt) : undefined
        const asks = mustAsk && standing === undefined
        return new CallPreview({
          dryRun: true,
          tool: attempt.tool,
          input: attempt.input,
          verdict: asks ? "ask" : "allow",
          rule: standing === undefined ? (attempt.rule ?? "") : `approval:${standing.id}`,
          asks,
          sends: found.preview?.(attempt.input) ?? null,
        })
      })

      const get: Calls["Service"]["get"] = Effect.fn("Calls.get")(function* (id, { all, principal }) {
        const row = yield* record.byId(id)
        if (row === undefined || (!all && row.principal !== principal.id))
          return yield* new Missing({ noun: "call", ref: id })
        return yield* noted(row)
      })

      const list: Calls["Service"]["list"] = Effect.fn("Calls.list")(function* ({ all, principal }, query) {
        const { after, limit } = pageFrom(query)
        const newest = query.order === "newest"
        const where = [newest ? (after === "" ? sql`1 = 1` : sql`id < ${after}`) : sql`id > ${after}`]
        if (!all) where.push(sql`principal = ${principal.id}`)
        if (query.state !== undefined) where.push(sql`state = ${query.state}`)
        if (query.tool !== undefined) where.push(sql`tool = ${query.tool}`)
        const rows = yield* Effect.orDie(
          sql<CallRow>`SELECT * FROM calls WHERE ${sql.and(where)}
            ORDER BY id ${newest ? sql`DESC` : sql``} LIMIT ${limit + 1}`,
        )
        return pageOf(
          rows,
          limit,
          (row) => row,
          (row) => row.id,
        )
      })

      const hear: Calls["Service"]["hear"] = (id, by, answers, { isGivenUp, ...options }) => {
        const heard = Effect.flatMap(endings.hear(id, by, answers, options), noted)
        return isGivenUp === undefined ? heard : unlessGivenUp(id, by, isGivenUp, heard)
      }

      return Calls.of({ call, preview, get, list, settled, signedBy, ...endings, hear, giveUp })
    }),
  )
}

/** For a call that a model asked for and that cannot be made. */
const faulty = (tool: string, message: string): CallRefusal =>
  new ToolValidationError({
    message,
    toolName: tool,
    parameter: "input",
    expected: "a JSON object",
    received: "something else",
  })

/**
 * Whether the caller is told that there is no such tool: one it does not have looks the same whether it exists or not
 * (X-30). A pause is no secret to those who may use the tool.
 */
export const isHidden = (
  refusal: { readonly _tag: string; readonly rule?: string | undefined },
  isListed: boolean,
): boolean =>
  refusal._tag === "ToolNotFoundError" ||
  (refusal._tag === "ToolAuthorizationError" && !isListed && !isPause(refusal.rule))

const isRefusal = (error: unknown): error is CallRefusal =>
  error instanceof ToolNotFoundError || error instanceof ToolAuthorizationError || error instanceof ToolValidationError

/** The refusal of a call, as it was first returned. */
const refusalFrom = (row: CallRow): CallRefusal => {
  const { tag, ...fields } = JSON.parse(row.error!) as { readonly tag: string }
  const given = fields as never
  if (tag === "ToolNotFoundError") return new ToolNotFoundError(given)
  return tag === "ToolValidationError" ? new ToolValidationError(given) : new ToolAuthorizationError(given)
}

/** An input nested too deep is refused, and the refusal is recorded without it. */
const textOf = (input: Attempt["input"]): string => (isTooDeep(input) ? "{}" : JSON.stringify(input))
