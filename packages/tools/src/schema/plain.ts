/**
 * A plain schema has nothing that could take long: no references, patterns or formats. Most are plain, and whether a
 * value matches one is checked here, in a limited number of steps. If it does not match, the compiler says why. Also
 * measures roughly how big a value is, without recursion: for every call, before recursive code sees the value.
 */

export interface Extent {
  /** Deeper than anybody needs, and deep enough to overflow a recursive walk. */
  readonly tooDeep: boolean
  readonly large: boolean
}

export const deepest = 200
const largest = 64 * 1024

export const extentOf = (value: unknown): Extent => {
  let size = 0
  let level: Array<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return { tooDeep: true, large: true }
    const next: Array<unknown> = []
    for (const one of level) {
      if (typeof one === "string") size += one.length
      else if (typeof one === "object" && one !== null)
        for (const [key, inner] of Object.entries(one)) {
          size += key.length + 2
          next.push(inner)
        }
      else size += 4
    }
    // A value with a million items is known to be large long before the walk ends.
    if (size > 64 * largest) return { tooDeep: false, large: true }
    level = next
  }
  return { tooDeep: false, large: size > largest }
}

/** Too deep for recursive code. */
export const isTooDeep = (value: unknown): boolean => extentOf(value).tooDeep

type Node = Readonly<Record<string, unknown>>
interface Steps {
  left: number
}
/** True: it matches. It counts its steps, and gives up when there are too many. */
type Fits = (value: unknown, steps: Steps) => boolean

/** Code that looks at several things at once pays for them first. */
const pay = (steps: Steps, things: number): boolean => (steps.left -= things >> 3) > 0

const maxSteps = 5000
const maxWords = 100

/** Keywords that say nothing about the value. */
const remarks = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
])

const isNode = (it: unknown): it is Node => typeof it === "object" && it !== null && !Array.isArray(it)
const isCount = (it: unknown): it is number => Number.isSafeInteger(it) && (it as number) >= 0
const isPrimitive = (it: unknown) => it === null || ["string", "number", "boolean"].includes(typeof it)
/** A name that every object has anyway: the compiler's own rules apply. */
const isOdd = (name: string) => name in Object.prototype

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  object: isNode,
  array: Array.isArray,
}

/** If a keyword is about one type, values of other types match. */
const onObject =
  (fits: (value: Node, steps: Steps) => boolean): Fits =>
  (value, steps) =>
    !isNode(value) || fits(value, steps)
const onNames = (fits: (names: ReadonlyArray<string>, value: Node, steps: Steps) => boolean): Fits =>
  onObject((value, steps) => {
    const names = Object.keys(value)
    return pay(steps, names.length) && fits(names, value, steps)
  })
const onArray =
  (fits: (value: ReadonlyArray<unknown>, steps: Steps) => boolean): Fits =>
  (value, steps) =>
    !Array.isArray(value) || fits(value, steps)
const onNumber =
  (fits: (value: number) => boolean): Fits =>
  (value) =>
    typeof value !== "number" || fits(value)
/** In code points: half of a surrogate pair is no character. */
const lengthOf = (text: string): number => {
  let length = 0
  for (let at = 0; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00 || at === 0 || (text.charCodeAt(at - 1) & 0xfc00) !== 0xd800) length++
  return length
}
const onLength =
  (fits: (length: number) => boolean): Fits =>
  (value, steps) =>
    typeof value !== "string" || (pay(steps, value.length) && fits(lengthOf(value)))

type Keyword = (given: never, schema: Node) => Fits | undefined

const limit =
  <A>(is: (it: unknown) => it is A, make: (most: A) => Fits): Keyword =>
  (given) =>
    is(given) ? make(given) : undefined
const isNumber = (it: unknown): it is number => Number.isFinite(it)

