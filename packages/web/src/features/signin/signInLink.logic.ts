/** What to do with a sign-in link, depending on who is signed in here already. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const tokenIn = (hash: string): string | undefined => {
  const given = /^#token=(.+)$/.exec(hash)?.[1]
  return given === undefined ? undefined : decoded(given)
}

/**
 * `enter`: nobody is signed in, or the same person. `choose`: it would replace another sign-in, so the person has to
 * choose: a stranger's link must not make somebody work in the stranger's name without noticing.
 */
export const linkAsks = (present: string | undefined, offered: string): "enter" | "choose" =>
  present === undefined || present === offered ? "enter" : "choose"

/** Where to go afterwards: only to a page of this house. */
export const safeNext = (next: string | undefined): string =>
  // oxlint-disable-next-line no-control-regex
  next !== undefined && !/[\u0000-\u0020]/.test(next) && /^\/(?![/\\])/.test(next) && !next.startsWith("/door")
    ? next
    : "/"
