/**
 * Rows as a table for people. At a terminal it fits the width: the widest texts are cut, but never ids, because people
 * copy them. Pure.
 */

import { visible, visibleJson } from "@stoa/contract"

const cell = (value: unknown): string =>
  value === null || value === undefined
    ? "-"
    : Array.isArray(value)
      ? visible(value.join(","))
      : typeof value === "string"
        ? visible(value)
        : visibleJson(value)

const gap = 2
/** A narrower text is useless. */
const least = 8

const isId = (text: string): boolean => /^[a-z]{3,4}_[0-9a-f]/.test(text)

const fitted = (widths: ReadonlyArray<number>, fixed: ReadonlyArray<boolean>, width: number): ReadonlyArray<number> => {
  const out = [...widths]
  const total = () => out.reduce((sum, one) => sum + one + gap, -gap)
  for (;;) {
    const over = total() - width
    const widest = Math.max(...out.filter((_, at) => fixed[at] !== true), 0)
    if (over <= 0 || widest <= least) return out
    const at = out.findIndex((one, place) => one === widest && fixed[place] !== true)
    out[at] = Math.max(least, widest - over, Math.min(widest - 1, Math.ceil(width / out.length)))
  }
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

export const table = (
  rows: ReadonlyArray<object>,
  columns: ReadonlyArray<string>,
  width?: number,
): ReadonlyArray<string> => {
  const body = rows.map((row) => columns.map((column) => cell((row as Record<string, unknown>)[column])))
  const cells = [columns, ...body]
  const wanted = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)))
  const fixed = columns.map((_, at) => body.some((line) => isId(line[at]!)))
  const widths = width === undefined ? wanted : fitted(wanted, fixed, width)
  return cells.map((line) =>
    line
      .map((text, at) => cut(text, widths[at]!).padEnd(widths[at]!))
      .join("  ".slice(0, gap))
      .trimEnd(),
  )
}
