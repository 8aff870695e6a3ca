/** Removes expired rows: of the journal, of the audit, and stored answers. */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../store/journal/Journal.ts"
import { Readers } from "../../store/journal/readers/Readers.ts"
import { withinADay } from "../../store/Moment.ts"
import { retentionLayer } from "../../store/journal/retention/Retention.ts"
import { Audit } from "./Audit.ts"

/** A client that retries later than this has long given up. */
const answersKept = { hours: 24 }

const clean = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Events are removed only after every reader has passed them, so the cursors must be up to date.
  yield* (yield* Readers).writeDown
  const events = yield* (yield* Journal).retain
  const audited = yield* (yield* Audit).retain
  const term = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, answersKept))
  const oldest = yield* sql<{ at: string | null }>`SELECT min(created_at) AS at FROM answers`
  const before = withinADay(oldest[0]?.at, term)
  yield* sql`DELETE FROM answers WHERE created_at < ${before}`
  yield* Effect.logInfo(`Retention removed ${events} events and ${audited} audit rows`)
})

export const layerAuditRetention = retentionLayer({ name: "retention", work: clean })
