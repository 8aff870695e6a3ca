/**
 * Removes secrets from everything that comes back from where they were sent: texts, JSON, bytes, errors (G-17). Any
 * eight consecutive characters of one count, plain, escaped, in base64, hexadecimal or decimal, even if they are split
 * over the fields of an answer or over the messages of a stream. Without secrets it does nothing, except to a line of a
 * log, from which it also removes whatever has the shape of a credential (`credentialShapes.ts`).
 */
import { decodedIn } from "./decode.ts"
import { leavesOf, type Mark, ordersOf, placeMarks, type Tails, type Writing } from "./leaves.ts"
import { withoutShapes } from "./credentialShapes.ts"
import { fragmentLength, type Fragments, fragmentsOf } from "./fragments.ts"

/** Removing shorter values would tear up the rest. */
const shortest = 4
const instead = "[secret]"
/** Nested encodings: JSON in JSON in JSON, base64 of percent-encoded text. */
const layers = 3
/**
 * What is remembered of a stream, to find secrets that continue in its next message: the last characters of each way of
 * reading it. Eight characters of a secret are enough to find it, so this depends on the encodings, not on the secret.
 */
const remembered = { characters: 256, orders: 128, subjects: 64 }
/** Levels of an error and its causes. */
const deepest = 5

const wholeBase64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Merges overlapping places. */
const merged = (marks: ReadonlyArray<Mark>): ReadonlyArray<Mark> => {
  const result: Array<{ begin: number; end: number; writing: Writing }> = []
  for (const mark of marks.toSorted((a, b) => a.begin - b.begin)) {
    const last = result.at(-1)
    if (last === undefined || mark.begin > last.end) result.push({ ...mark })
    else {
      last.end = Math.max(last.end, mark.end)
      if (mark.writing !== last.writing) last.writing = "plain"
    }
  }
  return result
}

const isBase64 = (sign: string | undefined): boolean => sign !== undefined && /[A-Za-z0-9+/_-]/.test(sign)

/** A neighbouring base64 character holds the rest of the first or last byte. */
const widened = (text: string, { begin, end, writing }: Mark): Mark =>
  writing === "plain"
    ? { begin, end, writing }
    : { begin: begin - (isBase64(text[begin - 1]) ? 1 : 0), end: end + (isBase64(text[end]) ? 1 : 0), writing }

/** In a value that is entirely base64 the place is overwritten, not removed, so that it can still be decoded. */
const blanked = (text: string, marks: ReadonlyArray<Mark>): string => {
  const places = merged(marks.map((mark) => widened(text, mark)))
  const fills = places.every(({ writing }) => writing === "base64") && wholeBase64.test(text)
  let result = ""
  let at = 0
  for (const { begin, end } of places) {
    result += text.slice(at, begin) + (fills ? text.slice(begin, end).replaceAll(/[^=]/g, "A") : instead)
    at = end
  }
  return result + text.slice(at)
}

