/** What was probably meant with a name or a value that does not fit, in brackets; nothing if that cannot be told. Pure. */
import { nearest } from "../names/nearest.ts"

/** Looking for a slip of the hand costs nothing in so few and so short names. */
const most = 200
/** Any two letters are alike. */
const least = 3

const nearestOf = (given: string, names: ReadonlyArray<unknown>): string | undefined =>
  given.length < least || names.length > most
    ? undefined
    : nearest(
        given,
        names.filter((name): name is string => typeof name === "string" && name.length >= least && name.length <= most),
      )

/** `given` is not one of these. */
export const didYouMean = (given: unknown, names: unknown): string => {
  const meant = typeof given === "string" && Array.isArray(names) ? nearestOf(given, names) : undefined
  return meant === undefined ? "" : ` (did you mean ${JSON.stringify(meant)}?)`
}

/** `missing` was not given, but perhaps one of the other names was given for it. */
export const meantBy = (missing: string, given: ReadonlyArray<string>, known: object): string => {
  const name =
    given.length > most
      ? undefined
      : nearestOf(
          missing,
          given.filter((one) => !Object.hasOwn(known, one)),
        )
  return name === undefined ? "" : ` (did you mean it with ${JSON.stringify(name)}?)`
}
