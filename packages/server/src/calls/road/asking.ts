/** What a call asks of people and of the outside, written in the transaction that makes it wait. */
import type { CallId, Caller, SpaceId, WaitsOn } from "@stoa/contract"
import { type Call as Begun, Road } from "@stoa/tools"
import { DateTime, Effect, type Schema } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { Decisions } from "../../decisions/Decisions.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { Asked, CallingClient } from "../../upstreams/Asked.ts"
import type { Listed } from "../catalogue/Traits.ts"
import type { Waits } from "../kinds/Kind.ts"
import { formOf, forms, makeQuestions } from "../waiting/questions.ts"
import type { NewRow } from "./record.ts"
import type { Walked } from "./walk.ts"

/** An approval that nobody gives is a no after a day. */
const approvalTime = 24 * 3600
/** What a server asks its caller is good for an hour; a form that holds nothing, for as long as an approval. */
const questionTime = 3600
/** The purpose of the timers that end a wait. */
export const waitPurpose = "call"

export const makeAsking = Effect.gen(function* () {
  const decisions = yield* Decisions
  const principals = yield* Principals
  const timers = yield* Timers
  const questions = yield* makeQuestions

  /** What an approval or a form is asked with. */
  const question = (listed: Listed, call: Begun, caller: Caller["Service"], space: SpaceId | null) => {
    const { definition, fingerprint } = listed.tool
    return {
      askedBy: caller.principal.id,
      call: {
        id: call.id as CallId,
        tool: definition.name,
        input: call.arguments as Schema.Json,
        riskLevel: definition.riskLevel,
      },
      digest: Road.digestOfCall(listed.tool, call),
      fingerprint,
      policy: caller.epoch,
      space,
    }
  }

  const approverOf = Effect.fnUntraced(function* (listed: Listed, caller: Caller["Service"]) {
    const named = listed.approval?.approver
    if (named === undefined) return {}
    const found = yield* Effect.option(principals.get(named))
    // A name that is nobody's widens nothing: as where callers are named themselves, the admins answer.
    return { approver: found._tag === "Some" ? found.value.id : caller.principal.id }
  })

  const ask = Effect.fnUntraced(function* (row: NewRow, { call, listed }: Walked, caller: Caller["Service"]) {
    const { definition } = listed.tool
    const id = yield* decisions.ask({
      ...question(listed, call, caller, row.space as SpaceId | null),
      ...(yield* approverOf(listed, caller)),
      kind: "approval",
      question: `${caller.principal.name} wants to run ${definition.name} (${definition.riskLevel} risk).`,
      ...(definition.inputSchema === undefined ? {} : { schema: definition.inputSchema }),
      ...(listed.approval?.people === undefined ? {} : { people: listed.approval.people }),
      milliseconds: (listed.approval?.expiresInSeconds ?? approvalTime) * 1000,
    })
    return { kind: "decision", id } as const
  })

  /** What a call waits for that is answered from outside: a form in its space, or a callback by a time. */
  const awaits = Effect.fnUntraced(function* (
    waits: Waits,
    listed: Listed,
    call: Begun,
    caller: Caller["Service"],
    space: SpaceId | null,
  ): Effect.fn.Return<WaitsOn, never, Transaction> {
    if (waits.kind === "callback") {
      const dueAt = DateTime.add(yield* DateTime.now, { milliseconds: waits.milliseconds })
      yield* timers.set({ purpose: waitPurpose, key: call.id, dueAt, payload: { call: call.id } })
      return { kind: "callback", id: waits.host ?? call.id }
    }
    const { definition } = listed.tool
    const id = yield* decisions.ask({
      ...question(listed, call, caller, space),
      ...(yield* approverOf(listed, caller)),
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
    listed: Listed,
    call: Begun,
    caller: Caller["Service"],
    space: SpaceId | null,
    me: string,
  ): Effect.fn.Return<WaitsOn, never, Transaction> {
    const client = (yield* CallingClient)?.capabilities ?? null
    const seconds = asked.held || client !== null ? questionTime : approvalTime
    const form = formOf(asked.questions)
    const decision =
      form === undefined
        ? null
        : yield* decisions.ask({
            ...question(listed, call, caller, space),
            kind: "elicitation",
            fingerprint: null,
            ...form,
            milliseconds: seconds * 1000,
          })
    const id = call.id as CallId
    yield* questions.put(id, asked, { decision, client, holder: asked.held ? me : null })
    // What only the client can answer has no decision to expire with.
    if (forms(asked.questions).length < Object.keys(asked.questions).length) {
      const dueAt = DateTime.add(yield* DateTime.now, { seconds: questionTime })
      yield* timers.set({ purpose: waitPurpose, key: id, dueAt, payload: { call: id } })
    }
    return decision === null ? { kind: "client", id } : { kind: "decision", id: decision }
  })

  /** Nothing is asked: the server goes on by itself, and this is what it is found again with. */
  const keep = Effect.fnUntraced(function* (id: CallId, state: Schema.Json) {
    const client = (yield* CallingClient)?.capabilities ?? null
    yield* questions.put(id, new Asked({}, state, false, true), { decision: null, client, holder: null })
  })

  return { ask, awaits, putQuestions, keep, forget: questions.forget, withdraw: decisions.cancel }
})
