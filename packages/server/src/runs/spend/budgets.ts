/**
 * Which budgets apply to a run beyond its own limits, and what is spent of each: of its agent's day, of the days of the
 * agents above it and of the one it works for, of the day of whoever woke it, of its chat session, and of the month.
 */
import type { AgentLimits, Principal, PrincipalId } from "@stoa/contract"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents, branchOf } from "../../access/identity/Agents.ts"
import { Principals } from "../../access/identity/Principals.ts"
import { Limits } from "../../access/limits/Limits.ts"
import { rightsEpoch } from "../../access/rights/Rights.ts"
import { ChatSessions } from "../../sessions/ChatSessions.ts"
import { Settings } from "../../Settings.ts"
import { limitsFor } from "../profile.ts"
import { limitsOf, type RunRow } from "../record/rows.ts"
import type { BudgetUse } from "../working/limits.ts"
import type { Payers } from "./accounts.ts"

export type Spender = Payers & Pick<RunRow, "limits" | "triggerSpace">

/** What a step under way may still cost, with all that says on whose account it will be. */
export interface Reservation extends Payers {
  readonly id: string
  readonly triggerSpace: string | null
  /** The agents above its own, and its own. */
  readonly lineage: ReadonlyArray<string>
  readonly causerOwner: string | null
  readonly tokens: number
  readonly costMicros: number
}

/** The share of a budget from which on a person should know. */
export const near = 0.8
export const shareOf = ({ costMicros, limits, tokens }: BudgetUse): number =>
  Math.max(limits.cost ? costMicros / (limits.cost * 1e6) : 0, limits.tokens ? tokens / limits.tokens : 0)

/** A budget, and which reservations are on its account. */
export interface Budget extends BudgetUse {
  readonly counts: (one: Reservation) => boolean
}

interface Sums {
  readonly tokens: number
  readonly costMicros: number
}
/** How to read what somebody has spent; a reader may remember it for a moment. */
interface Counts {
  /** An agent's day, with all who work for it, and the month of the house. */
  readonly spent: (agent: string) => Effect.Effect<Sums & { readonly month: number }>
  /** What somebody has woken today. */
  readonly woken: (principal: string) => Effect.Effect<Sums>
  /** The same, of an owner with all its agents. */
  readonly owned: (owner: string) => Effect.Effect<Sums>
}

const none: Sums = { tokens: 0, costMicros: 0 }
const raise = "An admin can raise it (`limits` in the configuration file); others can still wake these agents."
const mostNamed = 3

