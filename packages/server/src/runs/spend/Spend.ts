/**
 * What is spent, and what is left. What a step may cost is reserved before its model is asked, in the row of its run, so
 * that runs at the same time do not all count on the same money; the row is settled with the step, and whoever takes
 * the run over from a dead house frees it. Priced tools are paid for here, before they run.
 */
import { type PrincipalId, Spend as Spent, SpendReport } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { seesWorkOf } from "../../access/identity/Agents.ts"
import type { BasicViewer } from "../../access/rights/Viewer.ts"
import { Budget as CallBudget } from "../../calls/road/Budget.ts"
import { Settings } from "../../Settings.ts"
import { lockName } from "../../store/database/dialect/Locks.ts"
import { inState } from "../../store/database/dialect/States.ts"
import { makeBatch } from "../../store/journal/Batch.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { from } from "../record/lifecycle.ts"
import { makeRunRecorder } from "../record/record.ts"
import { limitsOf, type RunRow } from "../record/rows.ts"
import { type BudgetUse, exceededBudget } from "../working/limits.ts"
import { type Account, makeSumCache } from "./accounts.ts"
import { type Budget, makeBudgets, near, type Reservation, shareOf, type Spender } from "./budgets.ts"

/** The most that a step may cost. */
export interface Estimate {
  readonly tokens: number
  readonly costMicros: number
}

/** `wait`: the budget is not spent, but may be by what others are asking for now. `lost`: the run is no longer ours. */
export type Reserved =
  | { readonly is: "reserved" | "wait" | "lost" }
  | { readonly is: "spent"; readonly failure: string }

const sumOf = (budget: Budget, others: ReadonlyArray<Reservation>): BudgetUse => {
  let { costMicros, tokens } = budget
  for (const one of others)
    if (budget.counts(one)) {
      costMicros += one.costMicros
      tokens += one.tokens
    }
  return { ...budget, costMicros, tokens }
}

export class Spend extends Context.Service<
  Spend,
  {
    /** The present state of the budgets beyond the run's own that apply to it. It may be a moment old. */
    readonly budgetsOf: (run: Spender) => Effect.Effect<ReadonlyArray<BudgetUse>>
    /** Before a step is asked for: nothing is left for the next one as soon as the reservations fill a budget. */
    readonly reserve: (run: RunRow, estimate: Estimate) => Effect.Effect<Reserved>
    readonly report: (viewer: BasicViewer, days: number) => Effect.Effect<SpendReport>
    /** Of those who have woken agents today, the days that are spent or nearly so, as sentences. */
    readonly nearDays: (
      who: ReadonlyArray<PrincipalId>,
    ) => Effect.Effect<ReadonlyArray<{ readonly subject: string; readonly detail: string; readonly isSpent: boolean }>>
  }
