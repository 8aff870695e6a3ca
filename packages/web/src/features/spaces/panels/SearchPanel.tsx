/** Search in one space; a result leads to its place in the timeline. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../../feed/house.ts"
import type { Space } from "../../../feed/types.ts"
import { Avatar } from "../../../parts/icons/Avatar.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { AgoTime } from "../../../parts/figures/Time.tsx"
import { useOverlay } from "../../../parts/press/overlays.ts"
import { words as common } from "../../../words/en.ts"
import { words } from "../words/en.ts"

export interface SearchPanelProps {
  readonly space: Space
  readonly asked: string
  readonly close: () => void
}

export const SearchPanel = ({ asked, close, space }: SearchPanelProps) => {
  const overlay = useOverlay<HTMLElement>("search-panel", close)
  const navigate = useNavigate()
  const [text, write] = useState(asked.trim())
  const q = asked.trim()
  const { data, error, isFetching } = useQuery({
    queryKey: ["search", space.id, q],
    queryFn: () => house.messages.search({ q, space: space.id, limit: 30 }),
    enabled: q !== "",
  })
  return (
    <aside {...overlay} className="panel scroll sheet" aria-label={words.search}>
      <form
        className="line"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          void navigate({ to: "/s/$space", params: { space: space.name }, search: { q: text || " " } })
        }}
      >
        <span className="search grow">
          <Icon name="search" small />
          <input
            aria-label={words.search}
            placeholder={words.search}
            value={text}
            onChange={(event) => write(event.target.value)}
            // Whoever asked to search types next.
            // oxlint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
          />
        </span>
        <button type="button" className="button plain icon" aria-label={common.close} onClick={close}>
          <Icon name="x" small />
        </button>
      </form>
      {isFetching ? <LoadingPane /> : null}
      {error === null ? null : <FaultPane error={error} />}
      {data === undefined ? null : data.items.length === 0 ? (
        <EmptyPane>{words.nothingFound}</EmptyPane>
      ) : (
        <section className="stack">
          <h2 className="label" role="status">
            {words.found(data.items.length)}
          </h2>
          <ul className="rows finds">
            {data.items.map((one) => (
              <li key={one.id}>
                <Link className="pick" to="/s/$space" params={{ space: space.name }} search={{ q, at: one.seq }}>
                  <Avatar name={one.author.name} kind={one.author.kind} size="s" />
                  <b>{one.author.name}</b>
                  <AgoTime at={one.createdAt} />
                  <span className="sub clamp">
                    {one.text === "" && one.call !== null ? words.called(one.call.tool) : one.text}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  )
}
