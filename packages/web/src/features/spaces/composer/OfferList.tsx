/** Completions for the text being typed: a list above the field, controlled by the keys of the field. */
import type { ReactNode } from "react"
import { windowAt } from "./slash.logic.ts"
import { words } from "../words/en.ts"

export interface Offer {
  readonly name: string
  readonly line: ReactNode
  readonly choose: () => void
}

export interface OfferListProps {
  readonly id: string
  readonly label: string
  readonly offers: ReadonlyArray<Offer>
  readonly at: number
}

const room = 8

export const OfferList = ({ at, id, label, offers }: OfferListProps) => {
  const [from, to] = windowAt(offers.length, at, room)
  return (
    <div className="menu above">
      <ul id={id} role="listbox" aria-label={label}>
        {offers.slice(from, to).map(({ choose, line, name }, place) => (
          <li
            key={name}
            id={`${id}-${from + place}`}
            role="option"
            aria-selected={from + place === at}
            aria-posinset={from + place + 1}
            aria-setsize={offers.length}
            onPointerDown={(event) => {
              event.preventDefault()
              choose()
            }}
          >
            {line}
          </li>
        ))}
      </ul>
      {to - from === offers.length ? null : (
        <p className="faint small offered-more">{words.toolsShown(to - from, offers.length)}</p>
      )}
    </div>
  )
}
