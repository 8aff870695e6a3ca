/**
 * A program's last output answers those who wrote to it, if it has sent no answer itself. Written once, before the run
 * ends: a run that continues after a crash sees that it has answered.
 */
import { Caller, type MessageId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../access/rights/Grants.ts"
import { makeMessageReads } from "../../spaces/MessageReads.ts"
import { Messages } from "../../spaces/messages/Messages.ts"
import type { PostOptions } from "../../spaces/messages/PostOptions.ts"
import { Spaces } from "../../spaces/Spaces.ts"
import { Journal } from "../../store/journal/Journal.ts"
import type { RunRecorder } from "../record/record.ts"
import { envelopeOf, type RunRow, type TriggerRow } from "../record/rows.ts"

export const makeProgramReply = Effect.fnUntraced(function* (record: RunRecorder) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const grants = yield* Grants
  const spaces = yield* Spaces
  const messages = yield* Messages
  const reads = makeMessageReads(sql)

  /** The spaces in which a person wrote to this run and it has not written since. */
  const unanswered = (row: RunRow) =>
    reads.unansweredIn(
      row.id,
      sql`SELECT message FROM triggers WHERE run = ${row.id} AND message IS NOT NULL
        UNION SELECT r.message FROM wait_replies r JOIN waits w ON w.id = r.wait WHERE w.run = ${row.id}`,
    )

  /** Questions of its team that it has not answered, and whose author has not stopped waiting. */
  const asked = Effect.fnUntraced(function* (row: RunRow, triggers: ReadonlyArray<TriggerRow>) {
    const questions = triggers.filter(
      (one) => one.message !== null && ["request", "multicast"].includes(envelopeOf(one)?.kind ?? ""),
    )
    if (questions.length === 0) return []
    // A reader may not have processed an answer from a moment ago.
    const done = yield* Effect.orDie(
      sql<{ message: string }>`SELECT t.message FROM triggers t
        WHERE t.run = ${row.id} AND ${reads.hasAnswered(sql`${row.agent}`, sql`t.message`)}
        UNION SELECT w.message FROM waits w JOIN wait_parties p ON p.wait = w.id AND p.principal = ${row.agent}
        WHERE ${sql.in(
          "w.message",
          questions.map(({ message }) => message!),
        )} AND NOT (w.state = 'open' AND p.state = 'awaited')`,
    )
    return questions.filter(({ message: id }) => !done.some(({ message }) => message === id))
  })

  /** If a space takes no more posts, the run has no answer there, but ends. */
  const post = (
    row: RunRow,
    caller: Caller["Service"],
    where: string,
    said: { readonly text: string; readonly replyTo?: MessageId },
    more: Pick<PostOptions, "mail"> = {},
  ) =>
    Effect.gen(function* () {
      const viewer = yield* grants.viewerOf(caller, "spaces")
      yield* journal.transact(
        Effect.flatMap(spaces.get(where, viewer), (space) =>
          messages.post(space, viewer, said, { run: row.id, ...more }),
        ),
      )
    }).pipe(
      Effect.tapErrorTag("Forbidden", grants.recordDenial),
      Effect.catch((error) => Effect.logWarning(`Run ${row.id} could not answer: ${error.message}`)),
      Effect.provideService(Caller, caller),
      (posted) => record.because(row, posted),
    )

  return Effect.fnUntraced(function* (
    row: RunRow,
    triggers: ReadonlyArray<TriggerRow>,
    caller: Caller["Service"],
    text: string,
  ) {
    if (text === "") return
    for (const { author, message, space } of yield* asked(row, triggers))
      yield* post(row, caller, space!, { text, replyTo: message! }, { mail: { kind: "response", to: [author!] } })
    for (const space of yield* unanswered(row)) yield* post(row, caller, space, { text })
  })
})
