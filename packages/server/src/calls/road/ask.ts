/** What a call asks of people and of the outside, written in the transaction that makes it wait. */
import type { WaitsOn } from "@stoa/contract"
import { type Decisions as RoadDecisions, type Question, Road } from "@stoa/tools"
import { DateTime, Effect, type Schema } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { Approvals } from "../../decisions/Approvals.ts"
import { Decisions } from "../../decisions/Decisions.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { Asked } from "../../upstreams/Asked.ts"
import type { Listed } from "../catalogue/Traits.ts"
import { formOf, forms, makeQuestions } from "../waiting/questions.ts"
import { type Attempt, rowOf } from "./attempt.ts"
import type { Waits } from "./Handler.ts"
import type { Record, Taken } from "./record.ts"

/** An approval that nobody gives is a no after a day. */
const approvalTime = 24 * 3600
/** What a server asks its caller is good for an hour; a form that holds nothing, for as long as an approval. */
const questionTime = 3600
/** The purpose of the timers that end a wait. */
export const waitPurpose = "call"

export const makeAsk = Effect.fnUntraced(function* (record: Record) {
  const decisions = yield* Decisions
  const approvals = yield* Approvals
  const journal = yield* Journal
  const principals = yield* Principals
  const timers = yield* Timers
  const questions = yield* makeQuestions

  /** What an approval or a form is asked with. */
  const about = ({ caller, id, input, space }: Attempt, { tool }: Listed) => ({
    askedBy: caller.principal.id,
    call: { id, tool: tool.definition.name, input: input as Schema.Json, riskLevel: tool.definition.riskLevel },
    fingerprint: tool.fingerprint,
    policy: caller.epoch,
    space,
  })

  const approverOf = Effect.fnUntraced(function* ({ approval }: Listed, { principal }: Attempt) {
    if (approval?.approver === undefined) return {}
    const found = yield* Effect.option(principals.get(approval.approver))
    // A name that is nobody's widens nothing: as where callers are named themselves, the admins answer.
    return { approver: found._tag === "Some" ? found.value.id : principal }
  })

  /** An approval from now on that stands for this tool and caller. Two people are two people each time. */
  const standing = (found: Listed, { principal }: Attempt) =>
    found.approval?.people === 2
      ? Effect.succeed(undefined)
      : approvals.standing(principal, found.tool.definition.name, found.tool.fingerprint)

  const askPeople = Effect.fnUntraced(function* (attempt: Attempt, found: Listed, { digest }: Question) {
    const { definition } = found.tool
    const id = yield* decisions.ask({
      ...about(attempt, found),
      ...(yield* approverOf(found, attempt)),
      digest,
      kind: "approval",
      question: `${attempt.caller.principal.name} wants to run ${definition.name} (${definition.riskLevel} risk).`,
      ...(definition.inputSchema === undefined ? {} : { schema: definition.inputSchema }),
      ...(found.approval?.people === undefined ? {} : { people: found.approval.people }),
      milliseconds: (found.approval?.expiresInSeconds ?? approvalTime) * 1000,
    })
    yield* record.openWaiting(rowOf(attempt, JSON.stringify(attempt.input)), { kind: "decision", id })
    return id
  })

  /** Where calls ask for approval: it stands already, or the call is written down with its question, and waits. */
  const approvalsOf: RoadDecisions<Attempt, Taken> = {
    ask: Effect.fnUntraced(function* (question: Question, attempt: Attempt) {
      const found = attempt.found!
      const known = yield* standing(found, attempt)
      if (known !== undefined) {
        attempt.rule = `approval:${known.id}`
        return { state: "approved", decision: known.id }
      }
      return { state: "waiting", decision: yield* journal.transact(askPeople(attempt, found, question)) }
    }),
  }

  /** What a call waits for that is answered from outside: a form in its space, a callback or a run by a time. */
  const awaits = Effect.fnUntraced(function* (
    waits: Waits,
    attempt: Attempt,
  ): Effect.fn.Return<WaitsOn, never, Transaction> {
    const found = attempt.found!
    if (waits.kind !== "client") {
      const dueAt = DateTime.add(yield* DateTime.now, { milliseconds: waits.milliseconds })
      yield* timers.set({ purpose: waitPurpose, key: attempt.id, dueAt, payload: { call: attempt.id } })
      return { kind: waits.kind, id: waits.host ?? attempt.id }
    }
    const { definition } = found.tool
    const id = yield* decisions.ask({
      ...about(attempt, found),
      ...(yield* approverOf(found, attempt)),
      digest: Road.digestOfCall(found.tool, attempt),
      kind: "form",
      fingerprint: null,
      question: definition.description,
      ...(definition.outputSchema === undefined ? {} : { schema: definition.outputSchema }),
      ...(definition.inputSchema === undefined ? {} : { form: definition.inputSchema }),
      ...(definition.customUI === undefined ? {} : { customUI: definition.customUI }),
      milliseconds: waits.milliseconds,
    })
    return { kind: "client", id }
  })

  /** What a server wants to know: people see its forms; the calling client is asked for whatever it can answer. */
  const putQuestions = Effect.fnUntraced(function* (
    asked: Asked,
    attempt: Attempt,
    holder: string,
  ): Effect.fn.Return<WaitsOn, never, Transaction> {
    const { id } = attempt
    const client = attempt.client?.capabilities ?? null
    const seconds = asked.held || client !== null ? questionTime : approvalTime
    const form = formOf(asked.questions)
    const decision =
      form === undefined
        ? null
        : yield* decisions.ask({
            ...about(attempt, attempt.found!),
            digest: Road.digestOfCall(attempt.found!.tool, attempt),
            kind: "elicitation",
            fingerprint: null,
            ...form,
            milliseconds: seconds * 1000,
          })
    yield* questions.put(id, asked, { decision, client, holder: asked.held ? holder : null })
    // What only the client can answer has no decision to expire with.
    if (forms(asked.questions).length < Object.keys(asked.questions).length) {
      const dueAt = DateTime.add(yield* DateTime.now, { seconds: questionTime })
      yield* timers.set({ purpose: waitPurpose, key: id, dueAt, payload: { call: id } })
    }
    return decision === null ? { kind: "client", id } : { kind: "decision", id: decision }
  })

  /** Nothing is asked: the server goes on by itself, and this is what it is found again with. */
  const keep = ({ client, id }: Attempt, state: Schema.Json) =>
    questions.put(id, new Asked({}, state, false, true), {
      decision: null,
      client: client?.capabilities ?? null,
      holder: null,
    })

  return {
    approvals: approvalsOf,
    standing,
    awaits,
    putQuestions,
    keep,
    forget: questions.forget,
    withdraw: decisions.cancel,
  }
})
