/**
 * The texts of a JSON value in order, and the orders in which they could be read as one: values, keys, both, the values
 * under one key, numbers as bytes. Pure.
 */
import { run } from "./writings.ts"

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
  /** Where it is; undefined for a leaf of an earlier message. */
  readonly owner: Container | undefined
  readonly key: string | number
}

const isByte = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < 256

/** Root is an object with one value, so that everything has an owner. */
export const leavesOf = (root: { value: unknown }): Array<Leaf> => {
  const leaves: Array<Leaf> = []
  // Iterative: an answer may be nested deeper than our stack.
  const left: Array<{ owner: Container; key: string | number; column: string }> = [
    { owner: root, key: "value", column: "" },
  ]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const { column, key, owner } = at
    const value = (owner as Record<string | number, unknown>)[key]
    if (typeof key === "string" && owner !== root)
      leaves.push({ text: key, isKey: true, isByte: false, column: "", owner, key })
    if (typeof value === "string") leaves.push({ text: value, isKey: false, isByte: false, column, owner, key })
    else if (typeof value === "number")
      leaves.push({ text: String(value), isKey: false, isByte: isByte(value), column, owner, key })
    else if (Array.isArray(value))
      for (let n = value.length - 1; n >= 0; n--) left.push({ owner: value as Array<unknown>, key: n, column })
    else if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value)
      for (let n = keys.length - 1; n >= 0; n--)
        left.push({ owner: value as Record<string, unknown>, key: keys[n]!, column: keys[n]! })
    }
  }
  return leaves
}

/** Only the ends of a long text can be part of a secret that continues in another. */
const edge = 128
/** Separates pieces that must not be read as one. */
const barrier = "\uffff"

/** Some of the leaves, read one after the other. */
export interface Order {
  readonly text: string
  /** The pieces: of which leaf, where it begins in the text, and where in its leaf. */
  readonly leaf: ReadonlyArray<number>
  readonly at: ReadonlyArray<number>
  readonly from: ReadonlyArray<number>
  /** Each text is in it as a whole. */
  readonly isWhole: boolean
}

const orderOf = (leaves: ReadonlyArray<Leaf>, which: ReadonlyArray<number>, isWhole: boolean): Order => {
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
  for (const leaf of which) {
    const { text } = leaves[leaf]!
    if (isWhole || text.length <= 2 * edge) add(leaf, 0, text)
    else {
      add(leaf, 0, text.slice(0, edge) + barrier)
      add(leaf, text.length - edge, text.slice(-edge))
    }
  }
  return { ...order, text: parts.join(""), isWhole }
}

/** Consecutive numbers may be bytes: each is then the character with that code. */
const bytesIn = (leaves: ReadonlyArray<Leaf>, values: ReadonlyArray<number>): ReadonlyArray<Order> => {
  const orders: Array<Order> = []
  let row: Array<number> = []
  const end = () => {
    if (row.length >= run)
      orders.push({
        text: row.map((n) => String.fromCharCode(Number(leaves[n]!.text))).join(""),
        leaf: row,
        at: row.map((_, n) => n),
        from: row.map(() => 0),
        isWhole: true,
      })
    row = []
  }
  for (const n of values) {
    if (leaves[n]!.isByte) row.push(n)
    else if (row.length > 0) end()
  }
  end()
  return orders
}

export const ordersOf = (leaves: ReadonlyArray<Leaf>): ReadonlyArray<Order> => {
  const [all, values, keys]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
  const columns = new Map<string, Array<number>>()
  for (let n = 0; n < leaves.length; n++) {
    const { column, isKey } = leaves[n]!
    all.push(n)
    if (isKey) keys.push(n)
    else {
      values.push(n)
      const same = columns.get(column)
      if (same === undefined) columns.set(column, [n])
      else same.push(n)
    }
  }
  const several = [...columns.values()].filter((column) => column.length > 1 && column.length < values.length)
  return [
    orderOf(leaves, values, true),
    ...(keys.length === 0 ? [] : [orderOf(leaves, keys, true), orderOf(leaves, all, false)]),
    ...several.map((column) => orderOf(leaves, column, false)),
    ...bytesIn(leaves, values),
  ]
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
      if (first >= last) continue
      const mark = { begin: from[n]! + first - at[n]!, end: from[n]! + last - at[n]!, writing }
      const marked = into.get(leaf[n]!)
      if (marked === undefined) into.set(leaf[n]!, [mark])
      else marked.push(mark)
    }
  }
}