/** Each as a test, or nothing if it is malformed. */
const keywords: Readonly<Record<string, Keyword>> = {
  type: (given: unknown) => {
    const named = Array.isArray(given) ? (given as ReadonlyArray<unknown>) : [given]
    if (named.length === 0 || !named.every((name) => typeof name === "string" && Object.hasOwn(types, name))) return
    const tests = named.map((name) => types[name as string]!)
    const [only] = tests
    return tests.length === 1 ? only : (value) => tests.some((test) => test(value))
  },
  enum: (given: unknown) =>
    Array.isArray(given) && given.length > 0 && given.length <= maxWords && given.every(isPrimitive)
      ? (value, steps) => pay(steps, given.length) && given.includes(value)
      : undefined,
  const: (given: unknown) => (isPrimitive(given) ? (value) => value === given : undefined),
  minLength: limit(isCount, (least) => onLength((length) => length >= least)),
  maxLength: limit(isCount, (most) => onLength((length) => length <= most)),
  minimum: limit(isNumber, (least) => onNumber((value) => value >= least)),
  maximum: limit(isNumber, (most) => onNumber((value) => value <= most)),
  exclusiveMinimum: limit(isNumber, (least) => onNumber((value) => value > least)),
  exclusiveMaximum: limit(isNumber, (most) => onNumber((value) => value < most)),
  minItems: limit(isCount, (least) => onArray(({ length }) => length >= least)),
  maxItems: limit(isCount, (most) => onArray(({ length }) => length <= most)),
  minProperties: limit(isCount, (least) => onNames((names) => names.length >= least)),
  maxProperties: limit(isCount, (most) => onNames((names) => names.length <= most)),
  required: (given: unknown) =>
    Array.isArray(given) && given.every((name) => typeof name === "string" && !isOdd(name))
      ? onObject(
          (value, steps) =>
            pay(steps, given.length) && (given as ReadonlyArray<string>).every((name) => value[name] !== undefined),
        )
      : undefined,
  properties: (given: unknown) => {
    if (!isNode(given)) return
    const named = Object.entries(given).map(
      ([name, schema]) => [name, isOdd(name) ? undefined : fitsOf(schema)] as const,
    )
    if (named.some(([, fits]) => fits === undefined)) return
    return onObject(
      (value, steps) =>
        pay(steps, named.length) &&
        named.every(([name, fits]) => value[name] === undefined || fits!(value[name], steps)),
    )
  },
  additionalProperties: (given: unknown, { properties = {} }: Node) => {
    const fits = fitsOf(given)
    if (fits === undefined || !isNode(properties)) return
    return onNames((names, value, steps) =>
      names.every((name) => Object.hasOwn(properties, name) || fits(value[name], steps)),
    )
  },
  items: (given: unknown) => {
    const fits = fitsOf(given)
    return fits === undefined ? undefined : onArray((value, steps) => value.every((item) => fits(item, steps)))
  },
  anyOf: (given: unknown) => {
    const branches = Array.isArray(given) && given.length > 0 ? given.map(fitsOf) : [undefined]
    return branches.includes(undefined) ? undefined : (value, steps) => branches.some((fits) => fits!(value, steps))
  },
}

const fitsOf = (schema: unknown): Fits | undefined => {
  if (typeof schema === "boolean") return () => schema
  if (!isNode(schema)) return undefined
  const tests: Array<Fits> = []
  for (const [keyword, given] of Object.entries(schema)) {
    if (remarks.has(keyword)) continue
    const test = Object.hasOwn(keywords, keyword) ? keywords[keyword]!(given as never, schema) : undefined
    if (test === undefined) return undefined
    tests.push(test)
  }
  return (value, steps) => steps.left-- > 0 && tests.every((test) => test(value, steps))
}

const known = new WeakMap<object, Fits | "not plain">()

const testOf = (schema: Node): Fits | "not plain" => {
  let fits = known.get(schema)
  if (fits === undefined) known.set(schema, (fits = fitsOf(schema) ?? "not plain"))
  return fits
}

/** Nothing in it could take long. */
export const isPlain = (schema: Node): boolean => testOf(schema) !== "not plain"

/** True: the value matches. False: it does not, or this cannot be decided here. */
export const plainlyFits = (schema: Node, value: unknown, steps: Steps = { left: maxSteps }): boolean => {
  const fits = testOf(schema)
  return fits !== "not plain" && fits(value, steps)
}
