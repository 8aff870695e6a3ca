/** A run as rows of a waterfall: steps, and what happened in each. Pure, with stable ids. */
import type { Run, RunStep } from "../../../feed/types.ts"
import { moment } from "../../../feed/clock.ts"
import { isOver, type Wait, type WholeRun } from "../run.logic.ts"

type SpanKind = "step" | "model" | "tool" | "wait" | "memory" | "speech" | "run"
type StepCall = RunStep["calls"][number]
type Interval = readonly [from: number, to: number]

export interface Span {
  /** Stable, so that an address can contain it. */
  readonly id: string
  readonly kind: SpanKind
  readonly level: number
  readonly step: number
  /** Whose step it is: the run's own, or that of a run that works for it. */
  readonly run: string
  readonly name: string
  readonly from: number | undefined
  /** Absent while it is open. */
  readonly to: number | undefined
  /** Whether it has child rows. */
  readonly opens: boolean
  /** For a call that waited and is over: when it worked. */
  readonly works?: ReadonlyArray<Interval>
  readonly runStep?: RunStep
  readonly call?: StepCall
  readonly decision?: string
  readonly on?: string
  /** Whose answers were awaited, and how that ended. */
  readonly wait?: Wait
  readonly child?: Run
}

const millis = (at: string | undefined | null): number | undefined => (at == null ? undefined : moment(at).getTime())

/** Guessed from its name, for its colour and icon. */
export const kindOfTool = (tool: string): "memory" | "speech" | "tool" => {
  const name = tool.slice(tool.lastIndexOf("/") + 1)
  if (/memor|remember|recall|forget|engram|passage|(^|_)(goal|plan|block)s?(_|$)/i.test(name)) return "memory"
  return /(post|send|reply|edit)_?message|^(post|reply|react)/i.test(name) ? "speech" : "tool"
}

/** The latest end of several; undefined while one of them is open. */
const lastOf = (ends: ReadonlyArray<number | undefined>): number | undefined =>
  ends.includes(undefined) ? undefined : Math.max(...(ends as ReadonlyArray<number>))

/** Waits for answers: one row each, which ends with the wait or with its run. */
const waitSpans = (
  waits: ReadonlyArray<Wait>,
  span: Omit<Span, "kind" | "name" | "from" | "to" | "opens" | "on" | "wait">,
  end: number | undefined,
): ReadonlyArray<Span> =>
  waits.map((wait, place) => ({
    ...span,
    id: `${span.id}r${place}`,
    kind: "wait",
    name: "",
    from: millis(wait.since),
    to: millis(wait.endedAt) ?? end,
    opens: false,
    on: "reply",
    wait,
  }))

/** For a wait without its own record: it began when people had approved the call, and ended with the call. */
const isOutside = ({ call, on }: StepCall) => on?.kind === "client" || (on?.kind === "callback" && on.id === call)

const callSpans = (
  { children, run }: WholeRun,
  step: RunStep,
  call: StepCall,
  base: { readonly level: number; readonly prefix: string },
): ReadonlyArray<Span> => {
  const id = `${base.prefix}s${step.number}c${call.place}`
  const at = { step: step.number, run: run.id }
  const end = millis(call.endedAt) ?? (isOver(run) ? millis(run.endedAt) : undefined)
  const asked = (call.decisions ?? []).map((one, place): Span => ({
    ...at,
    id: `${id}d${place}`,
    kind: "wait",
    level: base.level + 1,
    name: "",
    from: millis(one.askedAt),
    to: millis(one.endedAt) ?? end,
    opens: false,
    decision: one.id,
    call,
  }))
  const runs = children
    .filter(({ parent }) => parent === call.call && call.call !== undefined)
    .map((child): Span => ({
      ...at,
      id: `${base.prefix}${child.id}`,
      kind: "run",
      level: base.level + 1,
      name: "",
      from: millis(child.startedAt) ?? millis(child.createdAt),
      to: millis(child.endedAt),
      opens: true,
      child,
    }))
  const replies = waitSpans(
    (step.waits ?? []).filter((one) => one.call !== undefined && one.call === call.call),
    { ...at, id, level: base.level + 1, call },
    end,
  )
  // What else it waits or waited for, besides people, runs and answers.
  const others: ReadonlyArray<Span> =
    call.on !== undefined &&
    (end === undefined || (isOutside(call) && (call.on.kind !== "client" || asked.length === 0))) &&
    call.on.kind !== "decision" &&
    runs.length + replies.length === 0 &&
    asked.every(({ to }) => to !== undefined)
      ? [
          {
            ...at,
            id: `${id}w`,
            kind: "wait",
            level: base.level + 1,
            name: "",
            from: lastOf([millis(call.beganAt), ...asked.map(({ to }) => to)]),
            to: end,
            opens: false,
            on: call.on.kind,
            call,
          },
        ]
      : []
  const below = [...asked, ...runs, ...replies, ...others]
  const began = millis(call.beganAt)
  const works =
    began === undefined || end === undefined || below.length === 0
      ? {}
      : {
          works: worksIn(
            began,
            end,
            below.flatMap(({ from, to }) => (from === undefined ? [] : [[from, to ?? end] as const])),
          ),
        }
  return [
    {
      ...at,
      id,
      kind: kindOfTool(call.tool),
      level: base.level,
      name: call.tool,
      from: began,
      to: began === undefined ? undefined : end,
      opens: below.length > 0,
      ...works,
      call,
      runStep: step,
    },
    ...below,
  ]
}

