/**
 * Standing approvals: this principal, this tool, as the tool was defined when the approval was given. Revocable at any
 * time.
 */
import { Approval, Missing, type Page, type PageQuery, type PrincipalId, type Reach } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { BasicViewer } from "../access/rights/Viewer.ts"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"

const decode = Schema.decodeUnknownSync(Approval)

export class Approvals extends Context.Service<
  Approvals,
  {
    readonly keep: (given: {
      readonly principal: PrincipalId
      readonly tool: string
      readonly fingerprint: string
      readonly decision: string
      readonly by: PrincipalId
      /** Valid for one run and its sub-agents; null: always. */
      readonly run: string | null
    }) => Effect.Effect<void, never, Transaction>
    /**
     * A matching standing approval that reaches no further than `reach`: whoever asks says how far the tool allows now. A
     * tool whose definition changed is another tool.
     */
    readonly standing: (asked: {
      readonly principal: PrincipalId
      readonly tool: string
      readonly fingerprint: string
      readonly run: string | undefined
      readonly reach: Reach
    }) => Effect.Effect<Approval | undefined>
    readonly list: (viewer: BasicViewer, query: PageQuery) => Effect.Effect<Page<Approval>>
    readonly revoke: (id: string, by: BasicViewer) => Effect.Effect<void, Missing, Transaction>
  }
>()("server/decisions/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const columns = sql`id, principal, tool, decision, given_by, created_at`

      const keep: Approvals["Service"]["keep"] = Effect.fn("Approvals.keep")(function* (given) {
        const { by, decision, fingerprint, principal, run, tool } = given
        const id = newId<Approval["id"]>("apv")
        const createdAt = DateTime.formatIso(yield* DateTime.now)
        const row = { id, principal, tool, fingerprint, decision, givenBy: by, createdAt, run }
        yield* Effect.orDie(sql`INSERT INTO approvals ${sql.insert(row)}`)
        yield* journal.append({ kind: "approval.given", actor: by, body: { approval: id, principal, tool } })
      })

      const standing: Approvals["Service"]["standing"] = Effect.fnUntraced(function* (asked) {
        const { fingerprint, principal, reach, run, tool } = asked
        const whom = [
          ...(reach === "always" ? [sql`(run IS NULL AND principal = ${principal})`] : []),
          ...(reach !== "once" && run !== undefined ? [sql`run = ${run}`] : []),
        ]
        if (whom.length === 0) return undefined
        const rows = yield* Effect.orDie(
          sql`SELECT ${columns} FROM approvals WHERE ${sql.or(whom)} AND tool = ${tool}
            AND fingerprint = ${fingerprint} AND revoked_at IS NULL`,
        )
        return rows[0] === undefined ? undefined : decode(rows[0])
      })

      // The giver and the holder may revoke it; admins may revoke any.
      const whose = ({ all, principal: { id } }: BasicViewer) =>
        all ? sql`1 = 1` : sql`(principal = ${id} OR given_by = ${id})`

      const list: Approvals["Service"]["list"] = Effect.fn("Approvals.list")(function* (viewer, query) {
        const { after, limit } = pageFrom(query)
        const rows = yield* Effect.orDie(
          sql`SELECT ${columns} FROM approvals WHERE revoked_at IS NULL AND run IS NULL AND ${whose(viewer)} AND id > ${after}
            ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(
          rows,
          limit,
          (row) => decode(row),
          (one) => one.id,
        )
      })

      const revoke: Approvals["Service"]["revoke"] = Effect.fn("Approvals.revoke")(function* (id, by) {
        const now = DateTime.formatIso(yield* DateTime.now)
        const rows = yield* Effect.orDie(
          sql`UPDATE approvals SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL AND ${whose(by)}
            RETURNING ${columns}`,
        )
        if (rows[0] === undefined) return yield* new Missing({ noun: "approval", ref: id })
        const { principal, tool } = decode(rows[0])
        yield* journal.append({ kind: "approval.revoked", body: { approval: id as Approval["id"], principal, tool } })
      })

      return Approvals.of({ keep, standing, list, revoke })
    }),
  )
}
