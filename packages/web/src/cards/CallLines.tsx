/** Consecutive calls of one author share a frame; many are folded into one line. */
import { lazy, memo, Suspense, useState } from "react"
import { useStart } from "../feed/start.ts"
import { inputs } from "../feed/events/signals.ts"
import { useStore } from "../feed/store.ts"
import type { Message, MessageCall } from "../feed/types.ts"
import { Icon } from "../parts/icons/Icon.tsx"
import { endOf, inputSummary } from "./call.logic.ts"
import { ownCardOf } from "./own/own.logic.ts"
import { kindFor } from "./kinds/kinds.logic.ts"
import { words } from "./words/en.ts"

const CallDetail = lazy(() => import("./CallDetail.tsx").then(({ CallDetail }) => ({ default: CallDetail })))

const KindCard = lazy(() => import("./kinds/KindCard.tsx").then(({ KindCard }) => ({ default: KindCard })))
const OwnCard = lazy(() => import("./own/OwnCard.tsx").then(({ OwnCard }) => ({ default: OwnCard })))
const ClosedLine = lazy(() => import("./decision/ClosedLine.tsx").then(({ ClosedLine }) => ({ default: ClosedLine })))

const unfolded = 5

/** The part of the input that has arrived so far. */
const Streaming = ({ id }: { readonly id: string }) => {
  const written = useStore(inputs).get(id)
  return written === undefined ? null : <span className="gist">{written}</span>
}

interface CallLineProps {
  readonly call: MessageCall
  readonly by: string
  readonly space: string
}

const CallLine = memo(({ by, call, space }: CallLineProps) => {
  const { cards, decisions } = useStart()
  const [open, set] = useState(false)
  const end = endOf(
    call,
    decisions.some((one) => one.call?.id === call.id),
  )
  const gist = inputSummary(call.input)
  const own = ownCardOf(call, cards)
  const kind = own === undefined ? kindFor(call) : undefined
  return (
    <>
      <details className="call" open={open} onToggle={(event) => set(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron-right" small />
          <span className="tool">{call.tool}</span>
          {gist === "" && end.icon === undefined ? <Streaming id={call.id} /> : <span className="gist">{gist}</span>}
          <span className="end" data-tone={end.tone}>
            {end.icon === undefined ? <span className="ring" /> : <Icon name={end.icon} small />}
            <span className="cut">{end.words}</span>
          </span>
        </summary>
        {open ? (
          <Suspense fallback={<div className="call-in" />}>
            <CallDetail call={call} by={by} space={space} />
            {call.decision === undefined ? null : <ClosedLine id={call.decision} />}
          </Suspense>
        ) : null}
      </details>
      {own === undefined ? null : (
        <Suspense fallback={<div className="kind-card" />}>
          <div className="kind-card" data-card={own}>
            <OwnCard call={call} name={own} />
          </div>
        </Suspense>
      )}
      {kind === undefined ? null : (
        <Suspense fallback={<div className="kind-card" />}>
          <KindCard call={call} kind={kind} />
        </Suspense>
      )}
    </>
  )
})

export const CallLines = ({ messages }: { readonly messages: ReadonlyArray<Message> }) => {
  const calls = messages.flatMap(({ author, call, space }) => (call === null ? [] : [{ call, by: author.name, space }]))
  const [all, show] = useState(false)
  const folded = calls.length > unfolded && !all
  const failed = calls.filter(({ call }) => call.error !== undefined).length
  return (
    <div className="calls">
      {folded ? (
        <button type="button" className="call fold" onClick={() => show(true)}>
          <Icon name="chevron-right" small />
          {words.calls(calls.length, failed)}
        </button>
      ) : (
        calls.map((one) => <CallLine key={one.call.id} {...one} />)
      )}
    </div>
  )
}
