/**
 * A durable question and its answer. It is bound to the exact call it was asked for, answered once, and closed by the
 * first answer that closes it; an unanswered one expires to a no. It knows nothing of what it is about: whoever asked
 * reads the journal for what became of it.
 */
import {
  BadInput,
  type CallId,
  type Decision,
  type DecisionId,
  type DecisionKind,
  type DecisionState,
  Forbidden,
  type JsonSchema,
  Missing,
  type NewAnswer,
  type Page,
  type PageQuery,
  type Principal,
  type PrincipalId,
  type RiskLevel,
  type SpaceId,
  WrongState,
} from "@stoa/contract"
import { checkValue, saidOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../access/rights/Grants.ts"
import { Principals } from "../access/identity/Principals.ts"
import type { Reader } from "../access/rights/Viewer.ts"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"
import { Timers } from "../store/journal/Timers.ts"
import { Approvals } from "./Approvals.ts"
import { Company } from "./Company.ts"
import { electorate } from "./electorate.ts"
import { decisionFrom, type DecisionRow } from "./rows.ts"
import { makeWhoMay } from "./whoMay.ts"

/** The purpose of the timers that end a question. */
export const decisionPurpose = "decision"

export interface NewDecision {
  readonly kind: DecisionKind
  readonly question: string
  readonly askedBy: PrincipalId
  readonly call: {
    readonly id: CallId
    readonly tool: string
    readonly input: Schema.Json
    readonly riskLevel?: RiskLevel
  } | null
  /** Of the exact thing asked about. */
  readonly digest: string
  /** Of the definition as it was shown, for an approval from now on. */
  readonly fingerprint: string | null
  /** The epoch of rights it was asked in. */
  readonly policy: number
  /** What an answer must fit. */
  readonly schema?: JsonSchema
  /** What a form is built from where nothing better is known (G-37). */
  readonly form?: JsonSchema
  readonly customUI?: string
  readonly approver?: PrincipalId
  readonly people?: 1 | 2
  readonly space: SpaceId | null
  readonly milliseconds: number
}

/** What was asked about exactly, and what was answered: whoever acts on it compares before it acts. */
export type Bound = Pick<DecisionRow, "id" | "kind" | "state" | "verdict" | "digest" | "value" | "note" | "answeredBy">

export class Decisions extends Context.Service<
  Decisions,
  {
    readonly ask: (wanted: NewDecision) => Effect.Effect<DecisionId, never, Transaction>
    readonly get: (id: string, reader: Reader) => Effect.Effect<Decision, Missing>
    readonly list: (
      reader: Reader,
      query: PageQuery & { readonly state?: DecisionState },
    ) => Effect.Effect<Page<Decision>>
    readonly answer: (
      id: string,
      by: Principal,
      answer: NewAnswer,
      /** Given through the client that made the call: to a server's form it counts, for that is data and no approval. */
      through?: "client",
    ) => Effect.Effect<Decision, Missing | Forbidden | WrongState | BadInput, Transaction>
    /** Whether somebody may learn of it at all. */
    readonly seenBy: (id: string, principal: Principal) => Effect.Effect<boolean>
    /** Closes an open one without an answer: what it was about is gone. */
    readonly cancel: (id: string, reason: string) => Effect.Effect<void, never, Transaction>
    readonly expire: (id: string) => Effect.Effect<void, never, Transaction>
    /** What an answered one says about the thing it was asked for. */
    readonly bound: (id: string) => Effect.Effect<Bound | undefined>
  }
>()("server/decisions/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const timers = yield* Timers
      const company = yield* Company
      const principals = yield* Principals
      const grants = yield* Grants
      const approvals = yield* Approvals
      const whoMay = yield* makeWhoMay

      const row = Effect.fnUntraced(function* (id: string) {
        return (yield* Effect.orDie(sql<DecisionRow>`SELECT * FROM decisions WHERE id = ${id}`))[0]
      })

      const ask: Decisions["Service"]["ask"] = Effect.fn("Decisions.ask")(function* (wanted) {
        const id = newId<DecisionId>("dcs")
        const now = yield* DateTime.now
        const expiresAt = DateTime.add(now, { milliseconds: wanted.milliseconds })
        const { call, kind, space } = wanted
        yield* Effect.orDie(
          sql`INSERT INTO decisions ${sql.insert({
            id,
            kind,
            state: "open",
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
            askedBy: wanted.askedBy,
            approver: wanted.approver ?? null,
            people: wanted.people ?? 1,
            space,
            expiresAt: DateTime.formatIso(expiresAt),
            createdAt: DateTime.formatIso(now),
          })}`,
        )
        yield* timers.set({ purpose: decisionPurpose, key: id, dueAt: expiresAt, payload: { decision: id } })
        yield* journal.append({
          kind: "decision.asked",
          ...(space === null ? {} : { space }),
          body: {
            decision: id,
            kind,
            principal: wanted.askedBy,
            call: call?.id ?? null,
            tool: call?.tool ?? null,
            approver: wanted.approver ?? null,
          },
        })
        return id
      })

      const admins = Effect.map(principals.admins, (all) => all.map((one) => one.id))

      const voters = Effect.fnUntraced(function* (one: DecisionRow) {
        const { approver, askedBy, space } = one
        const people = space === null || approver !== null ? [] : yield* company.peopleOf(space as SpaceId)
        const named = approver === null ? undefined : yield* Effect.orDie(principals.get(approver))
        const unable = named !== undefined && (named.kind !== "person" || named.retiredAt !== null)
        return electorate({ askedBy, approver, unable, company: people, admins: yield* admins })
      })

      const approvers = (id: string) =>
        Effect.map(
          Effect.orDie(
            sql<{
              principal: PrincipalId
            }>`SELECT principal FROM decision_approvals WHERE decision = ${id} ORDER BY at`,
          ),
          (rows) => rows.map((one) => one.principal),
        )

      // Of a page of them many are asked of the same people, who are looked up once.
      type Electorates = Map<string, ReadonlyArray<PrincipalId>>
      const shown = Effect.fnUntraced(function* (one: DecisionRow, known: Electorates = new Map()) {
        const key = `${one.askedBy} ${one.approver} ${one.space}`
        if (one.state === "open" && !known.has(key)) known.set(key, yield* voters(one))
        return decisionFrom(
          one,
          known.get(key) ?? [],
          one.people > 1 || one.verdict === "approve" ? yield* approvers(one.id) : [],
        )
      })

      const maySee = Effect.fnUntraced(function* (one: DecisionRow, { all, principal }: Reader) {
        if (all || one.askedBy === principal.id || one.approver === principal.id || one.answeredBy === principal.id)
          return true
        return one.space !== null && (yield* company.spacesOf(principal.id)).includes(one.space as SpaceId)
      })

      const readerOf = (principal: Principal): Effect.Effect<Reader> =>
        Effect.map(grants.judgeOf(principal, "admin", "decisions/*"), ({ verdict }) => ({
          principal,
          all: verdict === "allow",
        }))

      const seenBy: Decisions["Service"]["seenBy"] = Effect.fnUntraced(function* (id, principal) {
        const found = yield* row(id)
        return found !== undefined && (yield* maySee(found, yield* readerOf(principal)))
      })

      const get: Decisions["Service"]["get"] = Effect.fn("Decisions.get")(function* (id, reader) {
        const found = yield* row(id)
        if (found === undefined || !(yield* maySee(found, reader)))
          return yield* new Missing({ noun: "decision", ref: id })
        return yield* shown(found)
      })

      const list: Decisions["Service"]["list"] = Effect.fn("Decisions.list")(function* (reader, query) {
        const { after, limit } = pageFrom(query)
        const me = reader.principal.id
        const where = [sql`id > ${after}`]
        if (query.state !== undefined) where.push(sql`state = ${query.state}`)
        if (!reader.all) {
          const spaces = yield* company.spacesOf(me)
          const there = spaces.length === 0 ? sql`1 = 0` : sql.in("space", spaces)
          where.push(sql`(asked_by = ${me} OR approver = ${me} OR answered_by = ${me} OR ${there})`)
        }
        const rows = yield* Effect.orDie(
          sql<DecisionRow>`SELECT * FROM decisions WHERE ${sql.and(where)} ORDER BY id LIMIT ${limit + 1}`,
        )
        const page = pageOf(
          rows,
          limit,
          (one) => one,
          (one) => one.id,
        )
        const known: Electorates = new Map()
        return { items: yield* Effect.forEach(page.items, (one) => shown(one, known)), next: page.next }
      })

      const closed = (one: DecisionRow) =>
        new WrongState({
          detail: `This decision is ${one.state}${one.verdict === null ? "" : ` (${one.verdict})`}: it is answered once. Look for open ones with "stoa decide".`,
        })

      const bad = (path: string, message: string) => new BadInput({ issues: [{ path, message }] })

      /** Whether the answer fits the question: who gives it is asked apart. */
      const fits = Effect.fnUntraced(function* (one: DecisionRow, answer: NewAnswer) {
        const { kind, schema } = one
        if (kind === "approval" && answer.verdict === "submit")
          return yield* bad("verdict", "an approval is answered with approve or deny")
        if (kind !== "approval" && answer.verdict === "approve")
          return yield* bad("verdict", "a form is answered with submit and a value, or with deny")
        if (answer.verdict === "submit" && answer.value === undefined)
          return yield* bad("value", "is what fills the form; give it")
        if (answer.verdict !== "submit" && answer.value !== undefined)
          return yield* bad("value", "fills a form; an approval is edited with input")
        if (answer.input !== undefined && answer.verdict !== "approve")
          return yield* bad("input", "edits what is approved; it goes with the verdict approve")
        if (answer.reach === "run") return yield* bad("reach", "there are no runs yet; use once or always")
        if (answer.reach === "always" && (answer.verdict !== "approve" || one.fingerprint === null))
          return yield* bad("reach", "only an approval of a tool reaches beyond one call")
        if (answer.reach === "always" && one.people > 1)
          return yield* bad("reach", "what needs two people is approved call by call")
        const given = answer.verdict === "submit" ? answer.value : answer.input
        if (schema === null || given === undefined) return
        const path = answer.verdict === "submit" ? "value" : "input"
        const fault = yield* checkValue(JSON.parse(schema) as JsonSchema, given)
        if (fault !== undefined) return yield* bad(fault.path === "" ? path : `${path}.${fault.path}`, saidOf(fault))
      })

      const close = Effect.fnUntraced(function* (one: DecisionRow, by: Principal, answer: NewAnswer) {
        const now = DateTime.formatIso(yield* DateTime.now)
        const given = answer.verdict === "submit" ? answer.value : answer.input
        const value = given === undefined ? null : JSON.stringify(given)
        const reach = answer.reach ?? "once"
        const won = yield* Effect.orDie(
          sql<DecisionRow>`UPDATE decisions SET state = 'answered', verdict = ${answer.verdict}, value = ${value},
            reach = ${reach}, note = ${answer.note ?? null}, answered_by = ${by.id}, answered_at = ${now}
            WHERE id = ${one.id} AND state = 'open' RETURNING *`,
        )
        if (won[0] === undefined) return yield* closed((yield* row(one.id))!)
        yield* timers.cancelKey(one.id)
        const { askedBy, call, kind, space } = won[0]
        yield* journal.append({
          kind: "decision.answered",
          actor: by.id,
          ...(space === null ? {} : { space }),
          body: {
            decision: one.id as DecisionId,
            kind,
            principal: askedBy,
            call: call as CallId | null,
            verdict: answer.verdict,
            reach,
            by: by.id,
          },
        })
        if (reach === "always" && won[0].tool !== null && won[0].fingerprint !== null)
          yield* approvals.keep({
            principal: askedBy,
            tool: won[0].tool,
            fingerprint: won[0].fingerprint,
            decision: one.id,
            by: by.id,
          })
        return yield* shown(won[0])
      })

      const answer: Decisions["Service"]["answer"] = Effect.fn("Decisions.answer")(function* (id, by, given, through) {
        // Held from here to the commit, so that two answers at once are one after the other.
        const rows = yield* Effect.orDie(
          sql<DecisionRow>`UPDATE decisions SET state = state WHERE id = ${id} RETURNING *`,
        )
        const one = rows[0]
        if (one === undefined || !(yield* maySee(one, yield* readerOf(by))))
          return yield* new Missing({ noun: "decision", ref: id })
        const own = through === "client" && one.kind === "elicitation" && one.askedBy === by.id
        const may = own || (by.kind === "person" && (yield* voters(one)).includes(by.id))
        if (!may)
          return yield* new Forbidden({
            action: "answer",
            resource: `decisions/${id}`,
            rule: by.id === one.askedBy ? "never by whoever asked" : "people it is for",
            instead: yield* whoMay(yield* voters(one)),
          })
        if (one.state !== "open") return yield* closed(one)
        if (one.expiresAt <= DateTime.formatIso(yield* DateTime.now))
          return yield* new WrongState({ detail: "This decision has expired, which is a no. Make the call again." })
        // Whether its own caller's words fit is for the server to say, whose form it is.
        if (!own) yield* fits(one, given)
        // What holds everywhere from now on is not for whoever happens to be in one space.
        if (given.reach === "always" && one.approver !== by.id && !(yield* readerOf(by)).all)
          return yield* new Forbidden({
            action: "approve from now on in",
            resource: `decisions/${id}`,
            rule: "admins, or the approver the tool names",
            instead: "Answer it for this call alone, without a reach, or leave it to one of those.",
          })
        if (given.verdict !== "approve" || one.people === 1) return yield* close(one, by, given)
        if (given.input !== undefined)
          return yield* bad("input", "what needs two people is approved as it stands, or denied")
        const at = DateTime.formatIso(yield* DateTime.now)
        yield* Effect.orDie(
          sql`INSERT INTO decision_approvals ${sql.insert({ decision: id, principal: by.id, at })}
            ON CONFLICT (decision, principal) DO NOTHING`,
        )
        // Those who may no longer answer do not count any more.
        const able = yield* voters(one)
        const approved = (yield* approvers(id)).filter((other) => able.includes(other))
        if (approved.length >= one.people) return yield* close(one, by, given)
        yield* journal.append({
          kind: "decision.approved",
          actor: by.id,
          ...(one.space === null ? {} : { space: one.space }),
          body: { decision: id as DecisionId, principal: one.askedBy, by: by.id },
        })
        return yield* shown(one)
      })

      const end = Effect.fnUntraced(function* (id: string, state: "expired" | "canceled", reason: string) {
        const rows = yield* Effect.orDie(
          sql<DecisionRow>`UPDATE decisions SET state = ${state} WHERE id = ${id} AND state = 'open' RETURNING *`,
        )
        if (rows[0] === undefined) return
        yield* timers.cancelKey(id)
        const { askedBy: principal, kind, space } = rows[0]
        const call = rows[0].call as CallId | null
        const decision = id as DecisionId
        const where = space === null ? {} : { space }
        yield* state === "expired"
          ? journal.append({ kind: "decision.expired", ...where, body: { decision, kind, principal, call } })
          : journal.append({ kind: "decision.canceled", ...where, body: { decision, principal, call, reason } })
      })

      return Decisions.of({
        ask,
        get,
        list,
        answer,
        seenBy,
        cancel: Effect.fn("Decisions.cancel")((id, reason) => end(id, "canceled", reason)),
        expire: Effect.fn("Decisions.expire")((id) => end(id, "expired", "")),
        bound: row,
      })
    }),
  )
}
