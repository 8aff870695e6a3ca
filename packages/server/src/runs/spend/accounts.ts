/**
 * What is spent, and on whose account of the day; and the sums, which every model request needs. The sums are cached:
 * read again as soon as this house has spent something, and after a second, since other houses spend too.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { makeInsert } from "../../store/database/dialect/Inserts.ts"
import { monotonicOf } from "../../store/Moment.ts"
import type { RunRow, Usage } from "../record/rows.ts"

interface Account {
  readonly agent: string
  readonly day: string
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costMicros: number
  readonly causedMicros: number
}
const accountNumbers = ["tokensIn", "tokensOut", "costMicros", "causedMicros"] as const
const accountColumns = ["agent", "day", ...accountNumbers] as const
/** Added to the existing row. */
const addUp = `ON CONFLICT (agent, day) DO UPDATE SET tokens_in = spend.tokens_in + excluded.tokens_in,
  tokens_out = spend.tokens_out + excluded.tokens_out, cost_micros = spend.cost_micros + excluded.cost_micros,
  caused_micros = spend.caused_micros + excluded.caused_micros`

export const makeAccounts = (sql: SqlClient.SqlClient) =>
  makeInsert<Account>(sql, "spend", accountColumns, addUp, accountNumbers)

/** One row per account, in the same order for all writers: the agent's own, and that of the principal it works for. */
export const accountsOf = (
  day: string,
  items: ReadonlyArray<{
    readonly row: Pick<RunRow, "agent" | "payer">
    readonly spent: Omit<Usage, "busyMs">
  }>,
): ReadonlyArray<Account> => {
  const all = new Map<string, Account>()
  const add = (more: Omit<Account, "day">): void => {
    const { causedMicros, costMicros, tokensIn, tokensOut } = all.get(more.agent) ?? {
      tokensIn: 0,
      tokensOut: 0,
      costMicros: 0,
      causedMicros: 0,
    }
    all.set(more.agent, {
      agent: more.agent,
      day,
      tokensIn: tokensIn + more.tokensIn,
      tokensOut: tokensOut + more.tokensOut,
      costMicros: costMicros + more.costMicros,
      causedMicros: causedMicros + more.causedMicros,
    })
  }
  for (const { row, spent } of items) {
    const { costMicros, tokensIn, tokensOut } = spent
    if (tokensIn + tokensOut + costMicros === 0) continue
    add({ agent: row.agent, tokensIn, tokensOut, costMicros, causedMicros: 0 })
    if (row.payer !== null)
      add({ agent: row.payer, tokensIn: 0, tokensOut: 0, costMicros: 0, causedMicros: costMicros })
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
