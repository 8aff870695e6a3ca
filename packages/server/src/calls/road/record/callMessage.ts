/**
 * A visible call in its space (S1-13, S1-62): one message, with the same table, numbering and stream as other messages,
 * posted when the call begins and completed when it ends; a `result-only` call is posted when it has ended (S1-15).
 */
import type { DecisionId, MessageCall, MessageId, RunId, SpaceId, Visibility } from "@stoa/contract"
import { Effect, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../../access/rights/Grants.ts"
import { Messages } from "../../../spaces/messages/Messages.ts"
import { Spaces } from "../../../spaces/Spaces.ts"
import { runOf } from "../attempt.ts"
import { type CallRow, errorFrom, tookMs } from "./rows.ts"

type Posted = Omit<CallRow, "message">

/** The question it waits for, or waited for last: a call that only its client is asked about waits for itself. */
const decisionOf = ({ onId, onKind }: Posted): Partial<MessageCall> =>
  (onKind === "decision" || onKind === "client") && onId?.startsWith("dcs_") === true
    ? { decision: onId as DecisionId }
    : {}

const callOf = (row: Posted): MessageCall => {
  const run = runOf(row)
  return {
    id: row.id,
    tool: row.tool,
    input: JSON.parse(row.input) as Schema.Json,
    ...(row.customUi === null ? {} : { customUI: row.customUi }),
    state: row.state,
    ...(row.rule === null ? {} : { rule: row.rule }),
    ...(run === null ? {} : { run }),
    ...decisionOf(row),
    ...(row.settledAt === null ? {} : { durationMs: tookMs(row.createdAt, row.settledAt) }),
  }
}

const endOf = (row: Pick<CallRow, "error" | "output" | "outputFile" | "outputSize">): Partial<MessageCall> => {
  if (row.error !== null) return { error: errorFrom(row.error) }
  if (row.outputFile !== null) return { output: { file: row.outputFile, size: row.outputSize ?? 0 } }
  return { output: JSON.parse(row.output ?? "null") as Schema.Json }
}

export const makeCallMessage = Effect.gen(function* () {
  const messages = yield* Messages
  const spaces = yield* Spaces
  const grants = yield* Grants
  const sql = yield* SqlClient.SqlClient

  const post = Effect.fnUntraced(function* (row: Posted, call: MessageCall) {
    // By its present rights: a call posts only where its caller may post.
    const author = yield* grants.viewerNow(row.principal, row.context, "spaces")
    const space = yield* spaces.get(row.space as SpaceId, author)
    const { id } = yield* messages.post(
      space,
      author,
      { text: "" },
      {
        call,
        provenance: "tool",
        ...(row.run === null ? {} : { run: row.run as RunId }),
      },
    )
    return id
  })

  /** If a space takes no more posts, the call has no message, but does not fail. */
  const orNone = (effect: ReturnType<typeof post>, row: Posted) =>
    Effect.catch(effect, (error) =>
      Effect.as(Effect.logWarning(`Call ${row.id} of ${row.tool} was not posted: ${error.message}`), null),
    )

  return {
    /** The call begins: posts its message, or nothing if it is not visible yet. */
    begin: (row: Posted, visibility: Visibility) =>
      row.space !== null && visibility === "visible" ? orNone(post(row, callOf(row)), row) : Effect.succeed(null),

    /** The call waits or continues. */
    change: (row: CallRow) =>
      row.message === null ? Effect.void : messages.changeCall(row.message as MessageId, callOf(row)),

    /** The call has ended: one message, completed or posted now. */
    end: Effect.fnUntraced(function* (row: CallRow) {
      const now = row.visibility === "result-only" && row.space !== null
      if (row.message === null && !now) return
      const call = { ...callOf(row), ...endOf(row) }
      if (row.message !== null) yield* messages.settleCall(row.message as MessageId, call)
      else {
        const message = yield* orNone(post(row, call), row)
        yield* Effect.orDie(sql`UPDATE calls SET message = ${message} WHERE id = ${row.id}`)
      }
    }),
  }
})
