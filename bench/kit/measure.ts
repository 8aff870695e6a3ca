/** Numbers and tables: percentiles, the middle of several rounds with their spread, and rows that line up. */
import { cpus, loadavg, release, totalmem } from "node:os"

export interface Delays {
  readonly p50: number
  readonly p99: number
}

const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

export const delaysOf = (millis: ReadonlyArray<number>): Delays => {
  const sorted = Float64Array.from(millis).toSorted()
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
}

export const middle = (values: ReadonlyArray<number>): number => percentile(Float64Array.from(values).toSorted(), 0.5)

export const number = (value: number): string => {
  if (!Number.isFinite(value)) return "-"
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, ",")
}

/** The middle round, and the lowest and highest beside it. */
export const spread = (values: ReadonlyArray<number>): string =>
  values.length < 2
    ? number(values[0] ?? Number.NaN)
    : `${number(middle(values))} (${number(Math.min(...values))}..${number(Math.max(...values))})`

/** Between which two the middle of all rounds lies, those not taken too, with 95 % certainty. */
export const middleRange = (values: ReadonlyArray<number>): readonly [least: number, most: number] => {
  const sorted = Float64Array.from(values).toSorted()
  const left = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)))
  return [sorted[left] ?? Number.NaN, sorted[sorted.length - 1 - left] ?? Number.NaN]
}

/** Ours over theirs, round by round, so that a slow minute of the machine falls on both. */
export const quotients = (ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>): ReadonlyArray<number> =>
  ours.map((value, round) => value / (theirs[round] ?? Number.NaN))

export const ratio = (ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>): string =>
  `${spread(quotients(ours, theirs))} x`

/** A Markdown table whose columns line up in a terminal too. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? "").length)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join(" | ")} |`
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`
  return [line(head), rule, ...rows.map(line)].join("\n")
}

/** How busy the machine was, with us and with others: a figure from a crowded minute is not the house's. */
export const load = (): string => loadavg()[0]!.toFixed(1)

export const machine = (): string => {
  const processors = cpus()
  return [
    `${processors.length} x ${processors[0]?.model.trim() ?? "unknown"}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${process.platform} ${release()}`,
    `Node ${process.versions.node}`,
  ].join(", ")
}
