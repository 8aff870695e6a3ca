/**
 * The texts of a JSON value in order, and the orders in which they could be read as one: values, keys, both, the values
 * under one key, numbers as bytes. In a stream each of them continues what was read in it before. Pure.
 */
import { fragmentLength } from "./fragments.ts"

export type Writing = "plain" | "base64"

/** The position of a secret in a text. */
export interface Mark {
  readonly begin: number
  readonly end: number
  readonly writing: Writing
}

type Container = Array<unknown> | Record<string, unknown>

export interface Leaf {
  readonly text: string
  readonly isKey: boolean
  /** A number that may be a byte. */
  readonly isByte: boolean
  /** The nearest key above it. */
  readonly column: string
  /** A value under one of the keys that are read as one with each other. */
  readonly isSaid: boolean
  /** Where it is. */
  readonly owner: Container
  readonly key: string | number
}

const isByte = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < 256

/** Root is an object with one value, so that everything has an owner. `said`: keys whose values are read as one. */
export const leavesOf = (root: { value: unknown }, said?: ReadonlySet<string>): Array<Leaf> => {
  const leaves: Array<Leaf> = []
  // Iterative: an answer may be nested deeper than our stack.
  const left: Array<{ owner: Container; key: string | number; column: string; isSaid: boolean }> = [
    { owner: root, key: "value", column: "", isSaid: false },
  ]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const { column, isSaid, key, owner } = at
    const value = (owner as Record<string | number, unknown>)[key]
    if (typeof key === "string" && owner !== root)
      leaves.push({ text: key, isKey: true, isByte: false, column: "", isSaid: false, owner, key })
    if (typeof value === "string") leaves.push({ text: value, isKey: false, isByte: false, column, isSaid, owner, key })
    else if (typeof value === "number")
      leaves.push({ text: String(value), isKey: false, isByte: isByte(value), column, isSaid, owner, key })
    else if (Array.isArray(value))
      for (let n = value.length - 1; n >= 0; n--) left.push({ owner: value as Array<unknown>, key: n, column, isSaid })
    else if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value)
      for (let n = keys.length - 1; n >= 0; n--) {
        const key = keys[n]!
        left.push({
          owner: value as Record<string, unknown>,
          key,
          column: key,
          isSaid: isSaid || said?.has(key) === true,
        })
      }
    }
  }
  return leaves
}

/** Only the ends of a long text can be part of a secret that continues in another. */
const edge = 128
/** Separates pieces that must not be read as one. */
const barrier = "\uffff"

/** The last characters of each order of a stream, by its name. */
export type Tails = ReadonlyMap<string, string>

/** Some of the leaves, read one after the other. */
export interface Order {
  readonly name: string
  /** Begins with what was read in this order before. */
  readonly text: string
  /** The pieces: of which leaf, where it begins in the text, and where in its leaf. */
  readonly leaf: ReadonlyArray<number>
  readonly at: ReadonlyArray<number>
  readonly from: ReadonlyArray<number>
  /** Each text is in it as a whole. */
  readonly isWhole: boolean
  /** Another order shows everything that can be found in it. */
  readonly isCovered: boolean
}

/** The place of a leaf that belongs to an earlier message. */
const gone = -1

const orderOf = (
  leaves: ReadonlyArray<Leaf>,
  which: ReadonlyArray<number>,
  {
    before = "",
    isCovered = false,
    isWhole,
    name,
  }: Pick<Order, "name" | "isWhole"> & { before?: string; isCovered?: boolean },
): Order => {
  const parts: Array<string> = []
  const order = { leaf: [] as Array<number>, at: [] as Array<number>, from: [] as Array<number> }
  let size = 0
  const add = (leaf: number, from: number, text: string) => {
    order.leaf.push(leaf)
    order.at.push(size)
    order.from.push(from)
    parts.push(text)
    size += text.length
  }
  if (before !== "") add(gone, 0, before)
  for (const leaf of which) {
    const { text } = leaves[leaf]!
    if (isWhole || text.length <= 2 * edge) add(leaf, 0, text)
    else {
      add(leaf, 0, text.slice(0, edge) + barrier)
      add(leaf, text.length - edge, text.slice(-edge))
    }
  }
  return { ...order, name, text: parts.join(""), isWhole, isCovered }
}

