/** What came of an agent's wait: the replies that its call returned, and the wait itself. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What the first call of a run gave back. */
export const firstOutput = Effect.fnUntraced(function* (run: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ output: string | null; state: string }>`SELECT output, state FROM calls
    WHERE run = ${run.id} AND step = 1 AND place = 1`
  return JSON.parse(row!.output ?? "null") as {
    readonly status: string
    readonly replies: ReadonlyArray<{ readonly text: string; readonly authorId: string }>
    readonly missing: ReadonlyArray<string>
    readonly waitedMs: number
    readonly ended?: string
  }
})

export const waitOf = Effect.fnUntraced(function* (run: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{ id: string; message: string }>`SELECT id, message FROM waits WHERE run = ${run.id}`)[0]!
})

export const gateway = { toolsets: ["gateway" as const] }