/**
 * All rows of a run, in order, with nothing collapsed. Runs that work for it are rows; `inside` has the expanded ones.
 */
export const spansOf = (
  taken: WholeRun,
  inside: ReadonlyMap<string, WholeRun>,
  level = 1,
  prefix = "",
): Array<Span> => {
  const { run, steps } = taken
  const end = millis(run.endedAt)
  return steps.flatMap((step) => {
    const began = millis(step.beganAt)!
    const said = millis(step.saidAt) ?? end
    const at = { step: step.number, run: run.id, runStep: step }
    const calls = step.calls.flatMap((call) => callSpans(taken, step, call, { level: level + 1, prefix }))
    // Waits of the run itself: a team's requests, which belong to no call.
    const hanging = waitSpans(
      (step.waits ?? []).filter((one) => step.calls.every(({ call }) => call !== one.call || call === undefined)),
      { step: step.number, run: run.id, id: `${prefix}s${step.number}`, level: level + 1 },
      end,
    )
    const parts = [...calls, ...hanging].filter(({ from }) => from !== undefined)
    const model: Span = {
      ...at,
      id: `${prefix}s${step.number}m`,
      kind: "model",
      level: level + 1,
      name: step.model ?? "",
      from: began,
      to: said,
      opens: false,
    }
    const head: Span = {
      ...at,
      id: `${prefix}s${step.number}`,
      kind: "step",
      level,
      name: "",
      from: began,
      to: lastOf([said, ...parts.map(({ to }) => to)]),
      opens: true,
    }
    return [head, model, ...calls, ...hanging].flatMap((span) => {
      const within = span.child === undefined ? undefined : inside.get(span.child.id)
      return within === undefined ? [span] : [span, ...spansOf(within, inside, span.level + 1, `${span.child!.id}.`)]
    })
  })
}

/** The visible rows: nothing below a collapsed row. Other runs are collapsed until expanded. */
export const shownOf = (spans: ReadonlyArray<Span>, turned: ReadonlySet<string>): ReadonlyArray<Span> => {
  const shown: Array<Span> = []
  let hiddenBelow = Infinity
  for (const span of spans) {
    if (span.level > hiddenBelow) continue
    hiddenBelow = Infinity
    shown.push(span)
    if (span.opens && !isOpen(span, turned)) hiddenBelow = span.level
  }
  return shown
}

export const isOpen = ({ id, kind }: Span, turned: ReadonlySet<string>): boolean => (kind === "run") === turned.has(id)

/** Merges overlapping intervals, in order. */
const joined = (list: ReadonlyArray<Interval>): ReadonlyArray<Interval> => {
  const result: Array<[number, number]> = []
  for (const [from, to] of list.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else if (to > from) result.push([from, to])
  }
  return result
}

const lengthOf = (list: ReadonlyArray<Interval>) => list.reduce((sum, [from, to]) => sum + to - from, 0)

