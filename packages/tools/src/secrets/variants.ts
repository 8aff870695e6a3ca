/** The forms in which a secret may be repeated. Other encodings are decoded instead. Pure. */
import { unescaped } from "./unescape.ts"

const run = 8

/** These prefixes are not secret, and occur in many texts. */
const opening = /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:bearer|basic|token) )/i

/** A base64 value, such as a name and a password, may also be repeated decoded. */
const insideOf = (value: string): ReadonlyArray<string> => {
  if (!/^[A-Za-z0-9+/_-]{11,}={0,2}$/.test(value)) return []
  const text = Buffer.from(value, "base64").toString("utf8")
  return /[\p{C}\uFFFD]/u.test(text) ? [] : [text]
}

const adding = (readings: Set<string>, more: (one: string) => ReadonlyArray<string>): void => {
  for (const other of [...readings].flatMap(more)) readings.add(other)
}

export const variantsOf = (secret: string): ReadonlySet<string> => {
  const bare = secret.replace(opening, "")
  const readings = new Set([bare.trim().length < run ? secret : bare])
  // Headers lose surrounding spaces; the other forms are made from the trimmed value.
  adding(readings, (one) => [one.trim()])
  adding(readings, (one) => {
    const inner = unescaped(one)
    return inner === undefined ? [] : [inner.text, unescaped(inner.text)?.text ?? inner.text]
  })
  adding(readings, insideOf)
  // As in a form.
  adding(readings, (one) => (one.includes(" ") ? [one.replaceAll(" ", "+")] : []))
  // As bytes read without knowing that they are UTF-8.
  adding(readings, (one) => [Buffer.from(one).toString("latin1")])
  return readings
}