>()("server/runs/Spend") {
  static readonly layer = Layer.effectContext(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const record = yield* makeRunRecorder
      const { monthBudget } = yield* Settings
      const budgets = yield* makeBudgets
      const { counts } = budgets

      const cached = {
        spent: yield* makeSumCache(sql, counts.spent),
        woken: yield* makeSumCache(sql, counts.woken),
        owned: yield* makeSumCache(sql, counts.owned),
      }
      const budgetsOf: Spend["Service"]["budgetsOf"] = (run) => budgets.of(cached, run)

      /** Reading and reserving, or paying, are one step: two at once would both find enough. */
      const inTurn = Effect.orDie(lockName(sql, "spend", "pay"))

      interface Asked {
        readonly run: RunRow
        readonly estimate: Estimate
      }
      const reserveOne = Effect.fnUntraced(function* ({ estimate, run }: Asked): Effect.fn.Return<Reserved> {
        const others = (yield* budgets.reserved).filter(({ id }) => id !== run.id)
        let isFull = false
        for (const budget of yield* budgets.of(counts, run)) {
          const failure = exceededBudget(budget)
          if (failure !== undefined) return { is: "spent", failure }
          isFull ||= exceededBudget(sumOf(budget, others)) !== undefined
        }
        if (isFull) return { is: "wait" }
        const rows = yield* Effect.orDie(sql`UPDATE runs SET reserved_tokens = ${estimate.tokens},
          reserved_micros = ${estimate.costMicros} WHERE id = ${run.id} AND fence = ${run.fence}
          AND ${inState(sql, from("advance"))} RETURNING id`)
        return { is: rows.length > 0 ? "reserved" : "lost" }
      })
      const reserveSome = (asked: ReadonlyArray<Asked>) =>
        journal.transact(
          Effect.gen(function* () {
            yield* inTurn
            const answers = new Map<Asked, Reserved>()
            for (const one of asked) answers.set(one, yield* reserveOne(one))
            return (one: Asked) => answers.get(one)!
          }),
        )
      const reserveTogether = yield* makeBatch(reserveSome)
      const reserve: Spend["Service"]["reserve"] = (run, estimate) => reserveTogether({ run, estimate })

      const pay: CallBudget["Service"]["pay"] = Effect.fn("Spend.pay")(function* ({ micros, principal, run }) {
        yield* journal.transact(
          Effect.gen(function* () {
            yield* inTurn
            const row = run === null ? undefined : yield* record.byId(run.id)
            const limits = row === undefined ? { perDay: (yield* budgets.agentOf(principal)).own } : limitsOf(row)
            const payers = {
              agent: principal,
              payer: row?.payer ?? null,
              causer: row === undefined ? principal : (row.causer ?? row.agent),
            }
            const all = yield* budgets.of(counts, {
              ...payers,
              triggerSpace: row?.triggerSpace ?? null,
              limits: JSON.stringify(limits.perDay === undefined ? {} : { perDay: limits.perDay }),
            })
            const own: ReadonlyArray<Budget> =
              row === undefined || limitsOf(row).cost === undefined
                ? []
                : [
                    {
                      name: "The run",
                      period: "so far",
                      costMicros: row.costMicros,
                      tokens: 0,
                      limits: { cost: limitsOf(row).cost! },
                      counts: () => false,
                    },
                  ]
            const others = (yield* budgets.reserved).filter(({ id }) => id !== row?.id)
            for (const budget of [...own, ...all]) {
              const why = exceededBudget(sumOf(budget, others), micros)
              if (why !== undefined) return yield* Effect.fail(why)
            }
            const spent = { tokensIn: 0, tokensOut: 0, costMicros: micros }
            yield* record.spendToday(payers, spent)
            if (row !== undefined)
              yield* Effect.orDie(sql`UPDATE runs SET cost_micros = cost_micros + ${micros} WHERE id = ${row.id}`)
          }),
        )
      })

      const seenBy = (viewer: BasicViewer) => seesWorkOf(sql, viewer, sql`s.agent`)

      const report: Spend["Service"]["report"] = Effect.fn("Spend.report")(function* (viewer, days) {
        const now = yield* DateTime.now
        const since = DateTime.formatIso(DateTime.subtract(now, { days: days - 1 })).slice(0, 10)
        const name = DateTime.formatIso(now).slice(0, 7)
        const rows = yield* sql<Account>`SELECT s.* FROM spend s WHERE s.day >= ${since} AND ${seenBy(viewer)}
          ORDER BY s.day DESC, s.agent LIMIT 10000`
        const sum = yield* sql<{
          costMicros: number | null
        }>`SELECT CAST(sum(s.cost_micros) AS BIGINT) AS cost_micros FROM spend s
          WHERE s.day >= ${`${name}-01`} AND s.day <= ${`${name}-31`} AND ${seenBy(viewer)}`
        return new SpendReport({
          items: rows.map(
            (row) =>
              new Spent({
                principal: row.agent,
                day: row.day,
                tokens: { in: row.tokensIn, out: row.tokensOut },
                cost: row.costMicros / 1e6,
                caused: row.causedMicros / 1e6,
                woken: { cost: row.wokenMicros / 1e6, tokens: row.wokenTokens },
              }),
          ),
          month: { name, cost: (sum[0]?.costMicros ?? 0) / 1e6, limit: monthBudget },
        })
      }, Effect.orDie)

      const nearDays: Spend["Service"]["nearDays"] = Effect.fn("Spend.nearDays")(function* (who) {
        const days = yield* Effect.forEach(who, (one) => budgets.daysOf(cached, one))
        const byName = new Map(days.flat().map((day) => [day.name, day]))
        return [...byName.values()].flatMap((day) => {
          const part = shareOf(day)
          if (part < near) return []
          const failure = exceededBudget(day)
          const said = `What this has woken agents for has cost ${Math.floor(part * 100)} % of the day.`
          return [{ subject: day.subject, detail: failure ?? said, isSpent: failure !== undefined }]
        })
      })

      return Context.make(Spend, { budgetsOf, reserve, report, nearDays }).pipe(Context.add(CallBudget, { pay }))
    }),
  )
}
