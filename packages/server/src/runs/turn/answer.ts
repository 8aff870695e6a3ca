/**
 * What a program printed last is its answer to whoever wrote to it, where it has sent none itself. Written before the run ends,
 * once: a run that goes on after a crash finds that it has answered.
 */
import type { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../access/rights/Grants.ts"
import { Messages } from "../../spaces/Messages.ts"
import { Spaces } from "../../spaces/Spaces.ts"
import { Journal } from "../../store/journal/Journal.ts"
import type { Record } from "../record.ts"
import type { RunRow, TriggerRow } from "../rows.ts"

export const makeAnswer = Effect.fnUntraced(function* (record: Record) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const grants = yield* Grants
  const spaces = yield* Spaces
  const messages = yield* Messages

  /** The newest message of a person, in each space, that this run has not spoken in. */
  const unanswered = Effect.fnUntraced(function* (row: RunRow, triggers: ReadonlyArray<TriggerRow>) {
    const heard = triggers.filter(({ message, space }) => message !== null && space !== null)
    if (heard.length === 0) return []
    const people = yield* Effect.orDie(
      sql<{ id: string }>`SELECT id FROM principals WHERE kind = 'person'
        AND ${sql.in(
          "id",
          heard.map(({ author }) => author ?? ""),
        )}`,
    )
    const spoken = yield* Effect.orDie(
      sql<{ space: string }>`SELECT DISTINCT space FROM messages WHERE run = ${row.id} AND call IS NULL`,
    )
    const isOpen = ({ author, space }: TriggerRow) =>
      people.some(({ id }) => id === author) && !spoken.some((one) => one.space === space)
    return [...new Map(heard.filter(isOpen).map((one) => [one.space!, one])).values()]
  })

  return Effect.fnUntraced(function* (
    row: RunRow,
    triggers: ReadonlyArray<TriggerRow>,
    caller: Caller["Service"],
    text: string,
  ) {
    if (text === "") return
    for (const { space: where } of yield* unanswered(row, triggers))
      yield* Effect.gen(function* () {
        const viewer = yield* grants.viewerOf(caller, "spaces")
        const space = yield* spaces.get(where!, viewer)
        yield* record.because(row, journal.transact(messages.post(space, viewer, { text }, { run: row.id })))
      }).pipe(
        // A space that takes no more posts costs the run its answer, not its end.
        Effect.catch((error) => Effect.logWarning(`Run ${row.id} could not answer: ${error.message}`)),
      )
  })
})
