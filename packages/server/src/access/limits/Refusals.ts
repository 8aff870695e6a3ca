/**
 * Refusals are recorded one by one only while they are few: a loop of them must not fill the disk, nor keep the writer
 * busy. Beyond a limit they are counted, and the count is recorded once a minute.
 */
import type { PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { skipIfDiskFull } from "../../store/database/disk/FullDisk.ts"
import { causedBy, newCorrelation } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"

/** What the count is about. */
interface Refused {
  readonly principal: PrincipalId
  readonly action: string
  readonly resource: string
}

export const makeRefusals = Effect.gen(function* () {
  const journal = yield* Journal
  const scope = yield* Effect.scope
  /** Refusals since the last count that were not recorded individually. */
  const uncounted = new Map<PrincipalId, number>()

  const writeCount = Effect.fnUntraced(function* ({ action, principal, resource }: Refused) {
    const count = uncounted.get(principal) ?? 0
    if (!uncounted.delete(principal)) return
    const rule = `${count} more refused within a minute, not recorded one by one`
    const cause = { correlationId: newCorrelation(), actor: principal, provenance: "outside" } as const
    const body = { principal, action, resource, rule }
    const written = journal.transact(journal.append({ kind: "access.denied", body }))
    yield* skipIfDiskFull("how much was refused", causedBy(cause, written))
  })

  /** Records this refusal, or counts it if it is one too many: then `taken` fails. */
  return <A, E>(
    refused: Refused,
    taken: Effect.Effect<void, unknown>,
    record: Effect.Effect<A, E>,
  ): Effect.Effect<void, E> =>
    Effect.matchEffect(taken, {
      onSuccess: () => Effect.asVoid(record),
      onFailure: () => {
        const { principal } = refused
        const before = uncounted.get(principal)
        uncounted.set(principal, (before ?? 0) + 1)
        if (before !== undefined) return Effect.void
        // Also when the house closes.
        const later = Effect.ensuring(
          Effect.sleep("1 minute"),
          Effect.suspend(() => writeCount(refused)),
        )
        return Effect.asVoid(Effect.forkIn(later, scope))
      },
    })
})
