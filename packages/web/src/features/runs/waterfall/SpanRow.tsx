/** One row of the waterfall: what it was, when, and how long. */
import { type KeyboardEvent, memo } from "react"
import { inputSummary } from "../../../cards/call.logic.ts"
import type { Json } from "../../../feed/types.ts"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { counted } from "../../../parts/figures/money.logic.ts"
import { durationOf as lengthOf } from "../../../parts/figures/time.logic.ts"
import type { Scale, Span } from "./spans.logic.ts"
import type { Wait } from "../run.logic.ts"
import { words } from "../words/en.ts"

const icons = {
  step: "chevron-down",
  model: "cpu",
  tool: "wrench",
  wait: "hourglass",
  memory: "book-open",
  speech: "message-square",
  run: "bot",
} as const

const tints = {
  step: "model",
  model: "model",
  tool: "tool",
  wait: "wait",
  memory: "memory",
  speech: "speech",
  run: "tool",
}

export interface SpanRowProps {
  readonly span: Span
  readonly scale: Scale
  /** The clock for open spans; 0 for ended ones, so that they are not redrawn. */
  readonly now: number
  readonly open: boolean
  readonly selected: boolean
  readonly focusable: boolean
  readonly index: number
  readonly top: number | undefined
  readonly names: (id: string) => string
  readonly doing: string | undefined
  readonly choose: (id: string) => void
  readonly turn: (id: string) => void
  readonly onKey: (id: string, event: KeyboardEvent) => void
}

const waitName = ({ endedAt, for: parties }: Wait, names: (id: string) => string): string => {
  const whom = parties.map(({ id }) => names(id)).join(", ") || words.anybody
  return endedAt === null ? words.waitsFor(whom) : words.waitedFor(whom)
}

export const nameOf = (span: Span, names: (id: string) => string): string => {
  if (span.kind === "step") return words.step(span.step)
  if (span.kind === "model") return words.modelCall
  if (span.kind === "run") return words.subRun(names(span.child!.agent))
  if (span.kind !== "wait") return span.name
  if (span.wait !== undefined) return waitName(span.wait, names)
  return span.decision === undefined ? (words.waitsOn[span.on ?? ""] ?? words.waits) : words.decision
}

const summaryOf = (span: Span, doing: string | undefined): string => {
  if (span.kind === "model")
    return span.to === undefined
      ? (doing ?? words.thinks)
      : words.tokensInOut(counted(span.runStep!.tokens.in), counted(span.runStep!.tokens.out))
  if (span.wait !== undefined) return words.waitEnds[span.wait.state] ?? ""
  if (span.kind === "run") return span.child!.trigger.summary
  if (span.call !== undefined && span.kind !== "wait") return inputSummary(span.call.input as Json)
  return ""
}

const tookOf = (span: Span, now: number): string => {
  if (span.from === undefined) return words.notMade
  if (span.call?.state === "waiting" && span.kind !== "wait") return words.waitsShort
  return lengthOf(Math.max(0, (span.to ?? now) - span.from))
}

/** Percent of the width: a narrower bar shows only the hatching, which the word would hide. */
const roomForWord = 30

const Track = ({ now, scale, span }: Pick<SpanRowProps, "now" | "scale" | "span">) => {
  if (span.from === undefined) return null
  const from = scale.place(span.from) * 100
  const to = scale.place(span.to ?? now) * 100
  const until = span.to ?? now
  const folded = span.kind === "wait" && scale.folded.some(([a, b]) => span.from! < b && until > a)
  const waits = span.call?.state === "waiting" && span.kind !== "wait"
  if (waits) return null
  const shape = span.kind === "step" || span.works !== undefined ? "ghost" : span.kind === "wait" ? "hatch" : ""
  return (
    <>
      <i
        className={`t-${tints[span.kind]} ${shape}`}
        style={{ left: `${from}%`, width: `${Math.max(0, to - from)}%` }}
      />
      {/* A call that waited: a line for its whole span, and bars where it worked. */}
      {span.works?.map(([start, end]) => (
        <i
          key={start}
          className={`t-${tints[span.kind]}`}
          style={{ left: `${scale.place(start) * 100}%`, width: `${(scale.place(end) - scale.place(start)) * 100}%` }}
        />
      ))}
      {folded && to - from > roomForWord ? (
        <b className="wide-only" style={{ left: `${(from + to) / 2}%` }}>
          {words.folded}
        </b>
      ) : null}
    </>
  )
}

export const SpanRow = memo((props: SpanRowProps) => {
  const { choose, doing, focusable, index, names, now, onKey, open, scale, selected, span, top, turn } = props
  const gist = summaryOf(span, doing)
  return (
    <div
      role="row"
      className={`span t-${tints[span.kind]} ${span.kind === "step" ? "step" : ""}`}
      aria-level={span.level}
      aria-rowindex={index + 2}
      aria-selected={selected}
      {...(span.opens ? { "aria-expanded": open } : {})}
      tabIndex={focusable ? 0 : -1}
      data-span={span.id}
      style={
        {
          "--deep": span.level - 1,
          ...(top === undefined
            ? {}
            : { position: "absolute", insetInline: 0, top: 0, transform: `translateY(${top}px)` }),
        } as object
      }
      onKeyDown={(event) => onKey(span.id, event)}
      onClick={() => (span.kind === "step" ? turn(span.id) : choose(span.id))}
    >
      <span className="who" role="rowheader">
        {span.kind === "step" ? (
          <Icon name={open ? "chevron-down" : "chevron-right"} small />
        ) : (
          <Icon name={icons[span.kind]} small />
        )}
        <span className="cut">{nameOf(span, names)}</span>
        {gist === "" ? null : <span className="faint cut wide-only">{gist}</span>}
      </span>
      <span className="track" role="gridcell">
        <Track span={span} scale={scale} now={now} />
      </span>
      <span className="took" role="gridcell">
        {tookOf(span, now)}
      </span>
    </div>
  )
})