/** Numbers that may be bytes: each is then the character with that code. */
const bytesOf = (leaves: ReadonlyArray<Leaf>, row: ReadonlyArray<number>, name = "", before = ""): Order => ({
  name,
  text: before + row.map((n) => String.fromCharCode(Number(leaves[n]!.text))).join(""),
  leaf: before === "" ? row : [gone, ...row],
  at: before === "" ? row.map((_, n) => n) : [0, ...row.map((_, n) => before.length + n)],
  from: [0, ...row.map(() => 0)],
  isWhole: true,
  isCovered: false,
})

/** Consecutive numbers. */
const bytesIn = (leaves: ReadonlyArray<Leaf>, values: ReadonlyArray<number>): ReadonlyArray<Order> => {
  const orders: Array<Order> = []
  let row: Array<number> = []
  const end = () => {
    if (row.length >= fragmentLength) orders.push(bytesOf(leaves, row))
    row = []
  }
  for (const n of values) {
    if (leaves[n]!.isByte) row.push(n)
    else if (row.length > 0) end()
  }
  end()
  return orders
}

/** Longer names of columns are cut: they come from outside, and are remembered. */
const longestName = 128

/** `before`: in a stream, what was read before. Only then every order is named, so that it can be remembered. */
export const ordersOf = (leaves: ReadonlyArray<Leaf>, before?: Tails): ReadonlyArray<Order> => {
  const [all, values, keys, said]: [Array<number>, Array<number>, Array<number>, Array<number>] = [[], [], [], []]
  const columns = new Map<string, Array<number>>()
  for (let n = 0; n < leaves.length; n++) {
    const { column, isKey, isSaid } = leaves[n]!
    all.push(n)
    if (isSaid) said.push(n)
    if (isKey) keys.push(n)
    else {
      values.push(n)
      const same = columns.get(column)
      if (same === undefined) columns.set(column, [n])
      else same.push(n)
    }
  }
  const named = (name: string, which: ReadonlyArray<number>, isWhole: boolean) =>
    orderOf(leaves, which, { name, isWhole, before: before?.get(name) ?? "" })
  const orders = [
    named("values", values, true),
    ...(keys.length === 0 ? [] : [named("keys", keys, true), named("all", all, false)]),
    ...bytesIn(leaves, values),
  ]
  if (before === undefined) {
    for (const column of columns.values())
      if (column.length > 1 && column.length < values.length)
        orders.push(orderOf(leaves, column, { name: "", isWhole: false }))
    return orders
  }
  const [{ text: whole }] = orders as [Order]
  const continued = (name: string, which: ReadonlyArray<number>) => {
    const order = named(name, which, false)
    const isAlone = which.length === 1 && !before.has(name)
    orders.push({ ...order, isCovered: isAlone || order.text === whole })
  }
  if (said.length > 0) continued("said", said)
  for (const [column, which] of columns) {
    const name = column.slice(0, longestName)
    continued(`column ${name}`, which)
    if (which.every((n) => leaves[n]!.isByte)) {
      const bytes = `bytes ${name}`
      orders.push(bytesOf(leaves, which, bytes, before.get(bytes)))
    }
  }
  return orders
}

/** Maps positions in an order to positions in its leaves. */
export const placeMarks = (order: Order, marks: ReadonlyArray<Mark>, into: Map<number, Array<Mark>>): void => {
  const { at, from, leaf, text } = order
  for (const { begin, end, writing } of marks) {
    // The last piece that begins at or before it.
    let [low, high] = [0, at.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (at[middle]! <= begin) low = middle
      else high = middle - 1
    }
    for (let n = low; n < at.length && at[n]! < end; n++) {
      const [first, last] = [Math.max(begin, at[n]!), Math.min(end, at[n + 1] ?? text.length)]
      if (first >= last || leaf[n] === gone) continue
      const mark = { begin: from[n]! + first - at[n]!, end: from[n]! + last - at[n]!, writing }
      const marked = into.get(leaf[n]!)
      if (marked === undefined) into.set(leaf[n]!, [mark])
      else marked.push(mark)
    }
  }
}