/** The parts in which it did not wait. */
const worksIn = (from: number, to: number, waits: ReadonlyArray<Interval>): ReadonlyArray<Interval> => {
  const parts: Array<Interval> = []
  let at = from
  for (const [start, end] of joined(waits)) {
    if (start > at) parts.push([at, Math.min(start, to)])
    at = Math.max(at, end)
  }
  if (at < to) parts.push([at, to])
  return parts
}

export interface Scale {
  /** A moment as a fraction of the width, 0 to 1. */
  readonly place: (at: number) => number
  /** The moment at a fraction of the width, counted from the beginning. */
  readonly at: (part: number) => number
  readonly folded: ReadonlyArray<Interval>
  readonly worked: number
  readonly waited: number
  readonly total: number
}

const share = 1 / 3

/**
 * The axis is worked time: a wait longer than a third of the work is folded, so that a day of waiting does not flatten
 * seconds.
 */
export const scaleOf = (spans: ReadonlyArray<Span>, now: number, isTrue: boolean): Scale => {
  const timed = spans.filter(({ from }) => from !== undefined)
  const start = timed.length === 0 ? now : Math.min(...timed.map(({ from }) => from!))
  const waitsOf = new Map<string, Array<Interval>>()
  for (const one of timed) {
    const of = one.kind === "wait" ? one.call?.call : one.kind === "run" ? one.child?.parent : undefined
    if (of !== undefined) waitsOf.set(of, [...(waitsOf.get(of) ?? []), [one.from!, one.to ?? now]])
  }
  const end = Math.max(start + 1, ...timed.map(({ to }) => to ?? now))
  const work = joined(
    timed.flatMap(({ call, from, kind, to }) => {
      if (kind === "run" || kind === "step" || kind === "wait") return []
      return worksIn(from!, to ?? now, waitsOf.get(call?.call ?? "") ?? [])
    }),
  )
  const worked = lengthOf(work)
  const gaps = worksIn(start, end, work)
  const long = Math.max(worked * share, 1)
  const folded = isTrue ? [] : gaps.filter(([from, to]) => to - from > long)
  const drawn = end - start - lengthOf(folded) + folded.length * long
  const place = (at: number): number => {
    const inside = Math.min(Math.max(at, start), end)
    let width = inside - start
    for (const [from, to] of folded) {
      if (inside >= to) width -= to - from - long
      else if (inside > from) width -= inside - from - (long * (inside - from)) / (to - from)
    }
    return width / drawn
  }
  const at = (part: number): number => {
    let left = part * drawn
    let moment = start
    for (const [from, to] of folded) {
      if (left <= from - moment) break
      left -= from - moment
      moment = from
      if (left <= long) return moment - start + (left * (to - from)) / long
      left -= long
      moment = to
    }
    return moment + left - start
  }
  return { place, at, folded, worked, waited: lengthOf(gaps), total: end - start }
}

/** The row selected at first: one that waits or fails, else the last one. */
export const firstOf = (spans: ReadonlyArray<Span>): Span | undefined =>
  spans.find(({ call, kind }) => kind !== "wait" && call?.state === "waiting") ??
  spans.find(({ call, kind }) => kind !== "wait" && call?.state === "failed") ??
  spans.findLast(({ kind }) => kind !== "step" && kind !== "wait") ??
  spans.at(-1)

/** The row that an arrow key leads to. */
export const moveOf = (
  key: string,
  at: number,
  rows: ReadonlyArray<Span>,
  turned: ReadonlySet<string>,
): { readonly to: number } | { readonly turn: string } | undefined => {
  const here = rows[at]
  if (here === undefined) return undefined
  const within = (to: number) => ({ to: Math.min(Math.max(to, 0), rows.length - 1) })
  if (key === "ArrowDown" || key === "j") return within(at + 1)
  if (key === "ArrowUp" || key === "k") return within(at - 1)
  if (key === "Home") return within(0)
  if (key === "End") return within(rows.length - 1)
  if (key === "ArrowRight") return here.opens && !isOpen(here, turned) ? { turn: here.id } : within(at + 1)
  if (key !== "ArrowLeft") return undefined
  if (here.opens && isOpen(here, turned)) return { turn: here.id }
  const parent = rows.slice(0, at).findLastIndex(({ level }) => level < here.level)
  return parent < 0 ? undefined : { to: parent }
}
