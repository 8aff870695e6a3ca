/**
 * The timeline: only visible rows are in the document, the newest at the bottom, followed while the reader is there.
 */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react"
import { settings } from "../../../parts/settings.ts"
import { later } from "../../../feed/clock.ts"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { heightOf, type Row } from "./timeline.logic.ts"
import type { RowContext } from "./Article.tsx"
import { RowView } from "./RowView.tsx"
import { words } from "../words/en.ts"

export interface TimelineProps {
  readonly rows: ReadonlyArray<Row>
  readonly label: string
  readonly context: RowContext
  readonly more: (end: "older" | "newer") => void
  /** The number of the message to show; by default the newest. */
  readonly at: number | undefined
  readonly isGone: boolean
  readonly onEnd: (atEnd: boolean) => void
  readonly toNewest: () => Promise<void>
}

const near = 8

const wholeOf = (rows: ReadonlyArray<Row>): number => rows.reduce((sum, row) => sum + heightOf(row), 0)

export const Timeline = (props: TimelineProps) => {
  const { at, context, isGone, label, more, onEnd, rows, toNewest } = props
  const box = useRef<HTMLDivElement>(null)
  const [atEnd, setAtEnd] = useState(true)
  // Following the end is an intent, not a position: new rows do not end it, scrolling up does.
  const follows = useRef(at === undefined)
  const top = useRef(0)
  const target = at === undefined ? -1 : rows.findIndex((row) => row.kind === "message" && row.message.seq === at)
  // The requested position is kept, whatever is loaded above it, until the reader scrolls.
  const left = useRef<number>(undefined)
  const asked = useRef(at)
  const leave = () => {
    left.current = at
  }
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => heightOf(rows[index]!),
    getItemKey: (index) => rows[index]!.key,
    overscan: 6,
    // The first render is at the right position already: otherwise rows of the beginning would be drawn, and older ones
    // requested.
    initialRect: { width: 0, height: innerHeight },
    initialOffset: () =>
      Math.max(
        0,
        at === undefined ? wholeOf(rows) - innerHeight : wholeOf(rows.slice(0, target + 1)) - innerHeight / 2,
      ),
    anchorTo: "end",
    // One render for what arrives together; following the end is done below, once.
    useFlushSync: false,
    scrollEndThreshold: 60,
    paddingEnd: 12,
    paddingStart: 16,
  })
  const items = list.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0

  const onScroll = () => {
    const seen = box.current
    if (seen === null) return
    const place = seen.scrollTop
    // Read from the document: the virtual list handles the same scroll event, perhaps after us.
    const end = seen.scrollHeight - place - seen.clientHeight < 60
    if (end) follows.current = true
    else if (place < top.current - 2) follows.current = false
    top.current = place
    const now = end || follows.current
    if (now !== atEnd) {
      setAtEnd(now)
      onEnd(now)
    }
  }
  useLayoutEffect(() => {
    // Another position, or the same one requested again.
    if (asked.current !== at) left.current = undefined
    asked.current = at
    if (target >= 0) {
      if (left.current === at) return undefined
      follows.current = false
      list.scrollToIndex(target, { align: "center" })
      // The very first message is where the list begins: nothing scrolls, so no event would say that the end is far.
      return later(50, onScroll)
    }
    if (at === undefined) {
      follows.current = true
      list.scrollToEnd()
    }
    return undefined
    // Once a space, and for a place that was asked for until the reader scrolls.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [at, target, context.space.id])

  // The list keeps the height of every row it ever drew: heights of rows that are no longer loaded are removed now and
  // then.
  useEffect(() => {
    const { itemSizeCache: heights } = list
    if (heights.size < rows.length * 2 + 1000) return
    const here = new Set<unknown>(rows.map(({ key }) => key))
    for (const key of heights.keys()) if (!here.has(key)) heights.delete(key)
  }, [list, rows])

  useEffect(() => {
    if (first < near) more("older")
    if (last > rows.length - near) more("newer")
  }, [first, last, rows.length, more])

  const height = list.getTotalSize()
  // The last row too: when old rows are dropped, one goes as one comes, and the height stays the same.
  const newest = rows.at(-1)?.key
  useLayoutEffect(() => {
    if (follows.current) list.scrollToEnd()
  }, [height, newest, list])

  const goToNewest = async () => {
    leave()
    await toNewest()
    follows.current = true
    list.scrollToEnd()
    onScroll()
  }

  const move = (step: number) => {
    const seen = [...(box.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])]
    const here = seen.findIndex((one) => one.contains(document.activeElement))
    const next = here === -1 ? seen.at(step < 0 ? -1 : 0) : seen[here + step]
    next?.focus()
    next?.scrollIntoView({ block: "nearest" })
  }
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    leave()
    if (event.target instanceof HTMLElement && ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { letters } = settings.get()
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")
    if (event.key === "ArrowDown" || (letters && event.key === "j")) move(1)
    else if (event.key === "ArrowUp" || (letters && event.key === "k")) move(-1)
    else if (event.key === "End") void goToNewest()
    else if (letters && event.key === "r") row?.querySelector<HTMLElement>("[data-act=reply]")?.click()
    else if (letters && event.key === "+") row?.querySelector<HTMLElement>("[data-act=react]")?.click()
    else if (event.key === "Enter" && event.target === row)
      row?.querySelector<HTMLElement>("summary, .thread-link button")?.click()
    else return
    event.preventDefault()
  }

  return (
    <div className="timeline-box">
      <div
        ref={box}
        className="scroll timeline"
        role="log"
        aria-label={label}
        aria-live="off"
        // A box that scrolls must be reachable by keys.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        data-gone={isGone || undefined}
        onScroll={onScroll}
        onWheel={leave}
        onTouchMove={leave}
        onPointerDown={leave}
        onKeyDown={onKey}
      >
        <div className="sizer" style={{ height }}>
          {items.map((item) => (
            <div
              key={item.key}
              ref={list.measureElement}
              data-index={item.index}
              className="slot"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <RowView row={rows[item.index]!} context={context} />
            </div>
          ))}
        </div>
      </div>
      {atEnd ? null : (
        <button type="button" className="button to-newest" onClick={() => void goToNewest()}>
          <Icon name="arrow-down" small />
          {words.toNewest}
        </button>
      )}
    </div>
  )
}
