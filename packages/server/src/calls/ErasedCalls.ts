/**
 * When a principal has erased its memory, what its calls of memory tools store is erased too: inputs, results, files,
 * and the questions asked about them. That there was a call, when, and how it ended is kept. Works step by step; doing
 * it twice changes nothing.
 */
import type { PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eraseInputs } from "../decisions/DecisionRetention.ts"
import { Files } from "../store/Files.ts"
import { Journal } from "../store/journal/Journal.ts"
import { readerLayer } from "../store/journal/readers/Readers.ts"
import { Catalogue } from "./catalogue/Catalogue.ts"
import { unreferredFiles } from "./CallRetention.ts"
import type { CallRow } from "./road/record/rows.ts"

const atOnce = 100
const erased = JSON.stringify({ erased: true })

type StoredResult = Pick<CallRow, "id" | "output" | "outputFile" | "error">

/** Keeps which error it was, without its message, which may repeat the input. */
const errorOf = (error: string | null): string | null =>
  error === null
    ? null
    : JSON.stringify({ ...(JSON.parse(error) as object), message: "erased with its caller's memory" })

const makeErasing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* Files
  const catalogue = yield* Catalogue

  const some = Effect.fnUntraced(function* (principal: PrincipalId, before: string, after: string) {
    const rows =
      yield* sql<StoredResult>`SELECT id, output, output_file, error FROM calls WHERE principal = ${principal}
      AND id > ${after} AND ${sql.in("tool", catalogue.memoryTools())} AND created_at <= ${before}
      AND settled_at IS NOT NULL AND input <> ${erased} ORDER BY id LIMIT ${atOnce}`
    for (const { error, id, output } of rows)
      yield* sql`UPDATE calls SET input = ${erased}, output = ${output === null ? null : erased}, output_file = NULL,
        output_size = NULL, meta = NULL, error = ${errorOf(error)} WHERE id = ${id}`
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0) {
      yield* sql`DELETE FROM call_questions WHERE ${sql.in("call", ids)}`
      yield* eraseInputs(sql, ids, erased)
    }
    const theirs = [...new Set(rows.flatMap(({ outputFile }) => outputFile ?? []))]
    if (theirs.length > 0) yield* files.remove(yield* unreferredFiles(sql, theirs), before)
    return ids.at(-1)
  }, Effect.orDie)

  return Effect.fn("ErasedCalls.erase")(function* (principal: PrincipalId, before: string) {
    const { transact } = yield* Journal
    let after: string | undefined = ""
    while (after !== undefined) after = yield* transact(some(principal, before, after))
  })
})

export const layerErasedCalls = readerLayer({
  name: "erased-calls",
  atomic: false,
  kinds: ["memory.erased"],
  handle: Effect.fnUntraced(function* ([event]) {
    if (event?.kind !== "memory.erased") return
    yield* (yield* makeErasing)(event.body.principal, event.body.before)
  }),
})
