/** How a call that waits goes on or ends: by a decision, a result from outside, the clock, or somebody who stops it. */
import {
  BadInput,
  type CallId,
  type CallResult,
  type CorrelationId,
  Forbidden,
  Missing,
  type Principal,
  type SpaceId,
  WrongState,
} from "@stoa/contract"
import { type Call as Begun, checkValue, Road, saidOf } from "@stoa/tools"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { Tokens } from "../../access/identity/Tokens.ts"
import { type Bound, Decisions } from "../../decisions/Decisions.ts"
import { causedBy } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Upstreams } from "../../upstreams/Upstreams.ts"
import { causeOf, makeAnswering, storedCall } from "./answering.ts"
import { Catalogue, everything } from "../catalogue/Catalogue.ts"
import { makeOwnerOf } from "../hosts/rows.ts"
import { isSettled } from "../road/lifecycle.ts"
import { unseen } from "../kinds/Kind.ts"
import { type Ending, errorOf, type makeRecord } from "../road/record.ts"
import type { CallRow } from "../road/rows.ts"
import { type makeRunning, measure, unknownOutcome } from "../road/running.ts"
import { makeWalk, reachedNothing } from "../road/walk.ts"
import type { makeWatch } from "./watch.ts"

/** Said of a call whose server went away with a question open. */
const cutOff = "Its server went away while it waited for an answer. Whether it had an effect is not known"

const refused = (message: string): Ending => ({ step: "refuse", error: { tag: "ToolAuthorizationError", message } })

