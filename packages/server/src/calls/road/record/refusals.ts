/**
 * Refused calls are recorded only while they are few: a loop of refused calls must not fill the disk, nor keep the
 * writer busy. Beyond the limit they are counted, and the count is recorded once a minute.
 */
import { Effect } from "effect"
import { Limits } from "../../../access/limits/Limits.ts"
import { skipIfDiskFull } from "../../../store/database/disk/FullDisk.ts"
import { causedBy, newCorrelation } from "../../../store/journal/Correlation.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import type { Attempt } from "../attempt.ts"

/** Per principal and minute. */
const refusedCalls = "calls/refused"

export const makeRefusals = Effect.gen(function* () {
  const limits = yield* Limits
  const journal = yield* Journal
  const scope = yield* Effect.scope
  /** Refusals since the last count that were not recorded individually. */
  const uncounted = new Map<Attempt["principal"], number>()

  const writeCount = Effect.fnUntraced(function* (principal: Attempt["principal"]) {
    const count = uncounted.get(principal) ?? 0
    if (!uncounted.delete(principal)) return
    const rule = `${count} more refused within a minute, not recorded one by one`
    const body = { principal, action: "execute", resource: "tools/*", rule }
    const cause = { correlationId: newCorrelation(), actor: principal, provenance: "outside" } as const
    const written = journal.transact(journal.append({ kind: "access.denied", body }))
    yield* skipIfDiskFull("how many calls were refused", causedBy(cause, written))
  })
  yield* Effect.addFinalizer(() => Effect.forEach([...uncounted.keys()], writeCount, { discard: true }))

  /** Records this refusal, or counts it. */
  return <A, E>({ caller, principal }: Attempt, record: Effect.Effect<A, E>): Effect.Effect<void, E> =>
    Effect.matchEffect(limits.take(caller, refusedCalls), {
      onSuccess: () => Effect.asVoid(record),
      onFailure: () => {
        const before = uncounted.get(principal)
        uncounted.set(principal, (before ?? 0) + 1)
        if (before !== undefined) return Effect.void
        const later = Effect.andThen(Effect.sleep("1 minute"), () => writeCount(principal))
        return Effect.asVoid(Effect.forkIn(later, scope))
      },
    })
})
