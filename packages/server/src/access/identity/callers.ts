/** The caller of a credential, by its hash: looked up once, and again when any right has changed since. */
import { type AccessContext, type Caller, type TokenId, Unauthenticated } from "@stoa/contract"
import { Clock, DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { resolvedValue } from "../../store/fibers/Resolved.ts"
import { monotonicOf } from "../../store/Moment.ts"
import { rightsEpoch } from "../rights/Rights.ts"
import { principalFromRow } from "./Principals.ts"

/** Last use is stored with a precision of a minute: more would make every read a write. */
const useNotedEvery = 60_000

interface Found {
  readonly tokenId: TokenId
  readonly context: AccessContext
  readonly expiresAt: string | null
  readonly epoch: number
  readonly turnRun: string | null
  readonly turnStep: number | null
  readonly turnRoot: string | null
}

export const makeCallers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock
  const epochNow = yield* rightsEpoch
  const noted = new Map<string, number>()

  const noteUse = Effect.fnUntraced(function* (id: string, now: number) {
    if (noted.size > 10_000) noted.clear()
    noted.set(id, monotonicOf(clock))
    const at = DateTime.formatIso(DateTime.makeUnsafe(now))
    yield* sql`UPDATE tokens SET last_used_at = ${at} WHERE id = ${id}`.pipe(Effect.ignore, Effect.forkDetach)
  })
  const isNoted = (id: string): boolean => monotonicOf(clock) - (noted.get(id) ?? -Infinity) < useNotedEvery

  // A token is looked up once; every request checks whether any right has changed since.
  const callers = new Map<
    string,
    { readonly caller: Caller["Service"]; readonly answer: Effect.Effect<Caller["Service"]> }
  >()

  const lookUp = Effect.fnUntraced(function* (key: string) {
    const rows = yield* Effect.orDie(
      sql<Found>`SELECT t.id AS token_id, t.context, t.expires_at, t.run AS turn_run, t.step AS turn_step,
        t.root AS turn_root, p.*,
        (SELECT epoch FROM access_epoch) AS epoch
        FROM tokens t JOIN principals p ON p.id = t.principal
        WHERE t.hash = ${key} AND t.revoked_at IS NULL AND p.retired_at IS NULL`,
    )
    const now = yield* DateTime.now
    const row = rows[0]
    if (row === undefined || (row.expiresAt !== null && row.expiresAt <= DateTime.formatIso(now)))
      return yield* new Unauthenticated({ reason: "refused" })
    const millis = DateTime.toEpochMillis(now)
    if (!isNoted(row.tokenId)) yield* noteUse(row.tokenId, millis)
    const expiresAt = row.expiresAt === null ? null : DateTime.makeUnsafe(row.expiresAt)
    const caller = {
      principal: principalFromRow(row),
      context: row.context,
      token: row.tokenId,
      expiresAt,
      epoch: row.epoch,
      ...(row.turnRun === null ? {} : { run: row.turnRun, turn: { step: row.turnStep!, root: row.turnRoot! } }),
    }
    if (callers.size > 10_000) callers.clear()
    callers.set(key, { caller, answer: Effect.succeed(caller) })
    return caller
  })

  // Runs at every request: a known caller is returned without a fiber.
  return (key: string): Effect.Effect<Caller["Service"], Unauthenticated> => {
    const known = callers.get(key)
    if (known === undefined) return lookUp(key)
    const { answer } = known
    const { epoch: since, expiresAt, token: id } = known.caller
    // wall clock: tokens end at a moment.
    const now = clock.currentTimeMillisUnsafe()
    const epoch = epochNow()
    if (
      (expiresAt === null || now < expiresAt.epochMilliseconds) &&
      isNoted(id!) &&
      resolvedValue(epoch)?.value === since
    )
      return answer
    return Effect.flatMap(epoch, (stands) => {
      if (stands === since && (expiresAt === null || now < expiresAt.epochMilliseconds))
        return isNoted(id!) ? answer : Effect.andThen(noteUse(id!, now), answer)
      callers.delete(key)
      return lookUp(key)
    })
  }
})
