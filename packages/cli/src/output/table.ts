/**
 * Rows as a table for people. At a terminal it fits the width: times are short, the text at the end takes what is left,
 * columns that can be spared are left out, and then the widest texts are cut. Ids, times, states and numbers are never
 * cut: people copy and compare them. Elsewhere everything is shown as it is. Pure.
 */
// edge: shows a time as the terminal's clock has it.
import { visible, visibleJson } from "@stoa/contract"

/** What is known of a terminal: its width, and the time now. */
export interface Terminal {
  readonly width: number
  readonly now: Date
}

const isTime = (column: string): boolean => /At$|^(at|since|until)$/.test(column)
/** What a column holds is known by its name, never by how a text in it begins. */
const isWhole = (column: string): boolean =>
  isTime(column) || /^(id|state|status|result|effect|verdict|digest)$/.test(column)

const two = (number: number): string => String(number).padStart(2, "0")
const dayOf = (time: Date): string => `${two(time.getMonth() + 1)}-${two(time.getDate())}`

/** HH:MM today, MM-DD HH:MM in this year, else the day. */
export const shortTime = (iso: string, now: Date): string => {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return iso
  if (time.getFullYear() !== now.getFullYear()) return `${time.getFullYear()}-${dayOf(time)}`
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`
  return dayOf(time) === dayOf(now) ? clock : `${dayOf(time)} ${clock}`
}

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
/** Columns are left out if the last text would get less than this. */
const readable = 16

const widthOf = (widths: ReadonlyArray<number>): number => widths.reduce((sum, one) => sum + one + gap, -gap)

const fitted = (widths: ReadonlyArray<number>, fixed: ReadonlyArray<boolean>, width: number): ReadonlyArray<number> => {
  const out = [...widths]
  for (;;) {
    const over = widthOf(out) - width
    const widest = Math.max(...out.filter((_, at) => fixed[at] !== true), 0)
    if (over <= 0 || widest <= least) return out
    const at = out.findIndex((one, place) => one === widest && fixed[place] !== true)
    out[at] = Math.max(least, widest - over, Math.min(widest - 1, Math.ceil(width / out.length)))
  }
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

const cellsOf = (rows: ReadonlyArray<object>, columns: ReadonlyArray<string>, terminal: Terminal | undefined) => {
  const values = rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column]))
  const body = values.map((line) =>
    line.map((value, at) =>
      terminal !== undefined && typeof value === "string" && isTime(columns[at]!)
        ? cell(shortTime(value, terminal.now))
        : cell(value),
    ),
  )
  const cells = [columns, ...body]
  const wanted = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)))
  const fixed = columns.map(
    (column, at) =>
      isWhole(column) || values.every((line) => typeof line[at] === "number" || typeof line[at] === "boolean"),
  )
  return { cells, wanted, fixed }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)

/** The columns that hold something in at least one row. */
export const filledColumns = (rows: ReadonlyArray<object>, columns: ReadonlyArray<string>): ReadonlyArray<string> =>
  columns.filter((column) => rows.some((row) => !isEmpty((row as Record<string, unknown>)[column])))

/** The columns that fit: first empty ones go, then optional ones, the first one first, until the rest fits. */
export const columnsFor = (
  rows: ReadonlyArray<object>,
  columns: ReadonlyArray<string>,
  spare: ReadonlyArray<string>,
  terminal: Terminal | undefined,
): ReadonlyArray<string> => {
  if (terminal === undefined || widthOf(cellsOf(rows, columns, terminal).wanted) <= terminal.width) return columns
  const filled = filledColumns(rows, columns)
  const without = (count: number) => filled.filter((column) => !spare.slice(0, count).includes(column))
  const fits = (some: ReadonlyArray<string>): boolean => {
    const { fixed, wanted } = cellsOf(rows, some, terminal)
    const last = fixed.at(-1) === true ? wanted.at(-1)! : Math.min(wanted.at(-1)!, readable)
    return widthOf([...wanted.slice(0, -1), last]) <= terminal.width
  }
  const count = [...spare.keys()].find((some) => fits(without(some)))
  return without(count ?? spare.length)
}

export const table = (
  rows: ReadonlyArray<object>,
  columns: ReadonlyArray<string>,
  terminal?: Terminal,
): ReadonlyArray<string> => {
  const { cells, fixed, wanted } = cellsOf(rows, columns, terminal)
  // A name is typed back too: it is cut only where nothing else is left to cut.
  const named = columns.map((column, at) => fixed[at] === true || /^(name|key|subject|who|what|where)$/.test(column))
  const widths = terminal === undefined ? wanted : fitted(fitted(wanted, named, terminal.width), fixed, terminal.width)
  return cells.map((line) =>
    line
      .map((text, at) => cut(text, widths[at]!).padEnd(widths[at]!))
      .join("  ".slice(0, gap))
      .trimEnd(),
  )
}
