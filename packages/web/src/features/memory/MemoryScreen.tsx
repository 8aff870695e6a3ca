/** One owner's memory: to see, correct and trust it. */
import "./Memory.css"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { later } from "../../feed/clock.ts"
import { useOffersWaiting, usePeople, useStart } from "../../feed/start.ts"
import type { MemoryRecord } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { isWide } from "../../parts/settings.ts"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { WholeMemory } from "./WholeMemory.tsx"
import { firstLine, groupsOf, iconOf, inOrder, whyOf } from "./memory.logic.ts"
import { NewRecord } from "./NewRecord.tsx"
import { Offers } from "./Offers.tsx"
import { RecordView } from "./RecordView.tsx"
import { type MemoryFilter, useRecords } from "./useMemory.ts"
import { words } from "./words/en.ts"

const Line = ({
  current,
  filter,
  record,
}: {
  readonly record: MemoryRecord
  readonly filter: MemoryFilter
  readonly current: boolean
}) => {
  const why = whyOf(record)
  return (
    <li>
      <Link
        className="pick"
        to="/memory/$id"
        params={{ id: record.id }}
        search={filter}
        {...(current ? { "aria-current": "true" as const } : {})}
      >
        <Icon name={iconOf(record)} small />
        <b className="cut">{record.key}</b>
        <span className="faint small num">{words.version(record.version)}</span>
        <span className="sub cut">{firstLine(record.match?.passage ?? record.content)}</span>
        {why === "" ? null : <span className="sub memory-why">{why}</span>}
      </Link>
    </li>
  )
}

const Records = ({ current, filter }: { readonly filter: MemoryFilter; readonly current: string | undefined }) => {
  const { data, error, fetchNextPage, hasNextPage, isPending, refetch } = useRecords(filter)
  const all = data?.pages.flatMap(({ items }) => items) ?? []
  const agents = usePeople().filter(({ kind, retiredAt }) => kind === "agent" && retiredAt === null)
  const line = (record: MemoryRecord) => (
    <Line key={record.id} record={record} filter={filter} current={record.id === current} />
  )
  if (isPending) return <LoadingPane lines={8} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  if (all.length === 0)
    return (
      <EmptyPane
        action={
          filter.q === undefined && filter.owner === undefined && agents.length > 0 ? (
            <div className="line wrap memory-whose">
              {agents.map(({ id, name }) => (
                <Link key={id} className="button" to="/memory" search={{ owner: name }}>
                  <Avatar name={name} kind="agent" size="s" />
                  {words.of(name)}
                </Link>
              ))}
            </div>
          ) : undefined
        }
      >
        {filter.q !== undefined
          ? words.noneFound
          : filter.owner === undefined
            ? words.none
            : words.noneOf(filter.owner)}
      </EmptyPane>
    )
  return (
    <>
      {filter.q === undefined ? (
        groupsOf(all).map(({ group, records }) => (
          <section key={group}>
            <h2 className="label memory-label">
              {words.groups[group]}
              <span className="push">{records.length}</span>
            </h2>
            <ul className="rows">{records.map(line)}</ul>
          </section>
        ))
      ) : (
        <section>
          <h2 className="label memory-label">{words.found(all.length)}</h2>
          <ul className="rows">{all.map(line)}</ul>
        </section>
      )}
      {hasNextPage ? (
        <p className="memory-more">
          <button type="button" className="button tiny" onClick={() => void fetchNextPage()}>
            {words.more}
          </button>
        </p>
      ) : null}
    </>
  )
}

/** How many offers wait, with links to where they are answered. */
const Waiting = ({ isOpen }: { readonly isOpen: boolean }) => {
  const waiting = useOffersWaiting()
  if (waiting === undefined) return null
  return (
    <nav className="memory-waiting" aria-label={words.offersWaiting}>
      <Link
        className="line"
        to="/memory"
        search={{ open: "offers" }}
        {...(isOpen ? { "aria-current": "true" as const } : {})}
      >
        <Icon name="inbox" small />
        {words.offers}
        {waiting.own === 0 ? null : <span className="count push">{waiting.own}</span>}
      </Link>
      {waiting.agents.map(({ id, name, waiting: count }) => (
        <Link key={id} className="line" to="/agents/$name" params={{ name }} search={{ tab: "memory" }}>
          <Avatar name={name} kind="agent" size="s" />
          {words.offersTo(name)}
          <span className="count push">{count}</span>
        </Link>
      ))}
    </nav>
  )
}

