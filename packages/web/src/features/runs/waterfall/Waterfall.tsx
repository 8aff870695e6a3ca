/** What a run did, row by row, over worked time. A tree that can be walked with the arrow keys. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from "react"
import { streamedTexts } from "../../../feed/events/signals.ts"
import { useStore } from "../../../feed/store.ts"
import { durationOf as lengthOf } from "../../../parts/figures/time.logic.ts"
import { isOpen, moveOf, type Scale, type Span } from "./spans.logic.ts"
import { SpanRow } from "./SpanRow.tsx"
import { words } from "../words/en.ts"

export interface WaterfallProps {
  readonly rows: ReadonlyArray<Span>
  readonly scale: Scale
  readonly now: number
  readonly turned: ReadonlySet<string>
  readonly turn: (id: string) => void
  readonly selected: string | undefined
  readonly choose: (id: string) => void
  readonly names: (id: string) => string
  /**
   * The scrolling element. It is an ancestor, so it exists only after the first render: not a ref, which would not
   * cause a render.
   */
  readonly scroller: HTMLDivElement | null
}

/** Up to this many rows are all drawn; of more, only the visible ones. */
const most = 200
const rowHeight = () => (matchMedia("(max-width: 48rem)").matches ? 36 : 30)
const lines = [0.19, 0.38, 0.57]

const Axis = ({ scale }: { readonly scale: Scale }) => (
  <div className="axis" role="row" aria-rowindex={1}>
    <span role="columnheader">{words.stepColumn}</span>
    <span className="ticks" role="columnheader" aria-label={words.time}>
      <span>{lengthOf(0).replace("ms", "s")}</span>
      {lines.map((part) => (
        <span key={part} className="wide-only" style={{ left: `${part * 100}%` }}>
          {lengthOf(scale.at(part))}
        </span>
      ))}
      <span style={{ left: "100%" }}>{lengthOf(scale.total)}</span>
    </span>
    <span role="columnheader" className="took">
      {words.took}
    </span>
  </div>
)

export const Waterfall = (props: WaterfallProps) => {
  const { choose, names, now, rows, scale, scroller, selected, turn, turned } = props
  const box = useRef<HTMLDivElement>(null)
  const [focus, setFocus] = useState<string | undefined>(selected)
  const wanted = useRef<string | undefined>(undefined)
  const said = useStore(streamedTexts)
  const many = rows.length > most
  const virtual = useVirtualizer({
    count: many ? rows.length : 0,
    getScrollElement: () => scroller,
    estimateSize: rowHeight,
    overscan: 12,
    scrollMargin: box.current?.offsetTop ?? 0,
  })
  const at = Math.max(
    0,
    rows.findIndex(({ id }) => id === (focus ?? selected)),
  )
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const row = box.current?.querySelector<HTMLElement>(`[data-span="${CSS.escape(wanted.current)}"]`)
    if (row == null) return
    wanted.current = undefined
    row.focus()
  })
  const onKey = (row: string, event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault()
      return choose(row)
    }
    const move = moveOf(
      event.key,
      rows.findIndex(({ id }) => id === row),
      rows,
      turned,
    )
    if (move === undefined) return
    event.preventDefault()
    if ("turn" in move) return turn(move.turn)
    const next = rows[move.to]!.id
    wanted.current = next
    setFocus(next)
    if (many) virtual.scrollToIndex(move.to)
  }
  // Rows render only for their own deltas and ticks, so the callbacks they get must stay the same.
  const latest = useRef({ choose, turn, onKey })
  useLayoutEffect(() => {
    latest.current = { choose, turn, onKey }
  })
  const acts = useMemo(
    () => ({
      choose: (id: string) => latest.current.choose(id),
      turn: (id: string) => latest.current.turn(id),
      onKey: (id: string, event: KeyboardEvent) => latest.current.onKey(id, event),
    }),
    [],
  )
  const draw = (index: number, top?: number) => {
    const span = rows[index]!
    const saying = span.kind === "model" && span.to === undefined ? said.get(span.run) : undefined
    return (
      <SpanRow
        key={span.id}
        span={span}
        scale={scale}
        now={span.to === undefined ? now : 0}
        open={isOpen(span, turned)}
        selected={span.id === selected}
        focusable={index === at}
        index={index}
        top={top}
        names={names}
        doing={saying?.step === span.step ? saying.text.slice(-80) : undefined}
        {...acts}
      />
    )
  }
  return (
    <div className="fall" role="treegrid" aria-label={words.waterfall} aria-rowcount={rows.length + 1} tabIndex={-1}>
      <Axis scale={scale} />
      <div
        role="rowgroup"
        className="fall-rows"
        ref={box}
        {...(many ? { style: { height: virtual.getTotalSize(), position: "relative" as const } } : {})}
      >
        {many
          ? virtual.getVirtualItems().map(({ index, start }) => draw(index, start - virtual.options.scrollMargin))
          : rows.map((_, index) => draw(index))}
      </div>
    </div>
  )
}
