/**
 * Requests that wait for a call to settle, as somebody whose access may end meanwhile: then they get nothing. Only the
 * listeners are kept in memory; the call itself is a row, and goes on.
 */
import type { Caller, Unauthenticated } from "@stoa/contract"
import { Deferred, Effect } from "effect"
import type { Endings } from "../../access/identity/Endings.ts"
import type { CallNews } from "./CallNews.ts"
import { isSettled } from "../road/record/lifecycle.ts"
import type { CallRecorder } from "../road/record/record.ts"
import type { CallRow } from "../road/record/rows.ts"

interface Listener {
  readonly done: Deferred.Deferred<CallRow>
  readonly wants: (row: CallRow) => boolean
}

export const makeListeners = (record: CallRecorder, news: CallNews["Service"], endings: Endings["Service"]) => {
  const listeners = new Map<string, Set<Listener>>()

  /** Tells those who wait for this call. */
  const tell = (row: CallRow | undefined): Effect.Effect<void> =>
    Effect.sync(() => {
      if (row === undefined) return
      for (const { done, wants } of listeners.get(row.id) ?? [])
        if (wants(row)) Deferred.doneUnsafe(done, Effect.succeed(row))
    })

  const now = (id: string) => Effect.map(record.byId(id), (row) => row!)

  /** What is heard in this time, or the present state after it. */
  const heardIn = <R>(
    who: Caller["Service"],
    id: string,
    milliseconds: number,
    heard: Effect.Effect<CallRow, never, R>,
  ): Effect.Effect<CallRow, Unauthenticated, R> => {
    const waiting = Effect.timeoutOrElse(heard, { duration: milliseconds, orElse: () => now(id) })
    return milliseconds > 0 ? endings.during(who, waiting) : waiting
  }

  /** Listens from now on: start before the action that is waited for, and nothing is missed. */
  const listen = (id: string, wants: Listener["wants"] = () => true) => {
    const done = Deferred.makeUnsafe<CallRow>()
    const one = { done, wants }
    const all = listeners.get(id) ?? new Set()
    listeners.set(id, all.add(one))
    const leave = Effect.sync(() => {
      all.delete(one)
      if (all.size === 0) listeners.delete(id)
    })
    const heard = Deferred.await(done)
    return {
      heard,
      leave,
      heardBy: (who: Caller["Service"], milliseconds: number) => heardIn(who, id, milliseconds, heard),
    }
  }

  /** Returns when the call has settled, or its present state after the timeout. */
  const settled = Effect.fn("Calls.settled")(function* (who: Caller["Service"], id: string, milliseconds: number) {
    // The call may begin to wait for something else meanwhile; that is not its end.
    const { heard, leave } = listen(id, (row) => isSettled(row.state))
    // It may have settled already, or another process may settle it: the journal tells.
    const read = news.until(
      id,
      Effect.map(now(id), (row) => (isSettled(row.state) ? row : undefined)),
    )
    return yield* Effect.ensuring(heardIn(who, id, milliseconds, Effect.raceFirst(heard, read)), leave)
  })

  return { tell, listen, settled, now }
}
