/** A secret as it may have been meant by whoever repeats it. What is only written in another way is decoded instead. Pure. */
import { unescaped } from "./unescape.ts"

const run = 8

/** The beginning of these is no secret, and stands in many a text. */
const opening = /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:bearer|basic|token) )/i

/** A value in base64, such as a name and a password, is repeated as what is in it, too. */
const insideOf = (value: string): ReadonlyArray<string> => {
  if (!/^[A-Za-z0-9+/_-]{11,}={0,2}$/.test(value)) return []
  const text = Buffer.from(value, "base64").toString("utf8")
  return /[\p{C}\uFFFD]/u.test(text) ? [] : [text]
}

const adding = (readings: Set<string>, more: (one: string) => ReadonlyArray<string>): void => {
  for (const other of [...readings].flatMap(more)) readings.add(other)
}

export const readingsOf = (secret: string): ReadonlySet<string> => {
  const bare = secret.replace(opening, "")
  const readings = new Set([bare.trim().length < run ? secret : bare])
  // What came into a header lost the spaces around it; the rest is made of what is left.
  adding(readings, (one) => [one.trim()])
  adding(readings, (one) => {
    const inner = unescaped(one)
    return inner === undefined ? [] : [inner.text, unescaped(inner.text)?.text ?? inner.text]
  })
  adding(readings, insideOf)
  // As a form has it.
  adding(readings, (one) => (one.includes(" ") ? [one.replaceAll(" ", "+")] : []))
  // As bytes are read, of which nobody says that they are UTF-8.
  adding(readings, (one) => [Buffer.from(one).toString("latin1")])
  return readings
}
