/** How a waiting call continues or ends: by a decision, a result from outside, the clock, or a cancel. */
import {
  BadInput,
  type Caller,
  type CallId,
  type CallResult,
  Missing,
  type ResultSignature,
  WrongState,
} from "@stoa/contract"
import { checkValue, faultsIn, faultText, Road } from "@stoa/tools"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { branchOf } from "../../access/identity/Agents.ts"
import { Principals } from "../../access/identity/Principals.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import { type BoundAnswer, Decisions } from "../../decisions/Decisions.ts"
import { Holder, isGone } from "../../store/leases/Holder.ts"
import type { BasicViewer } from "../../access/rights/Viewer.ts"
import { causedBy } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Servers } from "../../servers/Servers.ts"
import { makeCallbackRedactor } from "./Callbacks.ts"
import { Catalogue, everything } from "../catalogue/Catalogue.ts"
import { makeMayCall } from "./ownCall.ts"
import { makeResultRights } from "../hosts/resultRights.ts"
import { makeApprovalRule } from "../road/approvalRule.ts"
import { causeOf, credentialOf } from "../road/attempt.ts"
import { type makeExecute, measure } from "../road/execute.ts"
import { noTraces } from "../road/Handler.ts"
import { isSettled, open } from "../road/record/lifecycle.ts"
import { type CallEnd, unknownOutcome, type CallRecorder } from "../road/record/record.ts"
import type { Prepare } from "../road/prepare.ts"
import type { CallRow } from "../road/record/rows.ts"
import { makeAnswers } from "./answers.ts"
import { makeWhenDialled } from "./dialled.ts"
import type { makeListeners } from "./listeners.ts"
import { makeStoredAttempt, sinceAsked } from "./storedAttempt.ts"
import { inState } from "../../store/database/dialect/States.ts"

/** The error of a call whose server disconnected while a question was open. */
const cutOff = "Its server went away while it waited for an answer. Whether it had an effect is not known"

const refused = (message: string, rule?: string): CallEnd => ({
  step: "refuse",
  error: { tag: "ToolAuthorizationError", message },
  ...(rule === undefined ? {} : { rule }),
})