export const makeReturning = Effect.fnUntraced(function* (
  record: Effect.Success<typeof makeRecord>,
  running: Effect.Success<ReturnType<typeof makeRunning>>,
  watch: ReturnType<typeof makeWatch>,
) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const decisions = yield* Decisions
  const tokens = yield* Tokens
  const catalogue = yield* Catalogue
  const walk = yield* makeWalk
  const ownerOf = yield* makeOwnerOf
  const upstreams = yield* Upstreams

  const settle = Effect.fnUntraced(function* (id: string, ending: Ending) {
    const row = yield* journal.transact(record.settle(id, ending, unseen()))
    if (row !== undefined) yield* measure(row)
    yield* watch.tell(row)
    yield* answering.over(id)
    return row
  })
  const answering: Effect.Success<ReturnType<typeof makeAnswering>> = yield* makeAnswering(
    record,
    running,
    watch,
    settle,
  )

  const run = Effect.runForkWith(yield* Effect.context<never>())
  /** Ends a call that waits, and takes back what was asked: one without the other would leave a question about nothing. */
  const abandon = Effect.fnUntraced(function* (id: string, ending: Exclude<Ending, { readonly step: "finish" }>) {
    const row = yield* journal.transact(
      Effect.gen(function* () {
        const settled = yield* record.settle(id, ending, unseen())
        if (settled !== undefined && settled.onId !== null) yield* decisions.cancel(settled.onId, ending.error.message)
        return settled
      }),
    )
    if (row !== undefined) yield* measure(row)
    yield* watch.tell(row)
    yield* answering.over(id)
  })
  upstreams.onLost(
    (id) => void run(abandon(id, { step: "fail", error: { tag: "ToolExecutionError", message: cutOff } })),
  )

  /** An approved call runs the stored call: found, judged and validated again, as things stand now. */
  const goOn = Effect.fnUntraced(function* (row: CallRow, bound: Bound) {
    const caller = yield* Effect.option(tokens.again(row.principal, row.context))
    if (caller._tag === "None") return yield* settle(row.id, refused("Whoever made this call has left the house"))
    const stored = storedCall(row)
    const edited = bound.value === null ? stored.arguments : (JSON.parse(bound.value) as Begun["arguments"])
    const reached = reachedNothing(row.tool)
    const options = { face: everything, hasSpace: row.space !== null, counted: false }
    const walked = yield* Effect.exit(walk(caller.value, { ...stored, arguments: edited }, options, reached))
    if (Exit.isFailure(walked))
      return yield* settle(row.id, { step: "refuse", error: errorOf(Cause.squash(walked.cause)) })
    const { listed } = walked.value
    // What was approved is this tool as it was shown, with these arguments, for this principal: anything else is not.
    if (listed.tool.fingerprint !== row.fingerprint || Road.digestOfCall(listed.tool, stored) !== bound.digest)
      return yield* settle(
        row.id,
        refused(
          `"${row.tool}" has changed since it was approved, and did not run. Call it again to have the new one approved`,
        ),
      )
    const input = bound.value === null ? undefined : bound.value
    const started = yield* journal.transact(record.start(row.id, running.me, input))
    if (started === undefined) return undefined
    yield* running.launch(row.id, walked.value, caller.value, row.space as SpaceId | null)
    return undefined
  })

  /** A decision was closed: the call it was asked for goes on or ends. Bears repeats. */
  const resume = Effect.fn("Calls.resume")(function* (id: CallId, decision: string) {
    const row = yield* record.byId(id)
    const bound = yield* decisions.bound(decision)
    if (row === undefined || bound === undefined || row.state !== "waiting" || row.onId !== decision) return
    yield* causedBy(causeOf(row), outcome(row, bound))
  })

  const outcome = (row: CallRow, bound: Bound): Effect.Effect<unknown> => {
    if (bound.kind === "approval" && bound.verdict === "approve") return goOn(row, bound)
    if (bound.kind === "elicitation") return answering.decided(row, bound)
    if (bound.verdict === "submit") return settle(row.id, { step: "finish", output: JSON.parse(bound.value ?? "null") })
    const said = bound.note === null ? "" : `: ${bound.note}`
    if (bound.state === "canceled")
      return settle(row.id, {
        step: "cancel",
        error: { tag: "Canceled", message: "The question it waited for was withdrawn" },
      })
    if (bound.kind === "approval")
      return settle(
        row.id,
        refused(
          bound.state === "expired"
            ? `"${row.tool}" needs approval, and nobody answered in time, which is a no`
            : `"${row.tool}" needs approval and was not approved${said}`,
        ),
      )
    return bound.state === "expired"
      ? settle(row.id, {
          step: "expire",
          error: { tag: "ToolTimeoutError", message: `Nobody answered "${row.tool}" in time` },
        })
      : settle(row.id, {
          step: "fail",
          error: { tag: "ToolExecutionError", message: `"${row.tool}" was declined${said}` },
        })
  }

  const cancel = Effect.fn("Calls.cancel")(function* (id: string, reason: string) {
    if ((yield* record.byId(id)) === undefined) return yield* new Missing({ noun: "call", ref: id })
    const row = yield* journal.transact(
      Effect.gen(function* () {
        const settled = yield* record.settle(
          id,
          { step: "cancel", error: { tag: "Canceled", message: reason } },
          unseen(),
        )
        if (settled !== undefined && settled.onId !== null) yield* decisions.cancel(settled.onId, reason)
        return settled
      }),
    )
    if (row === undefined)
      return yield* new WrongState({ detail: `This call is ${(yield* watch.now(id)).state} already, and stays so.` })
    yield* watch.tell(row)
    yield* running.interrupt(id)
    yield* answering.over(id)
    return row
    // Whoever hangs up meanwhile has canceled it all the same, and its handler hears of it.
  }, Effect.uninterruptible)

  const fitsOutput = Effect.fnUntraced(function* (row: CallRow, output: unknown) {
    const caller = yield* Effect.option(tokens.again(row.principal, row.context))
    if (caller._tag === "None") return
    const listed = (yield* catalogue.view(caller.value, everything)).get(row.tool)
    const schema = listed?.tool.definition.outputSchema
    const fault = schema === undefined ? undefined : yield* checkValue(schema, output)
    if (fault !== undefined)
      return yield* new BadInput({
        issues: [
          {
            path: fault.path === "" ? "output" : `output.${fault.path}`,
            message: saidOf(fault),
          },
        ],
      })
  })

  /** A function is answered for by whoever runs its process, and by nobody else. */
  const hosts = (row: CallRow, by: Principal): Effect.Effect<boolean> =>
    row.onKind !== "callback" || row.onId === null
      ? Effect.succeed(false)
      : Effect.map(ownerOf(row.onId), (owner) => owner === by.id)

  /** Whether somebody may learn of this call at all: its maker, its host, and whoever sees the form it waits for. */
  const knows = (row: CallRow, by: Principal): Effect.Effect<boolean> => {
    if (row.principal === by.id) return Effect.succeed(true)
    return row.onKind === "client" && row.onId !== null ? decisions.seenBy(row.onId, by) : hosts(row, by)
  }

  /** A result from outside. A form is answered by it: the two are one act. */
  const result = Effect.fn("Calls.result")(function* (id: string, by: Principal | null, given: CallResult) {
    const row = yield* record.byId(id)
    if (row === undefined || (by !== null && !(yield* knows(row, by))))
      return yield* new Missing({ noun: "call", ref: id })
    if (row.state !== "waiting" || (row.onKind !== "client" && row.onKind !== "callback"))
      return yield* new WrongState({
        detail: isSettled(row.state)
          ? `This call is ${row.state} already: a result is taken once.`
          : `This call does not wait for a result (it is ${row.state}${row.onKind === null ? "" : `, on a ${row.onKind}`}).`,
      })
    if (row.onKind === "callback" && by !== null && !(yield* hosts(row, by)))
      return yield* new Forbidden({
        action: "submit",
        resource: `calls/${id}`,
        rule: row.onId === id ? "signed callbacks only" : "its host only",
      })
    const failure =
      given.error === undefined ? undefined : typeof given.error === "string" ? given.error : given.error.message
    if (failure === undefined) yield* fitsOutput(row, given.output)
    const ending: Ending =
      failure === undefined
        ? { step: "finish", output: given.output }
        : { step: "fail", error: { tag: "ToolExecutionError", message: failure } }
    const settled = yield* journal.transact(
      Effect.gen(function* () {
        if (row.onKind === "client") {
          if (by === null) return yield* new Missing({ noun: "call", ref: id })
          yield* decisions.answer(
            row.onId!,
            by,
            failure === undefined
              ? { verdict: "submit", value: given.output ?? null }
              : { verdict: "deny", note: failure.slice(0, 2000) },
          )
        }
        const done = yield* record.settle(id, ending, unseen())
        return done ?? (yield* new WrongState({ detail: "This call was settled meanwhile: a result is taken once." }))
      }),
    )
    yield* measure(settled)
    yield* watch.tell(settled)
    return settled
  })

  /** The time for what it waits for is over. */
  const expire = Effect.fn("Calls.expire")(function* (id: string) {
    const row = yield* record.byId(id)
    if (row?.state !== "waiting" || (row.onKind !== "callback" && !(yield* answering.wantsClient(row.id)))) return
    yield* abandon(id, {
      step: "expire",
      error: { tag: "ToolTimeoutError", message: `No result of "${row.tool}" came in time` },
    })
  })

  /** Ends what is under way and was paused: one principal's, one tool's, one server's, or everything. */
  const halt = Effect.fn("Calls.halt")(function* (subject: string) {
    const [noun, name] = [subject.slice(0, subject.indexOf("/")), subject.slice(subject.indexOf("/") + 1)]
    const which =
      subject === "everything"
        ? sql`1 = 1`
        : noun === "agents"
          ? sql`principal = ${name}`
          : noun === "tools"
            ? sql`lower(tool) = ${name}`
            : sql`lower(tool) LIKE ${`${name.replaceAll("_", "\\_").replaceAll("%", "\\%")}/%`} ESCAPE ${"\\"}`
    const rows = yield* Effect.orDie(
      sql<{ id: string }>`SELECT id FROM calls WHERE state IN ('received', 'waiting', 'running') AND ${which}`,
    )
    for (const { id } of rows) yield* Effect.ignore(cancel(id, `Stopped: ${subject} was paused`))
  })

  /**
   * After a restart: what ran when the process died is failed, outcome unknown, and never run again. What its server has
   * made a task of is looked after again.
   */
  const recover = Effect.gen(function* () {
    const cut = yield* Effect.orDie(
      sql<CallRow>`SELECT * FROM calls WHERE state IN ('received', 'running') AND (owner IS NULL OR owner <> ${running.me})`,
    )
    const rows: Array<CallRow> = []
    for (const row of cut) if (row.state !== "running" || !(yield* answering.pickUp(row))) rows.push(row)
    // Those that were asked something on a stream which that process held are as lost.
    for (const id of yield* answering.orphans(running.me)) {
      const row = yield* watch.now(id)
      rows.push(row)
    }
    for (const row of rows)
      yield* causedBy(
        { correlationId: row.correlationId as CorrelationId, actor: row.principal, provenance: "house" },
        abandon(row.id, { step: "fail", error: unknownOutcome }),
      )
    yield* answering.unheeded
    return rows.length
  }).pipe(Effect.withSpan("Calls.recover"))

  return { resume, cancel, result, expire, halt, recover, hear: answering.hear, asks: answering.asks }
})
