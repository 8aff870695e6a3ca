/**
 * A stored question and its answer. It belongs to one exact call, is answered once, and is closed by the first answer
 * that closes it; without an answer it expires as a no. This room does not know what the question is about: the room
 * that asked reads the journal. The possible changes of state are in `lifecycle.ts`.
 */
import {
  type BadInput,
  type Caller,
  type Decision,
  type DecisionId,
  type Forbidden,
  Missing,
  type NewAnswer,
  type Page,
  type Principal,
  type TokenId,
  TooManyRequests,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { lockRead } from "../store/database/dialect/Locks.ts"
import { Timers } from "../store/journal/Timers.ts"
import { Approvals } from "./Approvals.ts"
import { type LinkedDecision, type LinkSubject, makeLinkedDecisions } from "./electorate/linkedDecisions.ts"
import { makeEligibility } from "./electorate/eligibility.ts"
import { checkAnswer } from "./answerOptions.ts"
import { makeOwnApproval, refused } from "./electorate/ownApproval.ts"
import { type Act, first, from, isOpen, leadsTo } from "./lifecycle.ts"
import type { NewDecision } from "./NewDecision.ts"
import { Notifications } from "./notices/Notifications.ts"
import { makeOpenQuestions } from "./openQuestions.ts"
import { type DecisionQuery, type DecisionReader, makeDecisionReads, type MayCall } from "./decisionReads.ts"
import { type DecisionRow, type FullRow, isNamed, makeRows } from "./rows.ts"
import { makeWhoMay } from "./electorate/whoMay.ts"
import { makeRowInsert } from "../store/database/dialect/Inserts.ts"
import { inState } from "../store/database/dialect/States.ts"

/** The purposes of the timers that expire or escalate a question. */
export const expiryPurpose = "decision"
export const escalationPurpose = "decision escalation"
const escalationKey = (id: string): string => `${id} escalation`

/** A question that was just written. */
export interface NewQuestion {
  readonly id: DecisionId
  /** Whether anybody may answer it now. */
  readonly isAnswerable: boolean
}

/** What exactly was asked, and the answer: the room that acts on it compares them first. */
export type BoundAnswer = Pick<
  DecisionRow,
  "id" | "kind" | "state" | "verdict" | "digest" | "value" | "note" | "answeredBy" | "people"
>

/**
 * How an answer comes in, if not under the caller's own token. `client`: through the client that made the call; it may
 * answer a server's form, which is data and no approval. `link`: by a signed link, which carries one verdict on one
 * call.
 */
export type AnswerPath = "client" | "link"

export class Decisions extends Context.Service<
  Decisions,
  {
    readonly ask: (wanted: NewDecision) => Effect.Effect<NewQuestion, TooManyRequests, Transaction>
    readonly get: (id: string, reader: DecisionReader) => Effect.Effect<Decision, Missing>
    readonly list: (
      reader: DecisionReader,
      query: DecisionQuery,
    ) => Effect.Effect<Page<Decision> & { readonly count?: number }>
    /** Returns the present row; `show` returns it as the answering person sees it, after the commit. */
    readonly answer: (
      id: string,
      by: Caller["Service"],
      answer: NewAnswer,
      through?: AnswerPath,
    ) => Effect.Effect<FullRow, Missing | Forbidden | WrongState | BadInput, Transaction>
    readonly show: (answered: FullRow) => Effect.Effect<Decision>
    /** Whether a caller may know of it at all. */
    readonly seenBy: (id: string, by: Caller["Service"]) => Effect.Effect<boolean>
    /** The decision of a link, as its person may see it: while it waits for them. Fails if they are not asked. */
    readonly byLink: (link: LinkSubject, action: "read" | "answer") => Effect.Effect<LinkedDecision, Forbidden>
    /** False while it is open and nobody may answer it. */
    readonly isAnswerable: (id: string) => Effect.Effect<boolean>
    /** Fails unless the reader may have a link that answers this decision. `whom`: whose link it is to be. */
    readonly mayLink: (
      id: string,
      reader: DecisionReader,
      by: { readonly token: TokenId | null; readonly whom: string | undefined },
    ) => Effect.Effect<Decision, Missing | WrongState | Forbidden>
    /** Closes an open one without an answer: its subject is gone. */
    readonly cancel: (id: string, reason: string) => Effect.Effect<void, never, Transaction>
    readonly expire: (id: string) => Effect.Effect<void, never, Transaction>
    /** Nobody has answered for a while: others are asked, too. */
    readonly escalate: (id: string) => Effect.Effect<void, never, Transaction>
    /** What an answered one says about its subject. */
    readonly bound: (id: string) => Effect.Effect<BoundAnswer | undefined>
    /**
     * Says who may call which tool: the room on a higher floor that has them. Until then nobody may. Told later, and not
     * a layer that this one needs, because that room is built on this service.
     */
    readonly learn: (mayCall: MayCall) => void
  }
>()("server/decisions/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const timers = yield* Timers
      const approvals = yield* Approvals
      const eligibility = yield* makeEligibility
      const { find, get, learn, list, mayCall, readerOf, seenBy, show, showByLink } =
        yield* makeDecisionReads(eligibility)
      const { mayLink, requireOwn } = yield* makeOwnApproval(eligibility, get)
      const notifications = yield* Notifications
      const rows = yield* makeRows
      const insert = makeRowInsert(sql, "decisions")
      const whoMay = yield* makeWhoMay
      const room = yield* makeOpenQuestions

      /** The only way a decision changes its state; undefined if the table does not allow it. */
      const change = Effect.fnUntraced(function* (id: string, act: Act, columns: Partial<DecisionRow> = {}) {
        const changed = yield* Effect.orDie(
          sql<DecisionRow>`UPDATE decisions SET ${sql.update({ ...columns, state: leadsTo(act) } as never)}
            WHERE id = ${id} AND ${inState(sql, from(act))} RETURNING *`,
        )
        const one = changed[0]
        if (one === undefined || isOpen(one.state)) return one
        yield* timers.cancelKeys([id, escalationKey(id)])
        if (one.space !== null) yield* eligibility.release(id)
        return one
      })

      const { byLink, isAnswerable, mayAnswer } = yield* makeLinkedDecisions(eligibility, showByLink)

      const ask: Decisions["Service"]["ask"] = Effect.fn("Decisions.ask")(function* (wanted) {
        yield* room.before(wanted)
        const id = newId<DecisionId>("dcs")
        const now = yield* DateTime.now
        const expiresAt = DateTime.add(now, { milliseconds: wanted.milliseconds })
        const { call, escalation, kind, named, space } = wanted
        const askedBy = wanted.askedBy.id
        // If the names belong to nobody, they let nobody in: the admins answer, as if the caller had been named.
        const approver = named === undefined ? null : (named[0] ?? askedBy)
        const askedAfter = yield* journal.committed
        const asked = { id, kind, state: first, askedBy, askedAfter, approver, space, escalatedAt: null } as const
        const escalatesAt = escalation && DateTime.add(now, { milliseconds: escalation.milliseconds })
        yield* Effect.orDie(
          insert({
            ...asked,
            call: call?.id ?? null,
            tool: call?.tool ?? null,
            input: call === null ? null : JSON.stringify(call.input),
            riskLevel: call?.riskLevel ?? null,
            question: wanted.question,
            schema: wanted.schema === undefined ? null : JSON.stringify(wanted.schema),
            form: wanted.form === undefined ? null : JSON.stringify(wanted.form),
            customUi: wanted.customUI ?? null,
            digest: wanted.digest,
            fingerprint: wanted.fingerprint,
            policy: wanted.policy,
            people: wanted.people ?? 1,
            maxReach: wanted.reach ?? "once",
            run: wanted.run ?? null,
            rule: wanted.rule ?? null,
            url: wanted.url ?? null,
            server: wanted.pinned?.server ?? null,
            pinnedAt: wanted.pinned?.since ?? null,
            escalatesAt: escalatesAt === undefined ? null : DateTime.formatIso(escalatesAt),
            expiresAt: DateTime.formatIso(expiresAt),
            createdAt: DateTime.formatIso(now),
          }),
        )
        const able = yield* eligibility.fix(asked, {
          named: named ?? null,
          escalation: escalation?.to ?? [],
          epoch: wanted.policy,
        })
        yield* timers.set({ purpose: expiryPurpose, key: id, dueAt: expiresAt, payload: { decision: id } })
        if (escalatesAt !== undefined)
          yield* timers.set({
            purpose: escalationPurpose,
            key: escalationKey(id),
            dueAt: escalatesAt,
            payload: { decision: id },
          })
        yield* journal.append({
          kind: "decision.asked",
          ...(space === null ? {} : { space }),
          body: {
            decision: id,
            kind,
            principal: askedBy,
            call: call?.id ?? null,
            tool: call?.tool ?? null,
            approver,
            ...(named === undefined || named.length < 2 ? {} : { approvers: named }),
          },
        })
        yield* notifications.queue(id, able, wanted.policy)
        yield* room.after(wanted)
        return { id, isAnswerable: able.length > 0 }
      })

      const closed = (one: DecisionRow) =>
        new WrongState({
          detail: `This decision is ${one.state}${one.verdict === null ? "" : ` (${one.verdict})`}: it is answered once.`,
        })

      const close = Effect.fnUntraced(function* (one: FullRow, by: Principal, answer: NewAnswer) {
        const given = answer.verdict === "submit" ? answer.value : answer.input
        const reach = answer.reach ?? "once"
        const won = yield* change(one.id, "answer", {
          verdict: answer.verdict,
          value: given === undefined ? null : JSON.stringify(given),
          reach,
          note: answer.note ?? null,
          answeredBy: by.id,
          answeredAt: DateTime.formatIso(yield* DateTime.now),
        })
        if (won === undefined) return yield* closed((yield* rows.byId(one.id))!)
        const { askedBy, call, fingerprint, kind, space, tool } = won
        yield* journal.append({
          kind: "decision.answered",
          actor: by.id,
          ...(space === null ? {} : { space }),
          body: {
            decision: one.id,
            kind,
            principal: askedBy,
            call,
            verdict: answer.verdict,
            reach,
            by: by.id,
          },
        })
        if (reach !== "once" && tool !== null && fingerprint !== null)
          yield* approvals.keep({
            principal: askedBy,
            tool,
            fingerprint,
            decision: one.id,
            by: by.id,
            run: reach === "run" ? won.run : null,
          })
        return { ...one, ...won }
      })

      /** The first of two approvals: it stays open for the second. */
      const approve = Effect.fnUntraced(function* (one: FullRow, by: Principal) {
        const at = DateTime.formatIso(yield* DateTime.now)
        yield* Effect.orDie(
          sql`INSERT INTO decision_approvals ${sql.insert({ decision: one.id, principal: by.id, at })}
            ON CONFLICT (decision, principal) DO NOTHING`,
        )
        // Approvals by people who may no longer answer do not count.
        const able = yield* mayAnswer(one)
        const approved = ((yield* rows.approvers([one])).get(one.id) ?? []).filter((it) => able.includes(it.principal))
        return approved.length
      })

      const answer: Decisions["Service"]["answer"] = Effect.fn("Decisions.answer")(
        function* (id, caller, given, through) {
          const reader = yield* Effect.mapError(readerOf(caller), () => new Missing({ noun: "decision", ref: id }))
          const by = reader.principal
          // Locked until the commit, so that two concurrent answers are processed one after the other. The voters of an
          // open decision do not change, so locking the row is enough.
          const one = yield* find(id, reader, lockRead(sql, "decisions"))
          if (one === undefined) return yield* new Missing({ noun: "decision", ref: id })
          const own = through === "client" && one.kind === "elicitation" && one.askedBy === by.id
          if (!isOpen(one.state)) return yield* closed(one)
          const able = yield* mayAnswer(one)
          if (!own && (by.kind !== "person" || !able.includes(by.id)))
            return yield* refused(
              id,
              by.id === one.askedBy ? "not by whoever asked" : "only the people it is for",
              yield* whoMay(able),
            )
          if (one.expiresAt <= DateTime.formatIso(yield* DateTime.now))
            return yield* new WrongState({
              detail: "This decision expired, so the call was refused. Make the call again.",
            })
          // The calling client's answer is checked by the server, whose form it is.
          if (!own) yield* checkAnswer(one, given, through === "link")
          if (given.input !== undefined && !(yield* mayCall(reader, one.tool)))
            return yield* refused(
              id,
              "those who may call the tool",
              `You may not call ${one.tool} yourself, so you cannot change its input. Approve it as it is, or deny it.`,
              "change the input of",
            )
          // A standing approval affects everything, so being a member of one space is not enough.
          if (given.reach === "always" && !reader.all && !isNamed(one, by.id))
            return yield* refused(
              id,
              "admins, or the approver the tool names",
              "Approve this call or this run only, or let an admin or that approver answer.",
              "approve from now on in",
            )
          if (given.verdict !== "approve") return yield* close(one, by, given)
          if (through !== "link") yield* requireOwn(one, by, caller.token)
          if (one.people === 1) return yield* close(one, by, given)
          if ((yield* approve(one, by)) >= one.people) return yield* close(one, by, given)
          const still = yield* change(id, "approve")
          yield* journal.append({
            kind: "decision.approved",
            actor: by.id,
            ...(one.space === null ? {} : { space: one.space }),
            body: { decision: id as DecisionId, principal: one.askedBy, by: by.id },
          })
          return { ...one, ...still! }
        },
      )

      const end = Effect.fnUntraced(function* (id: string, act: "expire" | "cancel", reason: string) {
        const one = yield* change(id, act)
        if (one === undefined) return
        const { askedBy: principal, call, kind, space } = one
        const decision = id as DecisionId
        const where = space === null ? {} : { space }
        yield* act === "expire"
          ? journal.append({ kind: "decision.expired", ...where, body: { decision, kind, principal, call } })
          : journal.append({ kind: "decision.canceled", ...where, body: { decision, principal, call, reason } })
      })

      const escalate: Decisions["Service"]["escalate"] = Effect.fn("Decisions.escalate")(function* (id) {
        const known = yield* rows.fullById(id)
        // A timer may fire twice: it escalates once.
        if (known === undefined || known.escalatedAt !== null) return
        const changed = yield* change(id, "escalate", { escalatedAt: DateTime.formatIso(yield* DateTime.now) })
        if (changed === undefined) return
        const one = { ...known, ...changed }
        const approvers = eligibility.targetsOf(one)
        yield* journal.append({
          kind: "decision.escalated",
          ...(one.space === null ? {} : { space: one.space }),
          body: {
            decision: id as DecisionId,
            kind: one.kind,
            principal: one.askedBy,
            call: one.call,
            approvers,
          },
        })
        const able = yield* mayAnswer(one)
        yield* notifications.queue(
          id as DecisionId,
          approvers.filter((it) => able.includes(it)),
        )
      })

      return Decisions.of({
        ask,
        get,
        list,
        answer,
        show,
        seenBy,
        byLink,
        isAnswerable,
        mayLink,
        cancel: Effect.fn("Decisions.cancel")((id, reason) => end(id, "cancel", reason)),
        expire: Effect.fn("Decisions.expire")((id) => end(id, "expire", "")),
        escalate,
        bound: rows.byId,
        learn,
      })
    }),
  )
}
