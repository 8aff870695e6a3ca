/** How runs ended and when, how many there are now, what models cost over time and by agent, and which agents fail. */
import type { AgentCost, Need } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../access/identity/Agents.ts"
import { Settings } from "../Settings.ts"
import { inState } from "../store/database/dialect/States.ts"
import { momentOf, pointAt, type TimeSpan, zeros } from "../store/TimeSpan.ts"
import { near } from "./spend/budgets.ts"
import { forecastOf } from "./spend/forecast.ts"
import { limitsFor } from "./profile.ts"
import { open } from "./record/lifecycle.ts"
import { Spend } from "./spend/Spend.ts"
import type { BasicViewer } from "../access/rights/Viewer.ts"

/** At most this many runs are read, the newest first. */
const maxRead = 50_000
const maxAgents = 50
const hour = 3_600_000
/** An agent counts as failing if at least this many of its runs ended within a day and half of them failed. */
const enough = 3

interface Ended {
  readonly agent: string
  readonly state: "completed" | "failed" | "canceled"
  readonly endedAt: string
}
interface Cost {
  readonly agent: string
  readonly saidAt: string
  readonly costMicros: number
}

const sum = (all: ReadonlyArray<Cost>, after: string): number =>
  all.reduce((micros, one) => (one.saidAt >= after ? micros + one.costMicros : micros), 0)