export const makeEndings = Effect.fnUntraced(function* (
  record: CallRecorder,
  { pay, prepare }: Prepare,
  execute: Effect.Success<ReturnType<typeof makeExecute>>,
  listeners: ReturnType<typeof makeListeners>,
  isProven: (row: CallRow, by: ResultSignature) => boolean,
) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const decisions = yield* Decisions
  decisions.learn(yield* makeMayCall)
  const tokens = yield* Tokens
  const principals = yield* Principals
  const storedAttempt = yield* makeStoredAttempt
  const approval = yield* makeApprovalRule
  const catalogue = yield* Catalogue
  const resultRights = yield* makeResultRights
  const redactorOf = yield* makeCallbackRedactor
  const servers = yield* Servers
  const holder = yield* Holder
  const me = holder.id
  const dialled = yield* makeWhenDialled
  const answers = yield* makeAnswers(record, prepare, execute, listeners, dialled)
  const { settle } = answers

  const run = Effect.runForkWith(yield* Effect.context<never>())
  /**
   * Ends an open call and closes its question, together: otherwise a question about nothing would remain. `owner` is as
   * in `settle`.
   */
  const abandon = Effect.fnUntraced(function* (
    id: string,
    ending: Exclude<CallEnd, { readonly step: "finish" }>,
    owner?: string | null,
  ) {
    const row = yield* journal.transact(
      Effect.gen(function* () {
        const settled = yield* record.settle(id, ending, noTraces(), owner)
        if (settled !== undefined && settled.onId !== null) yield* decisions.cancel(settled.onId, ending.error.message)
        return settled
      }),
    )
    if (row === undefined) return
    yield* measure(row)
    yield* listeners.tell(row)
    yield* answers.over(id)
  })
  servers.onLost((id) => void run(abandon(id, { step: "fail", error: { tag: "ToolExecutionError", message: cutOff } })))

  /** Runs an approved call as it was stored: found, judged and validated again, by the present state. */
  const runApproved = Effect.fnUntraced(function* (row: CallRow, bound: BoundAnswer) {
    const found = yield* Effect.result(storedAttempt(row, {}))
    if (found._tag === "Failure") return yield* settle(row.id, { step: "refuse", error: found.failure })
    const attempt = found.success
    const asked = { ...attempt }
    if (bound.value !== null) attempt.input = JSON.parse(bound.value) as typeof attempt.input
    const prepared = yield* Effect.exit(prepare(attempt, { counted: false }))
    if (Exit.isFailure(prepared))
      return yield* settle(row.id, { step: "refuse", error: sinceAsked(row.tool, Cause.squash(prepared.cause)) })
    const { effects, priceMicros, tool } = prepared.value.found
    // The approval covers this definition of the tool, with these arguments, for this principal, and nothing else.
    if (tool.fingerprint !== row.fingerprint || Road.digestOfCall(tool, asked) !== bound.digest)
      return yield* settle(
        row.id,
        refused(
          `"${row.tool}" has changed since it was approved, and did not run. Call it again to have the new one approved`,
        ),
      )
    if (((yield* approval.of(prepared.value.found, attempt.caller)).people ?? 1) > bound.people)
      return yield* settle(row.id, refused("Since it was asked, more people must approve it. Make the call again"))
    const input = bound.value ?? undefined
    // Start and payment are one transaction: if it is resumed again, it has started already and is not paid twice.
    const starting = Effect.gen(function* () {
      const started = yield* record.start(row.id, me, input)
      if (started !== undefined) yield* pay(attempt)
      return started
    })
    const refuse = (error: unknown) => settle(row.id, { step: "refuse", error: Road.failureOf(error) })
    if (effects === "store") return yield* Effect.catch(execute.continueInside(attempt, starting), refuse)
    // Neither paid for nor shown: one statement is enough.
    const isPlain = priceMicros === undefined && row.message === null
    const begun = yield* Effect.result(isPlain ? record.startHidden(row.id, me, input) : journal.transact(starting))
    if (begun._tag === "Failure") return yield* refuse(begun.failure)
    if (begun.success !== undefined) yield* execute.launch(attempt, begun.success)
    return undefined
  })

  /** A decision was closed: its call continues or ends. Idempotent. */
  const resume = Effect.fn("Calls.resume")(function* (id: CallId, decision: string) {
    const [row, bound] = yield* Effect.all([record.byId(id), decisions.bound(decision)], { concurrency: 2 })
    if (row === undefined || bound === undefined || row.state !== "waiting" || row.onId !== decision) return
    yield* causedBy(causeOf(row), outcome(row, bound))
  })

  /**
   * An approved call of a server that has not been dialled yet goes on as soon as it has been. Until then this process
   * owns it: if the house stops, the next one resumes it (`recover`).
   */
  const approved = Effect.fnUntraced(function* (row: CallRow, bound: BoundAnswer) {
    if (!dialled.isExpected(row.tool)) return yield* runApproved(row, bound)
    yield* record.own(row.id, me)
    return yield* dialled.whenDialled(row, runApproved(row, bound))
  })

  /** Who refused: an auditor needs the person, not the role of the caller. */
  const nameOf = (id: string | null) =>
    Effect.map(Effect.option(principals.get(id ?? "")), (found) =>
      found._tag === "Some" ? found.value.name : "nobody",
    )

  const outcome = (row: CallRow, bound: BoundAnswer): Effect.Effect<unknown> => {
    if (bound.kind === "approval" && bound.verdict === "approve") return approved(row, bound)
    if (bound.kind === "elicitation") return answers.decided(row, bound)
    if (bound.verdict === "submit") return settle(row.id, { step: "finish", output: JSON.parse(bound.value ?? "null") })
    const said = bound.note === null ? "" : `: ${bound.note}`
    if (bound.state === "canceled")
      return settle(row.id, {
        step: "cancel",
        error: { tag: "Canceled", message: "The question it waited for was withdrawn" },
      })
    if (bound.kind === "approval")
      return bound.state === "expired"
        ? settle(
            row.id,
            refused(`"${row.tool}" needs approval, and nobody answered in time, so it was refused`, "nobody answered"),
          )
        : Effect.flatMap(nameOf(bound.answeredBy), (name) =>
            settle(
              row.id,
              refused(`"${row.tool}" needs approval and was not approved${said}`, `denied by ${name} in ${bound.id}`),
            ),
          )
    return bound.state === "expired"
      ? settle(row.id, {
          step: "expire",
          error: { tag: "ToolTimeoutError", message: `Nobody answered "${row.tool}" in time` },
        })
      : Effect.flatMap(nameOf(bound.answeredBy), (name) =>
          settle(row.id, {
            step: "fail",
            error: { tag: "ToolExecutionError", message: `"${row.tool}" was declined by ${name}${said}` },
            rule: `declined by ${name} in ${bound.id}`,
          }),
        )
  }

  const cancel = Effect.fnUntraced(function* (id: string, { all, principal }: BasicViewer, reason: string) {
    const known = yield* record.byId(id)
    if (known === undefined || (!all && known.principal !== principal.id))
      return yield* new Missing({ noun: "call", ref: id })
    return yield* stop(id, reason)
  })

  const stop = Effect.fn("Calls.cancel")(function* (id: string, reason: string) {
    const row = yield* journal.transact(
      Effect.gen(function* () {
        const settled = yield* record.settle(
          id,
          { step: "cancel", error: { tag: "Canceled", message: reason } },
          noTraces(),
        )
        if (settled !== undefined && settled.onId !== null) yield* decisions.cancel(settled.onId, reason)
        return settled
      }),
    )
    if (row === undefined)
      return yield* new WrongState({
        detail: `This call is already ${(yield* listeners.now(id)).state}.`,
      })
    yield* listeners.tell(row)
    yield* execute.interrupt(id)
    yield* answers.over(id)
    return row
    // Uninterruptible: if the client hangs up meanwhile, the call is canceled all the same, and its handler is
    // interrupted.
  }, Effect.uninterruptible)

  const fitsOutput = Effect.fnUntraced(function* (row: CallRow, output: unknown) {
    const caller = yield* Effect.option(tokens.callerNow(row.principal, row.context, credentialOf(row)))
    if (caller._tag === "None") return
    const listed = (yield* catalogue.view(caller.value, everything)).find(row.tool)
    const schema = listed?.tool.definition.outputSchema
    const fault = schema === undefined ? undefined : yield* checkValue(schema, output)
    if (fault !== undefined)
      return yield* new BadInput({
        issues: faultsIn(fault).map((one) => ({
          path: one.path === "" ? "output" : `output.${one.path}`,
          message: faultText(one),
        })),
      })
  })

  /** Whether a principal may know of this call: its caller, its host, and those who see the form it waits for. */
  const knows = (row: CallRow, by: Caller["Service"]): Effect.Effect<boolean> => {
    if (row.principal === by.principal.id) return Effect.succeed(true)
    return row.onKind === "client" && row.onId !== null
      ? decisions.seenBy(row.onId, by)
      : resultRights.knows(row, by.principal, isSettled(row.state))
  }

  /** A result from outside. If the call waits for a form, the result also answers it, in one transaction. */
  const result = Effect.fn("Calls.result")(function* (
    id: string,
    sender: Caller["Service"] | ResultSignature,
    given: CallResult,
  ) {
    const row = yield* record.byId(id)
    const by = "principal" in sender ? sender : null
    const isKnown = row !== undefined && ("principal" in sender ? yield* knows(row, sender) : isProven(row, sender))
    if (!isKnown) return yield* new Missing({ noun: "call", ref: id })
    if (row.state !== "waiting" || (row.onKind !== "client" && row.onKind !== "callback"))
      return yield* new WrongState({
        detail: isSettled(row.state)
          ? `This call is already ${row.state}: only the first result counts.`
          : `This call does not wait for a result (it is ${row.state}${row.onKind === null ? "" : `, on a ${row.onKind}`}).`,
      })
    // A signature is of the service that the call itself waits for, never of a host.
    if (by === null && row.onId !== id) return yield* new Missing({ noun: "call", ref: id })
    if (row.onKind === "callback" && by !== null) yield* resultRights.require(row, by)
    const failure =
      given.error === undefined ? undefined : typeof given.error === "string" ? given.error : given.error.message
    if (failure === undefined) yield* fitsOutput(row, given.output)
    const ending: CallEnd =
      failure === undefined
        ? { step: "finish", output: given.output }
        : { step: "fail", error: { tag: "ToolExecutionError", message: failure } }
    const traces =
      row.onKind === "callback" && row.onId === id
        ? { ...noTraces(), redactor: yield* redactorOf(row.tool) }
        : noTraces()
    const settled = yield* journal.transact(
      Effect.gen(function* () {
        if (row.onKind === "client" && by !== null) {
          // A call before its decision, as wherever both are written.
          yield* record.hold(id)
          yield* decisions.answer(
            row.onId!,
            by,
            failure === undefined
              ? { verdict: "submit", value: given.output ?? null }
              : { verdict: "deny", note: failure.slice(0, 2000) },
          )
        }
        const done = yield* record.settle(id, ending, traces)
        return (
          done ??
          (yield* new WrongState({
            detail: "This call has been settled in the meantime: only the first result counts.",
          }))
        )
      }),
    )
    yield* measure(settled)
    yield* listeners.tell(settled)
    return settled
  })

  /** The time to wait is over. */
  const expire = Effect.fn("Calls.expire")(function* (id: string) {
    const row = yield* record.byId(id)
    if (
      row?.state !== "waiting" ||
      (row.onKind !== "callback" && row.onKind !== "run" && !(yield* answers.wantsClient(row.id)))
    )
      return
    yield* abandon(id, {
      step: "expire",
      error: { tag: "ToolTimeoutError", message: `No result of "${row.tool}" came in time` },
    })
  })

  /**
   * Ends the open calls that a pause covers: those of one principal and the agents below it, one tool, one server, or
   * all.
   */
  const halt = Effect.fn("Calls.halt")(function* (subject: string) {
    const [noun, name] = [subject.slice(0, subject.indexOf("/")), subject.slice(subject.indexOf("/") + 1)]
    const which =
      subject === "everything"
        ? sql`1 = 1`
        : noun === "agents"
          ? sql`principal IN ${branchOf(sql, name)}`
          : noun === "tools"
            ? sql`lower(tool) = ${name}`
            : sql`lower(tool) LIKE ${`${name.replaceAll("_", "\\_").replaceAll("%", "\\%")}/%`} ESCAPE ${"\\"}`
    const rows = yield* Effect.orDie(sql<{ id: string }>`SELECT id FROM calls WHERE ${inState(sql, open)} AND ${which}`)
    for (const { id } of rows) yield* Effect.ignore(stop(id, `Stopped: ${subject} was paused`))
  })

  /** Ends a waiting call for a room above, such as when a run has ended. */
  const finish = Effect.fnUntraced(function* (id: string, ending: CallEnd) {
    const row = yield* record.settle(id, ending, noTraces())
    // Closes its question: nobody should answer a question about nothing.
    if (row !== undefined && row.onId !== null && ending.step !== "finish")
      yield* decisions.cancel(row.onId, ending.error.message)
    // Listeners are told after the commit.
    if (row !== undefined) yield* Effect.orDie(sql.afterCommit(Effect.andThen(measure(row), listeners.tell(row))))
    return row
  })

  /**
   * Calls that ran in a dead process fail with an unknown outcome and never run again, except those that their server
   * made a task of, which are followed again. Calls of another living process are left alone.
   */
  const recover = Effect.gen(function* () {
    const cut = yield* Effect.orDie(
      sql<CallRow>`SELECT * FROM calls WHERE ${inState(sql, open)} AND state <> 'waiting'
        AND (owner IS NULL OR ${isGone(sql, "owner")})`,
    )
    const rows: Array<CallRow> = []
    for (const row of cut) if (row.state !== "running" || !(yield* answers.takeOver(row))) rows.push(row)
    // Calls with a question on a stream that the dead process held are lost, too.
    for (const id of yield* answers.orphans) rows.push(yield* listeners.now(id))
    for (const row of rows)
      yield* causedBy(
        { ...causeOf(row), provenance: "house" },
        abandon(row.id, { step: "fail", error: unknownOutcome }, row.owner),
      )
    yield* answers.continueAnswered
    const left = yield* Effect.orDie(
      sql<Pick<CallRow, "id" | "onId">>`SELECT id, on_id FROM calls WHERE ${inState(sql, open)}
        AND state = 'waiting' AND on_kind = 'decision' AND owner IS NOT NULL AND ${isGone(sql, "owner")}`,
    )
    for (const { id, onId } of left) yield* resume(id, onId!)
    return rows.length
  }).pipe(Effect.withSpan("Calls.recover"))

  /** Stops what runs here although it was settled elsewhere. */
  const stopSettled = Effect.gen(function* () {
    const mine = execute.running()
    if (mine.length === 0) return
    const over = yield* Effect.orDie(
      sql<{ id: string }>`SELECT id FROM calls WHERE ${sql.in("id", mine)} AND NOT ${inState(sql, open)}`,
    )
    for (const { id } of over) yield* execute.interrupt(id)
  })

  /** If several processes share the database: handle what others did to our calls, and what dead processes left. */
  yield* holder.eachBeat(
    Effect.andThen(
      stopSettled,
      Effect.flatMap(recover, (lost) =>
        lost === 0
          ? Effect.void
          : Effect.logWarning(`${lost} calls were interrupted when their process ended; they are marked failed`),
      ),
    ),
  )

  return { resume, cancel, result, finish, expire, halt, recover, hear: answers.hear, asks: answers.asks }
})
