/** An id as a person gives it: whole, or a beginning of it that only one of those there are has. */
import { Effect } from "effect"
import { type Failure, refusal } from "../Failure.ts"
import { isLongEnough, matchingIds, shortIds } from "../output/shortIds.ts"

interface Listed<R> {
  readonly noun: string
  /** The sentence that names the command which lists them. */
  readonly where: string
  readonly ids: Effect.Effect<ReadonlyArray<string>, Failure, R>
}

const whole = /^[a-z]+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const part = /^([a-z]+_)?[0-9a-f-]*$/

export const idOf = Effect.fnUntraced(function* <R>(given: string, { ids, noun, where }: Listed<R>) {
  if (whole.test(given)) return given
  if (!part.test(given) || !isLongEnough(given))
    return yield* refusal(`${JSON.stringify(given)} is not the id of a ${noun}. ${where}`)
  const all = yield* ids
  const found = matchingIds(given, all)
  if (found.length === 1) return found[0]!
  if (found.length === 0) return yield* refusal(`No ${noun} begins with "${given}". ${where}`)
  const short = shortIds(all)
  const some = found.slice(0, 5).map((id) => short.get(id)!)
  return yield* refusal(
    `${found.length} ${noun}s begin with "${given}". Give more of the id: ${some.join(", ")}${found.length > 5 ? " …" : ""}`,
  )
})
