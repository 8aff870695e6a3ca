/** Who may answer, as a sentence for somebody who may not. */
import type { PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../../access/identity/Principals.ts"

/** More names than this do not help. */
const maxNamed = 5

const joined = (names: ReadonlyArray<string>, more: number): string => {
  const all = more > 0 ? [...names, more === 1 ? "one more" : `${more} more`] : names
  return all.length === 1 ? all[0]! : `${all.slice(0, -1).join(", ")} or ${all.at(-1)!}`
}

export const makeWhoMay = Effect.map(Principals, (principals) =>
  Effect.fnUntraced(function* (voters: ReadonlyArray<PrincipalId>) {
    if (voters.length === 0) return "Nobody may answer it now: unanswered it is a no."
    const named = yield* Effect.forEach(voters.slice(0, maxNamed), (id) => Effect.orDie(principals.get(id)))
    const names = named.map(({ name }) => name)
    return `It is for ${joined(names, voters.length - names.length)} to answer.`
  }),
)
