/**
 * How many calls were made when, how they ended and how long they took. Reads newest first and in pieces, so that it
 * blocks nobody, and at most `maxRead` calls: in a busy house older calls are left out, and the answer says so.
 */
import type { CallState } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { momentOf, pointAt, pointsOf, quantile, type TimeSpan, zeros } from "../store/TimeSpan.ts"
import { type CallRow, tookMs } from "./road/record/rows.ts"

const maxRead = 100_000
const atOnce = 2000

type Walked = Pick<
  CallRow,
  "id" | "principal" | "tool" | "space" | "visibility" | "state" | "onKind" | "createdAt" | "settledAt"
>

/**
 * Whose calls count: everybody's, those of a server's tools, or those of some principals plus those shown in some
 * spaces.
 */
export type CallScope =
  | "all"
  | { readonly server: string }
  | { readonly principals: ReadonlySet<string>; readonly spaces: ReadonlySet<string> }

const outcome = {
  done: "done",
  failed: "failed",
  refused: "refused",
  canceled: "ended",
  expired: "ended",
  received: "open",
  waiting: "open",
  running: "open",
} as const satisfies Record<CallState, string>

const counts = (counted: CallScope, { principal, space, tool, visibility }: Walked): boolean => {
  if (counted === "all") return true
  if ("server" in counted) return tool.startsWith(`${counted.server}/`)
  return counted.principals.has(principal) || (space !== null && visibility !== "hidden" && counted.spaces.has(space))
}

/** How often each of these tools was called since a moment, counting at most its newest `most` calls. */
export const makeToolCounts = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fn("ToolCounts")(function* (tools: ReadonlyArray<string>, from: number, most: number) {
    const counted: Array<number> = []
    for (const tool of tools) {
      const rows = yield* Effect.orDie(sql<{ readonly calls: number }>`SELECT count(*) AS calls FROM (
        SELECT created_at FROM calls WHERE tool = ${tool} ORDER BY id DESC LIMIT ${most}) AS newest
        WHERE created_at >= ${momentOf(from)}`)
      counted.push(rows[0]!.calls)
      yield* Effect.yieldNow
    }
    return counted
  }),
)

export const makeCallFigures = Effect.map(SqlClient.SqlClient, (sql) => {
  const page = (before: string | undefined) =>
    Effect.orDie(sql<Walked>`SELECT id, principal, tool, space, visibility, state, on_kind, created_at, settled_at FROM calls
      ${before === undefined ? sql`` : sql`WHERE id < ${before}`} ORDER BY id DESC LIMIT ${atOnce}`)

  return Effect.fn("CallFigures")(function* (counted: CallScope, span: TimeSpan, most = maxRead) {
    const from = momentOf(span.from)
    const aMinuteAgo = momentOf(span.to - 60_000)
    const series = {
      done: zeros(span),
      failed: zeros(span),
      refused: zeros(span),
      ended: zeros(span),
      open: zeros(span),
    }
    const took: Array<Array<number>> = Array.from({ length: pointsOf(span) }, () => [])
    let lastMinute = 0
    let read = 0
    let before: string | undefined
    let since: string | null = null
    while (true) {
      const rows: ReadonlyArray<Walked> = yield* page(before)
      for (const row of rows) {
        if (!counts(counted, row)) continue
        if (row.createdAt > aMinuteAgo) lastMinute++
        const point = pointAt(span, row.createdAt)
        if (point === undefined) continue
        series[outcome[row.state]][point]!++
        const worked = (row.state === "done" || row.state === "failed") && row.onKind === null && row.settledAt !== null
        if (worked) took[point]!.push(tookMs(row.createdAt, row.settledAt))
      }
      read += rows.length
      const last = rows.at(-1)
      // Ids are in order of time: after a whole piece of older calls there are no younger ones.
      if (last === undefined || rows.length < atOnce || rows.every(({ createdAt }) => createdAt < from)) break
      if (read >= most) {
        since = last.createdAt
        break
      }
      before = last.id
      yield* Effect.yieldNow
    }
    return {
      ...series,
      p50: took.map((all) => quantile(all, 0.5)),
      p95: took.map((all) => quantile(all, 0.95)),
      lastMinute,
      since,
    }
  })
})