const pauseToSearch = 250
let waiting: (() => void) | undefined

const SearchField = ({ filter }: { readonly filter: MemoryFilter }) => {
  const navigate = useNavigate()
  const [text, write] = useState(filter.q ?? "")
  const ask = (next: string) => {
    write(next)
    waiting?.()
    waiting = later(pauseToSearch, () => {
      const { q: _, ...rest } = filter
      void navigate({ to: "/memory", search: next.trim() === "" ? rest : { ...rest, q: next }, replace: true })
    })
  }
  return (
    <span className="search memory-search">
      <Icon name="search" small />
      <input
        type="search"
        aria-label={words.search}
        placeholder={words.search}
        value={text}
        onChange={(event) => ask(event.target.value)}
      />
    </span>
  )
}

const OwnerPick = ({ className, owner }: { readonly owner: string | undefined; readonly className: string }) => {
  const { me } = useStart()
  const navigate = useNavigate()
  const people = usePeople().filter((one) => one.id !== me.id && one.retiredAt === null)
  return (
    <select
      className={className}
      aria-label={words.owner}
      value={owner ?? ""}
      onChange={(event) =>
        void navigate({ to: "/memory", search: event.target.value === "" ? {} : { owner: event.target.value } })
      }
    >
      <option value="">{words.mine(me.name)}</option>
      {people.map(({ id, name }) => (
        <option key={id} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

export const MemoryScreen = () => {
  const { id } = useParams({ strict: false })
  const { open, owner, q } = useSearch({ strict: false })
  const filter: MemoryFilter = { ...(owner === undefined ? {} : { owner }), ...(q === undefined ? {} : { q }) }
  const navigate = useNavigate()
  const toggle = (what: "new" | "keep") =>
    void navigate({ to: "/memory", search: open === what ? filter : { ...filter, open: what } })
  const aside = id !== undefined || open !== undefined
  // If there is room for both, the first record is shown at once.
  const first = useRecords(filter).data?.pages[0]?.items
  const shown = id ?? (open === undefined && isWide() ? inOrder(first ?? [])[0]?.id : undefined)
  return (
    <>
      <Header title={words.title} up={aside ? "/memory" : "/house"}>
        <span className="wide-only">
          <SearchField key={owner} filter={filter} />
        </span>
        <OwnerPick owner={owner} className="input wide-only" />
        <button
          type="button"
          className="button icon wide-only"
          aria-label={words.keep}
          title={words.keep}
          aria-expanded={open === "keep"}
          onClick={() => toggle("keep")}
        >
          <Icon name="download" small />
        </button>
        <button type="button" className="button main-act" aria-expanded={open === "new"} onClick={() => toggle("new")}>
          <Icon name="plus" small />
          {words.new}
        </button>
      </Header>
      <div className="split list-first memory-split">
        <div className={`scroll ${aside ? "not-phone" : ""}`}>
          <div className="phone-only memory-whose-phone">
            <SearchField key={owner} filter={filter} />
            <OwnerPick owner={owner} className="input" />
          </div>
          <Waiting isOpen={open === "offers"} />
          <Records filter={filter} current={shown} />
        </div>
        {shown !== undefined ? (
          <RecordView key={shown} id={shown} />
        ) : (
          <div className={`scroll ${aside ? "" : "not-phone"}`}>
            {open === "new" ? <NewRecord /> : null}
            {open === "keep" ? <WholeMemory /> : null}
            {open === "offers" ? (
              <div className="page">
                <Offers />
              </div>
            ) : null}
            {open === undefined ? <EmptyPane>{words.choose}</EmptyPane> : null}
          </div>
        )}
      </div>
    </>
  )
}
