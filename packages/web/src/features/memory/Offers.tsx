/** What others offer to share with the user, or with an agent that they answer for: to take or to decline. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useNames } from "../../feed/start.ts"
import type { MemoryOffer } from "../../feed/types.ts"
import { counted } from "../../parts/figures/money.logic.ts"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import "./Memory.css"
import { memoryChanged, useOffers } from "./useMemory.ts"
import { words } from "./words/en.ts"

interface Receiver {
  /** The agent that it is for; otherwise the user. */
  readonly agent?: string
}

const Offer = ({ agent, offer }: Receiver & { readonly offer: MemoryOffer }) => {
  const name = useNames()(offer.owner)
  const [busy, work] = useState(false)
  const [fault, fail] = useState<unknown>()
  const answer = async (taken: boolean) => {
    work(true)
    fail(undefined)
    try {
      await house.memory.answer(offer.id, { taken, ...(agent === undefined ? {} : { for: agent }) })
      await memoryChanged()
    } catch (error) {
      fail(error)
      work(false)
    }
  }
  const { key, kind, right, size, text = "" } = offer
  return (
    <li className="note stack" aria-label={words.offerOf(key, name)}>
      <p className="line wrap">
        <b className="memory-offered">{key}</b>
        <span className="faint small">
          {`${kind} · ${words.offeredBy(name, words.rights[right]!)} · `}
          <AgoTime at={offer.offeredAt} said />
        </span>
      </p>
      {/* As it was written: in another's words nothing is a link, a picture or a heading. */}
      <pre className="code memory-foreign" tabIndex={0} aria-label={words.wordsOf(name)} dir="auto">
        {text}
      </pre>
      <p className="line wrap">
        {size > text.length ? <span className="faint small">{words.offerCut(counted(size - text.length))}</span> : null}
        <span className="line push">
          <button
            type="button"
            className="button tiny"
            disabled={busy}
            aria-label={words.onOffer(words.take, key, name)}
            onClick={() => void answer(true)}
          >
            {words.take}
          </button>
          <button
            type="button"
            className="button tiny plain"
            disabled={busy}
            aria-label={words.onOffer(words.decline, key, name)}
            onClick={() => void answer(false)}
          >
            {words.decline}
          </button>
        </span>
      </p>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </li>
  )
}

export const Offers = ({ agent }: Receiver) => {
  const { data, error, fetchNextPage, hasNextPage, isPending, refetch, waiting } = useOffers(agent)
  if (isPending) return <LoadingPane lines={3} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  const items = data.pages.flatMap((page) => page.items)
  // An agent's pane has other things to show.
  if (items.length === 0) return agent === undefined ? <EmptyPane>{words.offersNone}</EmptyPane> : null
  const title = agent === undefined ? words.offers : words.offersTo(agent)
  return (
    <section className="stack memory-offers" aria-label={title}>
      <h2 className="line">
        {title}
        {waiting === undefined ? null : <span className="count">{waiting}</span>}
      </h2>
      <p className="faint small">{agent === undefined ? words.offersHint : words.offersHintOf(agent)}</p>
      <ul className="stack">
        {items.map((offer) => (
          <Offer key={offer.id} offer={offer} {...(agent === undefined ? {} : { agent })} />
        ))}
      </ul>
      {hasNextPage ? (
        <p>
          <button type="button" className="button tiny" onClick={() => void fetchNextPage()}>
            {words.moreOffers}
          </button>
        </p>
      ) : null}
    </section>
  )
}
