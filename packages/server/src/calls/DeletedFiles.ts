/**
 * A result that a space showed as a file is deleted with its message. Nobody can read it once the message is deleted;
 * its bytes are removed a little later, when nothing else can refer to them any more.
 */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Files } from "../store/Files.ts"
import { Journal } from "../store/journal/Journal.ts"
import { readerLayer } from "../store/journal/readers/Readers.ts"
import { Timers } from "../store/journal/Timers.ts"
import { unreferredFiles } from "./CallRetention.ts"

const purpose = "deleted-file"
/** Longer than a call takes from storing its file to writing the row that names it. */
const grace = { minutes: 5 }

interface Shown {
  readonly id: string
  readonly outputFile: string | null
  readonly meta: string | null
}

const fileIn = ({ meta, outputFile }: Shown): string | undefined =>
  outputFile ??
  (meta?.startsWith('{"file":') === true ? (JSON.parse(meta) as { readonly file: string }).file : undefined)

/** The call keeps its row, without the file. */
const forget = Effect.fnUntraced(function* (message: string) {
  const sql = yield* SqlClient.SqlClient
  const timers = yield* Timers
  const rows = yield* sql<Shown>`SELECT id, output_file, meta FROM calls WHERE message = ${message}`
  for (const row of rows) {
    const file = fileIn(row)
    if (file === undefined) continue
    const meta = row.outputFile === null ? null : row.meta
    yield* sql`UPDATE calls SET output_file = NULL, meta = ${meta} WHERE id = ${row.id}`
    const dueAt = DateTime.add(yield* DateTime.now, grace)
    yield* timers.set({ purpose, dueAt, payload: { file }, key: `${purpose} ${file}` })
  }
})

const remove = Effect.fnUntraced(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  const files = yield* Files
  const free = yield* unreferredFiles(sql, [file])
  yield* files.remove(free, DateTime.formatIso(yield* DateTime.now))
})

export const layerDeletedFiles = readerLayer({
  name: "deleted-files",
  atomic: false,
  kinds: ["message.deleted", "timer.fired"],
  handle: Effect.fnUntraced(function* ([event]) {
    const { transact } = yield* Journal
    if (event?.kind === "message.deleted") yield* transact(forget(event.body.message))
    if (event?.kind === "timer.fired" && event.body.purpose === purpose)
      yield* transact(remove((event.body.payload as { readonly file: string }).file))
  }),
})