export const makeRunFigures = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const agents = yield* Agents
  const spend = yield* Spend
  const { slots } = yield* Settings

  const endedSince = (at: string) =>
    sql<Ended>`SELECT agent, state, ended_at FROM runs WHERE ended_at >= ${at} ORDER BY ended_at DESC LIMIT ${maxRead}`

  const costSince = (at: string) =>
    sql<Cost>`SELECT r.agent, s.said_at, s.cost_micros FROM (SELECT said_at, run, cost_micros FROM steps
      WHERE cost_micros > 0 AND said_at >= ${at} ORDER BY said_at DESC LIMIT ${maxRead}) AS s
      JOIN runs r ON r.id = s.run`

  return Effect.fn("RunFigures")(function* (viewer: BasicViewer, span: TimeSpan) {
    const living = yield* agents.living
    const seen = living.filter(
      ({ id, owner }) => viewer.all || id === viewer.principal.id || owner === viewer.principal.id,
    )
    const mine = new Set<string>(viewer.all ? [] : [viewer.principal.id, ...seen.map(({ id }) => id)])
    const counts = ({ agent }: { readonly agent: string }) => viewer.all || mine.has(agent)

    const dayAgo = span.to - 24 * hour
    const ended = (yield* endedSince(momentOf(Math.min(span.from, dayAgo)))).filter(counts)
    const series = { completed: zeros(span), failed: zeros(span), canceled: zeros(span) }
    for (const { endedAt, state } of ended) {
      const point = pointAt(span, endedAt)
      if (point !== undefined) series[state][point]!++
    }
    const live = yield* sql<{ agent: string; state: string; n: number }>`SELECT agent, state, count(*) AS n FROM runs
      WHERE ${inState(sql, open)} GROUP BY agent, state`
    const now = (...states: ReadonlyArray<string>) =>
      live.reduce((all, one) => (states.includes(one.state) && counts(one) ? all + one.n : all), 0)
    const busy = live.reduce((all, one) => (one.state === "running" ? all + one.n : all), 0)

    // wall clock: a day of a budget ends at a moment.
    const today = DateTime.formatIso(DateTime.makeUnsafe(span.to)).slice(0, 10)
    const left = Date.parse(`${today}T00:00:00.000Z`) + 24 * hour - span.to
    const lately = momentOf(span.to - 6 * hour)
    const costs = (yield* costSince(momentOf(Math.min(span.from, span.to - 6 * hour)))).filter(counts)
    const points = zeros(span)
    for (const { costMicros, saidAt } of costs) {
      const point = pointAt(span, saidAt)
      if (point !== undefined) points[point]! += costMicros
    }
    const { items, month } = yield* spend.report(viewer, 1)
    const spent = new Map(items.map((one) => [one.principal as string, one]))
    const byAgent: ReadonlyArray<AgentCost> = seen
      // Everybody has a budget; shown are those who spend, and those whose budget was set explicitly.
      .filter(({ id, limits }) => (spent.get(id)?.cost ?? 0) > 0 || limits.perDay?.cost !== undefined)
      .map((one) => {
        const { id, name } = one
        const so = spent.get(id)?.cost ?? 0
        const rate =
          sum(
            costs.filter(({ agent }) => agent === id),
            lately,
          ) / 1e6
        return {
          agent: id,
          name,
          today: so,
          forecast: forecastOf(so, rate, left),
          limit: limitsFor(one).perDay?.cost ?? null,
        }
      })
      .toSorted((a, b) => b.today - a.today || (a.name < b.name ? -1 : 1))
      .slice(0, maxAgents)
    const all = items.reduce((dollars, one) => dollars + one.cost, 0)

    const needs: Array<Need> = []
    const wakers = items
      .filter(({ woken }) => woken.tokens > 0 || woken.cost > 0)
      .toSorted((a, b) => b.woken.cost - a.woken.cost || b.woken.tokens - a.woken.tokens)
      .slice(0, maxAgents)
      .map(({ principal }) => principal)
    for (const { detail, isSpent, subject } of yield* spend.nearDays(wakers))
      needs.push({ kind: "budgetNear", subject, detail, urgent: isSpent })
    const failing = Map.groupBy(
      ended.filter(({ endedAt }) => endedAt >= momentOf(dayAgo)),
      ({ agent }) => agent,
    )
    for (const agent of seen) {
      const { id, name } = agent
      const { cost, tokens } = limitsFor(agent).perDay ?? {}
      const so = spent.get(id)
      // What others spent at its request counts against its day, too.
      const dollars = (so?.cost ?? 0) + (so?.caused ?? 0)
      const used = (so?.tokens.in ?? 0) + (so?.tokens.out ?? 0)
      const part = Math.max(cost === undefined || cost === 0 ? 0 : dollars / cost, tokens ? used / tokens : 0)
      if (part >= near)
        needs.push({
          kind: "budgetNear",
          subject: name,
          detail:
            part >= 1
              ? `It has spent its day: its runs stop until midnight UTC, or until its limits are raised.`
              : `It has spent ${Math.floor(part * 100)} % of its day.`,
          urgent: part >= 1,
        })
      const over = failing.get(id) ?? []
      const failed = over.filter(({ state }) => state === "failed").length
      if (failed >= enough && failed * 2 >= over.length)
        needs.push({
          kind: "agentFailing",
          subject: name,
          detail: `${failed} of its ${over.length} runs of the last 24 hours failed.`,
          urgent: false,
        })
    }
    if (viewer.all && month.limit !== null && month.cost >= near * month.limit)
      needs.push({
        kind: "budgetNear",
        subject: "house",
        detail: `The house has spent ${month.cost.toFixed(2)} of ${month.limit} USD this month (STOA_MONTH_BUDGET).`,
        urgent: month.cost >= month.limit,
      })
    const letters = viewer.all
      ? (yield* sql<{ n: number }>`SELECT count(*) AS n FROM dead_letters WHERE state = 'open'`)[0]!.n
      : 0
    if (letters > 0)
      needs.push({
        kind: "deadLetters",
        subject: "runs",
        detail: `${letters} ${letters === 1 ? "event" : "events"} could not be handled. List them with "stoa runs letters".`,
        urgent: false,
      })
    return {
      runs: {
        ...series,
        queued: now("queued"),
        running: now("running"),
        waiting: now("waiting_tool", "waiting_reply"),
        slots: { all: slots, free: Math.max(0, slots - busy) },
      },
      cost: {
        points: points.map((micros) => micros / 1e6),
        today: all,
        forecast: forecastOf(all, sum(costs, lately) / 1e6, left),
        month: { cost: month.cost, limit: month.limit },
        agents: byAgent,
      },
      needs,
    }
  }, Effect.orDie)
})
