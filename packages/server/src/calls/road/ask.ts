/** What a call asks of people or of the outside, written in the transaction that makes it wait. */
import { quoted, type TooManyRequests, type WaitsOn } from "@stoa/contract"
import { type Decisions as RoadDecisions, type Question, Road } from "@stoa/tools"
import { DateTime, Effect, type Schema } from "effect"
import { Approvals } from "../../decisions/Approvals.ts"
import { Decisions } from "../../decisions/Decisions.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { InputRequired } from "../../servers/InputRequired.ts"
import { Servers } from "../../servers/Servers.ts"
import { Catalogue } from "../catalogue/Catalogue.ts"
import type { CatalogueTool } from "../catalogue/Traits.ts"
import { noteOf } from "../waiting/notes.ts"
import { formOf, forms, makeQuestions } from "../waiting/questions.ts"
import { makeApprovalRule } from "./approvalRule.ts"
import { type Attempt, resumeJson, rowOf } from "./attempt.ts"
import type { PendingResult } from "./Handler.ts"
import type { CallRecorder, CallExists } from "./record/record.ts"

/** An approval that nobody gives counts as a no after a day. */
const approvalTime = 24 * 3600
/** A server's question to its caller is valid for an hour; a form that holds nothing open, as long as an approval. */
const questionTime = 3600
/** The purpose of the timers that end a wait. */
export const waitPurpose = "call"

export const makeAsk = Effect.fnUntraced(function* (record: CallRecorder) {
  const decisions = yield* Decisions
  const approvals = yield* Approvals
  const journal = yield* Journal
  const approval = yield* makeApprovalRule
  const catalogue = yield* Catalogue
  const timers = yield* Timers
  const questions = yield* makeQuestions
  const { hangUp } = yield* Servers

  /** The content of an approval or a form. */
  const about = ({ caller, id, input, root, space }: Attempt, { pinnedAt, server, tool }: CatalogueTool) => ({
    ...(root === undefined ? {} : { run: root }),
    askedBy: caller.principal,
    call: { id, tool: tool.definition.name, input: input as Schema.Json, riskLevel: tool.definition.riskLevel },
    fingerprint: tool.fingerprint,
    policy: caller.epoch,
    ...(server === undefined || pinnedAt === undefined ? {} : { pinned: { server, since: pinnedAt } }),
    space,
  })

  /** A standing approval for this tool and caller. An older one counts only as far as the tool allows today. */
  const standing = Effect.fnUntraced(function* (found: CatalogueTool, { caller, principal, root }: Attempt) {
    const reach = approval.reachOf(found, yield* approval.of(found, caller))
    const { definition, fingerprint } = found.tool
    return yield* approvals.standing({ principal, tool: definition.name, fingerprint, run: root, reach })
  })

  const askPeople = Effect.fnUntraced(function* (attempt: Attempt, found: CatalogueTool, { digest }: Question) {
    const { definition } = found.tool
    const { caller } = attempt
    const rule = yield* approval.of(found, caller)
    const { id, isAnswerable } = yield* decisions.ask({
      ...about(attempt, found),
      ...(yield* approval.asked(rule)),
      digest,
      kind: "approval",
      rule: approval.whyAsked(found, yield* catalogue.judge(caller, definition.name)),
      question: `${quoted(caller.principal.name)} wants to run ${quoted(definition.name)} (${definition.riskLevel} risk).`,
      ...(definition.inputSchema === undefined ? {} : { schema: definition.inputSchema }),
      ...(rule.people === undefined ? {} : { people: rule.people }),
      reach: approval.reachOf(found, rule),
      milliseconds: (rule.expiresInSeconds ?? approvalTime) * 1000,
    })
    const row = { ...rowOf(attempt, JSON.stringify(attempt.input)), resume: resumeJson(attempt) }
    const opened = yield* record.openWaiting(row, { kind: "decision", id })
    attempt.asked = { ...opened, note: noteOf(isAnswerable) }
    return id
  })

  /** How calls ask for approval: there is a standing approval, or the call is written with its question, and waits. */
  const approvalsOf: RoadDecisions<Attempt, CallExists | TooManyRequests> = {
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

  /**
   * What a waiting call is answered by from outside: a form in its space, or a callback or a run within a time limit.
   */
  const awaits = Effect.fnUntraced(function* (
    waits: PendingResult,
    attempt: Attempt,
  ): Effect.fn.Return<WaitsOn, TooManyRequests, Transaction> {
    const found = attempt.found!
    // The room that stores the wait also keeps its timer.
    if (waits.kind === "reply") return { kind: "reply", id: waits.host ?? attempt.id }
    if (waits.kind !== "client") {
      const dueAt = DateTime.add(yield* DateTime.now, { milliseconds: waits.milliseconds })
      yield* timers.set({ purpose: waitPurpose, key: attempt.id, dueAt, payload: { call: attempt.id } })
      return { kind: waits.kind, id: waits.host ?? attempt.id }
    }
    const { definition } = found.tool
    const { id } = yield* decisions.ask({
      ...about(attempt, found),
      ...(yield* approval.asked(yield* approval.of(found, attempt.caller))),
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

  /** A server's questions: people see its forms; the calling client is asked everything that it can answer. */
  const putQuestions = Effect.fnUntraced(function* (
    asked: InputRequired,
    attempt: Attempt,
    holder: string,
  ): Effect.fn.Return<WaitsOn, TooManyRequests, Transaction> {
    const { id } = attempt
    const client = attempt.client?.capabilities ?? null
    const seconds = asked.held || client !== null ? questionTime : approvalTime
    const form = formOf(asked.questions)
    const { escalation } = yield* approval.asked(yield* approval.of(attempt.found!, attempt.caller))
    const decision =
      form === undefined
        ? null
        : (yield* decisions.ask({
            ...about(attempt, attempt.found!),
            digest: Road.digestOfCall(attempt.found!.tool, attempt),
            kind: "elicitation",
            fingerprint: null,
            ...(escalation === undefined ? {} : { escalation }),
            ...form,
            milliseconds: seconds * 1000,
          })).id
    yield* record.keepMade(id, resumeJson(attempt))
    yield* questions.put(id, asked, { decision, client, holder: asked.held ? holder : null })
    // A question that only the client can answer has no decision that could expire.
    if (forms(asked.questions).length < Object.keys(asked.questions).length) {
      const dueAt = DateTime.add(yield* DateTime.now, { seconds: questionTime })
      yield* timers.set({ purpose: waitPurpose, key: id, dueAt, payload: { call: id } })
    }
    return decision === null ? { kind: "client", id } : { kind: "decision", id: decision }
  })

  /** Nothing is asked: the server continues by itself, and this state is what finds its work again. */
  const keep = Effect.fnUntraced(function* (attempt: Attempt, state: Schema.Json) {
    const { client, id } = attempt
    yield* record.keepMade(id, resumeJson(attempt))
    yield* questions.put(id, new InputRequired({}, state, false, true), {
      decision: null,
      client: client?.capabilities ?? null,
      holder: null,
    })
  })

  return {
    approvals: approvalsOf,
    standing,
    awaits,
    putQuestions,
    keep,
    hangUp,
    forget: questions.forget,
    withdraw: decisions.cancel,
  }
})
