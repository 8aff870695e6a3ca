/**
 * The places of calls that a program makes itself, in its turn: the next one of its run and step. Its turn is one process of
 * one house, so this house's count is the count; a turn after a restart is another step.
 */
import type { Caller, CallRun } from "@stoa/contract"

/** More turns at once than a machine has processes. */
const most = 10_000

export const makePlaces = () => {
  const last = new Map<string, number>()
  return ({ run, turn }: Caller["Service"]): { readonly run: CallRun; readonly root: string } | undefined => {
    if (run === undefined || turn === undefined) return undefined
    const key = `${run} ${turn.step}`
    const place = (last.get(key) ?? 0) + 1
    last.delete(key)
    last.set(key, place)
    if (last.size > most) last.delete(last.keys().next().value!)
    return { run: { id: run, step: turn.step, place }, root: turn.root }
  }
}
