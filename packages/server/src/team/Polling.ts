/**
 * Models that wait for a reply tend to poll their inbox until the turn is used up (S3-16). An empty result during a
 * wait is answered with a hint, and after a few times with a refusal.
 */
import { type CallRun, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { Waits } from "../runs/waiting/Waits.ts"

const most = 3
const kept = 1000

const hint =
  "Nothing is here, and you wait for a reply: it arrives as your next message, not in the inbox. End your turn now."

export const makePolling = Effect.gen(function* () {
  const waits = yield* Waits
  const looks = new Map<string, number>()

  /** The hint for an empty result; a refusal if it has been given often enough. */
  return Effect.fnUntraced(function* (run: CallRun | null, found: number) {
    if (run === null) return undefined
    const key = `${run.id} ${run.step}`
    if (found > 0) {
      looks.delete(key)
      return undefined
    }
    if (!(yield* waits.isWaiting(run.id))) return undefined
    const times = (looks.get(key) ?? 0) + 1
    looks.delete(key)
    looks.set(key, times)
    if (looks.size > kept) looks.delete(looks.keys().next().value!)
    if (times > most) return yield* new WrongState({ detail: `You have looked ${times} times in this turn. ${hint}` })
    return hint
  })
})