export const makeBudgets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const agents = yield* Agents
  const principals = yield* Principals
  const limits = yield* Limits
  const epochNow = yield* rightsEpoch
  const sessions = yield* ChatSessions
  const { monthBudget, sessionBudget } = yield* Settings
  const today = Effect.map(DateTime.now, (now) => DateTime.formatIso(now).slice(0, 10))

  /** One query, since it runs before every model request. */
  const spent: Counts["spent"] = Effect.fnUntraced(function* (agent) {
    const day = yield* today
    const month = day.slice(0, 7)
    // What agents below it spend counts too; otherwise every child would add another budget.
    const rows = yield* sql<{ tokens: number | null; costMicros: number | null; month: number | null }>`SELECT
      CAST(sum(tokens_in + tokens_out) AS BIGINT) AS tokens,
      CAST(sum(cost_micros + CASE WHEN agent = ${agent} THEN caused_micros ELSE 0 END) AS BIGINT) AS cost_micros,
      (SELECT CAST(sum(cost_micros) AS BIGINT) FROM spend
        WHERE day >= ${`${month}-01`} AND day <= ${`${month}-31`}) AS month
      FROM spend WHERE day = ${day} AND agent IN ${branchOf(sql, agent)}`
    const found = rows[0]
    return { tokens: found?.tokens ?? 0, costMicros: found?.costMicros ?? 0, month: found?.month ?? 0 }
  }, Effect.orDie)

  const woken: Counts["woken"] = Effect.fnUntraced(function* (principal) {
    const rows = yield* sql<Sums>`SELECT woken_tokens AS tokens, woken_micros AS cost_micros FROM spend
      WHERE agent = ${principal} AND day = ${yield* today}`
    return rows[0] ?? none
  }, Effect.orDie)

  const owned: Counts["owned"] = Effect.fnUntraced(function* (owner) {
    const rows = yield* sql<{ tokens: number | null; costMicros: number | null }>`SELECT
      CAST(sum(s.woken_tokens) AS BIGINT) AS tokens, CAST(sum(s.woken_micros) AS BIGINT) AS cost_micros
      FROM spend s JOIN principals p ON p.id = s.agent
      WHERE s.day = ${yield* today} AND (p.id = ${owner} OR p.owner = ${owner})`
    return { tokens: rows[0]?.tokens ?? 0, costMicros: rows[0]?.costMicros ?? 0 }
  }, Effect.orDie)

  /** All runs of one chat session share one budget. */
  const sessionOf = Effect.fnUntraced(function* (space: string | null) {
    if (space === null || !(yield* sessions.isSession(space))) return []
    const rows = yield* sql<{ costMicros: number | null }>`SELECT CAST(sum(cost_micros) AS BIGINT) AS cost_micros
      FROM runs WHERE trigger_space = ${space}`
    return [
      {
        name: "This chat session",
        period: "so far",
        tokens: 0,
        costMicros: rows[0]?.costMicros ?? 0,
        limits: { cost: sessionBudget },
        counts: (one) => one.triggerSpace === space,
      },
    ] satisfies ReadonlyArray<Budget>
  }, Effect.orDie)

  /** Only agents have a budget of their own. */
  const agentOf = (id: string) =>
    Effect.map(
      Effect.option(agents.getCached(id)),
      Option.match({
        onNone: () => ({ name: id, parent: null, perDay: undefined, own: undefined }),
        onSome: (agent) => {
          const { limits: its, name, parent } = agent
          return { name, parent, perDay: its.perDay, own: limitsFor(agent).perDay }
        },
      }),
    )

  const lineageOf = Effect.fnUntraced(function* (agent: string) {
    const all = [agent]
    for (let at = (yield* agentOf(agent)).parent; at !== null && !all.includes(at); at = (yield* agentOf(at)).parent)
      all.push(at)
    return all
  })

  const dayOf = Effect.fnUntraced(function* (
    count: Counts,
    whose: string,
    name: string,
    its: AgentLimits["perDay"],
    counts: Budget["counts"],
  ) {
    if (its === undefined) return []
    const { costMicros, tokens } = yield* count.spent(whose)
    return [{ name, period: "today", costMicros, tokens, limits: its, counts }] satisfies ReadonlyArray<Budget>
  })

  /** Of whoever is at the beginning of the chain, and of its owner with all their agents. */
  const daysOf = Effect.fnUntraced(function* (count: Counts, causer: PrincipalId) {
    const principal = yield* Effect.orDie(principals.get(causer))
    const owner = principal.owner === null ? principal : yield* Effect.orDie(principals.get(principal.owner))
    const limitsOfDay = Effect.fnUntraced(function* (whose: Principal, per: "principal" | "owner") {
      const who = { principal: whose, epoch: yield* epochNow() }
      const cents = yield* limits.ofDay(who, "spend/cents", per)
      const tokens = yield* limits.ofDay(who, "spend/tokens", per)
      return { ...(cents === undefined ? {} : { cost: cents / 100 }), ...(tokens === undefined ? {} : { tokens }) }
    })
    const day = { period: "today", advice: raise }
    const own = {
      ...day,
      subject: principal.name,
      ...(yield* count.woken(causer)),
      name: `${principal.name}, who woke it,`,
      limits: yield* limitsOfDay(principal, "principal"),
      counts: (one: Reservation) => one.causer === causer,
    }
    const together = {
      ...day,
      subject: owner.name,
      ...(yield* count.owned(owner.id)),
      name: `${owner.name}, with all agents that belong to them,`,
      limits: yield* limitsOfDay(owner, "owner"),
      counts: (one: Reservation) => one.causer === owner.id || one.causerOwner === owner.id,
    }
    return [own, together] satisfies ReadonlyArray<Budget>
  })

  /** Who has used the month: a sentence. */
  const usersOfMonth = Effect.fnUntraced(function* () {
    const month = (yield* today).slice(0, 7)
    const rows = yield* sql<{ name: string; costMicros: number }>`SELECT p.name,
      CAST(sum(s.woken_micros) AS BIGINT) AS cost_micros FROM spend s JOIN principals p ON p.id = s.agent
      WHERE s.day >= ${`${month}-01`} AND s.day <= ${`${month}-31`} AND s.woken_micros > 0
      GROUP BY p.id, p.name ORDER BY cost_micros DESC LIMIT ${mostNamed}`
    const named = rows.map(({ costMicros, name }) => `${name} ${(costMicros / 1e6).toFixed(2)}`).join(", ")
    const most = named === "" ? "" : `Most of it was caused by ${named}. `
    return `${most}An operator can raise STOA_MONTH_BUDGET.`
  }, Effect.orDie)

  const of = Effect.fn("Spend.budgetsOf")(function* (
    count: Counts,
    { agent, causer, payer, triggerSpace, ...run }: Spender,
  ): Effect.fn.Return<ReadonlyArray<Budget>> {
    const { perDay: ownDay } = limitsOf(run)
    const below = (whose: string) => (one: Reservation) => one.lineage.includes(whose) || one.payer === whose
    const { costMicros, month, tokens } = yield* count.spent(agent)
    const own: ReadonlyArray<Budget> =
      ownDay === undefined
        ? []
        : [{ name: "Its agent", period: "today", costMicros, tokens, limits: ownDay, counts: below(agent) }]
    const above: Array<Budget> = []
    const lineage = yield* lineageOf(agent)
    for (const at of lineage.slice(1)) {
      const { name, perDay } = yield* agentOf(at)
      above.push(...(yield* dayOf(count, at, `${name}, with all who work for it,`, perDay, below(at))))
    }
    if (payer !== null && !lineage.includes(payer)) {
      const { name, perDay } = yield* agentOf(payer)
      above.push(...(yield* dayOf(count, payer, `${name}, for whom it works,`, perDay, below(payer))))
    }
    const house: Budget = {
      name: "The house",
      period: "this month",
      costMicros: month,
      tokens: 0,
      limits: { cost: monthBudget },
      counts: () => true,
      ...(month >= monthBudget * 1e6 ? { advice: yield* usersOfMonth() } : {}),
    }
    const causers = causer === null ? [] : yield* daysOf(count, causer)
    return [...own, ...above, ...causers, ...(yield* sessionOf(triggerSpace)), house]
  })

  /** Of the other runs at work: as many as there are slots, at most. */
  const reserved = Effect.gen(function* () {
    const rows = yield* sql<Omit<Reservation, "lineage">>`SELECT r.id, r.agent, r.payer, r.causer, r.trigger_space,
      p.owner AS causer_owner, r.reserved_tokens AS tokens, r.reserved_micros AS cost_micros
      FROM runs r LEFT JOIN principals p ON p.id = r.causer
      WHERE r.state = 'running' AND (r.reserved_tokens > 0 OR r.reserved_micros > 0)`
    return yield* Effect.forEach(rows, (row) =>
      Effect.map(lineageOf(row.agent), (lineage): Reservation => ({ ...row, lineage })),
    )
  }).pipe(Effect.orDie)

  return { counts: { spent, woken, owned } satisfies Counts, of, daysOf, reserved, agentOf }
})
