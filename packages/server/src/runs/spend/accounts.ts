/**
 * What is spent, and on whose account of the day; and the sums, which every model request needs. The sums are cached:
 * read again as soon as this house has spent something, and after a second, since other houses spend too.
 */
import type { PrincipalId } from "@stoa/contract"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { makeInsert } from "../../store/database/dialect/Inserts.ts"
import { monotonicOf } from "../../store/Moment.ts"
import type { RunRow, Usage } from "../record/rows.ts"

export interface Account {
  readonly agent: PrincipalId
  readonly day: string
  tokensIn: number
  tokensOut: number
  costMicros: number
  causedMicros: number
  wokenTokens: number
  wokenMicros: number
}
const accountNumbers = ["tokensIn", "tokensOut", "costMicros", "causedMicros", "wokenTokens", "wokenMicros"] as const
const accountColumns = ["agent", "day", ...accountNumbers] as const
const nothing: Omit<Account, "agent" | "day"> = {
  tokensIn: 0,
  tokensOut: 0,
  costMicros: 0,
  causedMicros: 0,
  wokenTokens: 0,
  wokenMicros: 0,
}
/** Added to the existing row. */
const addUp = `ON CONFLICT (agent, day) DO UPDATE SET tokens_in = spend.tokens_in + excluded.tokens_in,
  tokens_out = spend.tokens_out + excluded.tokens_out, cost_micros = spend.cost_micros + excluded.cost_micros,
  caused_micros = spend.caused_micros + excluded.caused_micros,
  woken_tokens = spend.woken_tokens + excluded.woken_tokens, woken_micros = spend.woken_micros + excluded.woken_micros`

/** Whose accounts a run's costs are on: its agent's, that of the agent it works for, and that of whoever woke it. */
export type Payers = Pick<RunRow, "agent" | "payer" | "causer">

export const makeAccounts = (sql: SqlClient.SqlClient) =>
  makeInsert<Account>(sql, "spend", accountColumns, addUp, accountNumbers)

/** One row per account, in the same order for all writers. */
export const accountsOf = (
  day: string,
  items: ReadonlyArray<{
    readonly row: Payers
    readonly spent: Omit<Usage, "busyMs">
  }>,
): ReadonlyArray<Account> => {
  const all = new Map<string, Account>()
  const add = (agent: PrincipalId, more: Partial<typeof nothing>): void => {
    const { ...account } = all.get(agent) ?? { agent, day, ...nothing }
    for (const key of accountNumbers) account[key] += more[key] ?? 0
    all.set(agent, account)
  }
  for (const { row, spent } of items) {
    const { costMicros, tokensIn, tokensOut } = spent
    if (tokensIn + tokensOut + costMicros === 0) continue
    add(row.agent, { tokensIn, tokensOut, costMicros })
    if (row.payer !== null) add(row.payer, { causedMicros: costMicros })
    if (row.causer !== null) add(row.causer, { wokenTokens: tokensIn + tokensOut, wokenMicros: costMicros })
  }
  return [...all.values()].toSorted((one, other) => (one.agent < other.agent ? -1 : 1))
}

const longest = 1000
const most = 1000

const changes = new WeakMap<SqlClient.SqlClient, { count: number }>()
const changesOf = (sql: SqlClient.SqlClient) => {
  const there = changes.get(sql) ?? { count: 0 }
  changes.set(sql, there)
  return there
}

/** Something was spent, and is committed. */
export const hasSpent = (sql: SqlClient.SqlClient): Effect.Effect<void> =>
  Effect.sync(() => void changesOf(sql).count++)

export const makeSumCache = Effect.fnUntraced(function* <A>(
  sql: SqlClient.SqlClient,
  count: (key: string) => Effect.Effect<A>,
) {
  const clock = yield* Clock.Clock
  const now = changesOf(sql)
  const kept = new Map<string, { readonly sum: A; readonly at: number }>()
  let counted = now.count
  return Effect.fnUntraced(function* (key: string) {
    if (counted !== now.count || kept.size >= most) {
      counted = now.count
      kept.clear()
    }
    const [known, at, before] = [kept.get(key), monotonicOf(clock), counted]
    if (known !== undefined && at - known.at < longest) return known.sum
    const sum = yield* count(key)
    if (now.count === before && counted === before) kept.set(key, { sum, at })
    return sum
  })
})
