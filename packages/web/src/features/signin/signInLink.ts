/**
 * The token of a sign-in link: removed from the address at once, so that it is in no history, bookmark or screenshot.
 */
import { tokenIn } from "./signInLink.logic.ts"

let offered: string | undefined

export const takeSignInLink = (): boolean => {
  const token = tokenIn(location.hash)
  if (token === undefined) return false
  offered = token
  history.replaceState(null, "", location.pathname + location.search)
  return true
}

/** Returned once. */
export const offeredToken = (): string | undefined => {
  const token = offered
  offered = undefined
  return token
}