const rename = (owner: Record<string, unknown>, names: ReadonlyMap<string, string>): void => {
  for (const [key, value] of Object.entries(owner)) {
    delete owner[key]
    // A key may be `__proto__`, which must not be assigned.
    Object.defineProperty(owner, names.get(key) ?? key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
}

/** The newest are kept. */
const keepLast = <A>(all: Map<string, A>, name: string, value: A, most: number): void => {
  all.delete(name)
  all.set(name, value)
  if (all.size > most) all.delete(all.keys().next().value!)
}

export class Redactor {
  readonly #secrets = new Set<string>()
  #writings: Fragments | undefined
  /** Too short for pieces: searched as a whole. */
  #whole: ReadonlyArray<string> = []

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  /** Applies from now on. Values of fewer than four characters are ignored. */
  add(secret: string): void {
    if (secret.trim().length < shortest || this.#secrets.has(secret)) return
    this.#secrets.add(secret)
    this.#writings = undefined
  }

  addAll(other: Redactor): void {
    for (const secret of other.#secrets) this.add(secret)
  }

  get isEmpty(): boolean {
    return this.#secrets.size === 0
  }

  #prepare(): Fragments {
    this.#whole = [...this.#secrets].filter((one) => !isLongEnough(one)).map((one) => one.trim())
    return fragmentsOf([...this.#secrets].filter(isLongEnough))
  }

  /** `isWhole`: also searches within one text alone, such as bytes with separators. */
  #find(text: string, isWhole: boolean, layer = 0): ReadonlyArray<Mark> {
    if (text.length < shortest) return []
    const { base64, hex, plain } = (this.#writings ??= this.#prepare())
    const marks: Array<Mark> = []
    const asPlain = (begin: number, end: number) => void marks.push({ begin, end, writing: "plain" })
    plain.find(text, asPlain)
    base64.find(text, (begin, end) => void marks.push({ begin, end, writing: "base64" }))
    const lower = text.toLowerCase()
    // A few characters become two in lower case.
    if (lower.length === text.length) hex.find(lower, asPlain)
    for (const one of this.#whole)
      for (let n = text.indexOf(one); n !== -1; n = text.indexOf(one, n + one.length)) asPlain(n, n + one.length)
    if (layer === layers) return marks
    for (const inner of decodedIn(text, isWhole)) {
      const found = this.#find(inner.text, isWhole, inner.goesOn ? layer + 1 : layers)
      if (found.length === 0) continue
      const places = inner.places()
      for (const { begin, end, writing } of found)
        marks.push({ begin: places.begin(begin), end: places.end(end), writing })
    }
    return marks
  }

  text(text: string): string {
    if (this.isEmpty) return text
    const marks = this.#find(text, true)
    return marks.length === 0 ? text : blanked(text, marks)
  }

  /**
   * A line of a log, or a message to a terminal: the known values first, then the shapes of credentials. Not for
   * results: a text that only looks like a credential would be torn up.
   */
  line(text: string): string {
    return withoutShapes(this.text(text))
  }

  /** The same number of bytes as before: offsets in them may matter. */
  bytes(bytes: Uint8Array): Uint8Array {
    if (this.isEmpty) return bytes
    const marks = merged(this.#find(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"), true))
    if (marks.length === 0) return bytes
    const copy = Uint8Array.from(bytes)
    for (const { begin, end } of marks) copy.fill(0x2a, begin, end)
    return copy
  }

  /** Changes the value itself; a text is returned as a new one. */
  json<A>(value: A): A {
    return this.isEmpty ? value : (this.#clean(value).value as A)
  }

  /** A JSON text; returned unchanged if nothing is found. */
  jsonText(text: string): string {
    if (this.isEmpty) return text
    const { changed, value } = this.#clean(JSON.parse(text) as unknown)
    return changed ? JSON.stringify(value) : text
  }

  /** `memories`: what was read before, which this continues. */
  #clean(value: unknown, memories: ReadonlyArray<Tails | undefined> = [undefined], said?: ReadonlySet<string>) {
    const root = { value }
    const leaves = leavesOf(root, said)
    const marked = new Map<number, Array<Mark>>()
    const read = memories.map((before) => ordersOf(leaves, before))
    for (const order of read.flat())
      if (!order.isCovered) placeMarks(order, this.#find(order.text, order.isWhole), marked)
    const names = new Map<Record<string, unknown>, Map<string, string>>()
    let changed = false
    for (const [n, marks] of marked) {
      const { isByte, isKey, key, owner, text } = leaves[n]!
      changed = true
      if (isKey) {
        const renamed = names.get(owner as Record<string, unknown>) ?? new Map<string, string>()
        names.set(owner as Record<string, unknown>, renamed.set(text, blanked(text, marks)))
        continue
      }
      const isNumber = typeof (owner as Record<string | number, unknown>)[key] === "number"
      // A list of bytes stays one.
      const shown = isNumber ? (isByte ? 0 : instead) : blanked(text, marks)
      Object.defineProperty(owner, key, { value: shown, writable: true, enumerable: true, configurable: true })
    }
    for (const [owner, renamed] of names) rename(owner, renamed)
    return { value: root.value, changed, read }
  }

  /**
   * For messages that are read as one: all of them together, and those about the same subject. `said`: keys whose values
   * are read as one, whichever of them a message has.
   */
  stream(said?: ReadonlySet<string>): { readonly json: <A>(message: A, about?: string) => A } {
    const all = new Map<string, string>()
    const subjects = new Map<string, Map<string, string>>()
    const subject = (about: string) => {
      const known = subjects.get(about) ?? new Map<string, string>()
      keepLast(subjects, about, known, remembered.subjects)
      return known
    }
    return {
      json: (message, about) => {
        if (this.isEmpty) return message
        const memories = about === undefined ? [all] : [all, subject(about)]
        const { read, value } = this.#clean(message, memories, said)
        for (const [n, orders] of read.entries())
          for (const { name, text } of orders)
            if (name !== "") keepLast(memories[n]!, name, text.slice(-remembered.characters), remembered.orders)
        return value as typeof message
      },
    }
  }

  /** Changes the error itself, and its causes. */
  error<E>(error: E): E {
    if (this.isEmpty) return error
    if (typeof error === "string") return this.text(error) as E
    let one: unknown = error
    for (let depth = 0; depth < deepest && typeof one === "object" && one !== null; depth++) {
      const fields = one as Record<string, unknown>
      const next = fields["cause"]
      for (const key of new Set(["message", "stack", ...Object.keys(fields)])) {
        if (key === "cause") continue
        const held = fields[key]
        if (typeof held === "string" && this.text(held) !== held)
          Object.defineProperty(fields, key, { value: this.text(held), configurable: true, writable: true })
        else if (typeof held === "object" && held !== null && !(held instanceof Error)) this.json(held)
      }
      if (typeof next === "string") fields["cause"] = this.text(next)
      one = next
    }
    return error
  }
}

/** Whether a value is long enough for any piece of it to be found. */
export const isLongEnough = (secret: string): boolean => secret.trim().length >= fragmentLength
