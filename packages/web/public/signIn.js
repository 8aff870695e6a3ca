/** What a sign-in link asks for, given who is signed in here already. Pure, so that it is tested without a browser. */

const decoded = (text) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * `none`: there is no link. `enter`: nobody is signed in, or the same one. `other`: it would replace another sign-in, so a
 * person has to choose: a link from a stranger must not make somebody work in the stranger's name without noticing.
 */
export const readLink = (hash, present) => {
  const given = /^#token=(.+)$/.exec(hash)?.[1]
  if (given === undefined) return { kind: "none" }
  const token = decoded(given)
  return present === null || present === token ? { kind: "enter", token } : { kind: "other", token }
}
