/** The audit trail: filters in the address, related entries by one click, whether it is intact, and the export. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useEffect } from "react"
import { cache } from "../../feed/cache.ts"
import { later } from "../../feed/clock.ts"
import { house } from "../../feed/house.ts"
import { usePeople, useStart } from "../../feed/start.ts"
import { eventCount } from "../../feed/events/signals.ts"
import { useStore } from "../../feed/store.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { ClockTime } from "../../parts/figures/Time.tsx"
import { HorizontalScroll } from "../../parts/panes/HorizontalScroll.tsx"
import { CopyName } from "../../parts/text/CopyName.tsx"
import { cutId, subjectPartsOf } from "./trail.logic.ts"
import { words } from "./words/en.ts"

const results = ["success", "failure", "denied"] as const

export interface Filters {
  readonly who?: string
  readonly result?: string
  readonly trace?: string
}

interface TrailProps {
  readonly filters: Filters
  readonly people: ReadonlyMap<string, { readonly name: string; readonly kind: string }>
  readonly onFilter: (more: Filters) => void
}

const Chain = () => {
  const chain = useQuery({ queryKey: ["audit", "chain"], queryFn: () => house.audit.chain() })
  if (chain.data === undefined) return null
  const { brokenAt, rows, whole, why } = chain.data
  return (
    <>
      <span className="pill" data-tone={whole ? "good" : "bad"}>
        <Icon name={whole ? "link" : "triangle-alert"} />
        {whole ? words.whole : words.broken(brokenAt ?? 0, why ?? "")}
      </span>
      <span className="push faint small wide-only">{words.entries(rows)}</span>
    </>
  )
}

const looks = {
  success: ["good", "check"],
  failure: ["bad", "x"],
  denied: ["bad", "octagon-x"],
} as const

const Result = ({ result }: { readonly result: keyof typeof looks }) => {
  const [tone, icon] = looks[result]
  return (
    <span className="pill" data-tone={tone}>
      <Icon name={icon} />
      {result}
    </span>
  )
}

type TrailFilter = Parameters<typeof house.audit.list>[0]

const atOnce = 50
const newest = ["audit-newest"]
const named = ["audit-spaces"]
/** The trail is written a moment after the event. */
const pause = 1000
let waiting: (() => void) | undefined

/** Entries written since the page was opened: they wait, so that nothing moves while it is read. */
const useNewer = (filter: TrailFilter, from: number | undefined): number => {
  const events = useStore(eventCount)
  const { data } = useQuery({
    queryKey: [...newest, filter],
    queryFn: async () => (await house.audit.list({ ...filter, limit: atOnce })).items,
    enabled: from !== undefined,
    staleTime: Infinity,
  })
  useEffect(() => {
    waiting ??= later(pause, () => {
      waiting = undefined
      void cache.invalidateQueries({ queryKey: newest })
    })
  }, [events])
  return data?.filter(({ seq }) => seq > (from ?? Infinity)).length ?? 0
}

/** Names in the trail, as far as the reader may see them. */
const useKnown = (people: TrailProps["people"]) => {
  const start = useStart()
  const more = usePeople()
  const { data } = useQuery({
    queryKey: named,
    queryFn: async () => (await house.spaces.list({ limit: 100 })).items,
    retry: false,
  })
  return (id: string): { readonly name: string; readonly kind?: string } | undefined =>
    people.get(id) ?? [...more, ...start.spaces, ...(data ?? [])].find((one) => one.id === id)
}

const ResourceName = ({
  nameOf,
  resource,
}: {
  readonly resource: string
  readonly nameOf: Parameters<typeof subjectPartsOf>[1]
}) => (
  <code>
    {subjectPartsOf(resource, nameOf).map(({ id, text }, at) =>
      id === undefined ? text : <CopyName key={`${at}${id}`} id={id} text={text} />,
    )}
  </code>
)

export const Trail = ({ filters, onFilter, people }: TrailProps) => {
  const { result, trace, who } = filters
  const filter: TrailFilter = {
    ...(who === undefined ? {} : { principal: who }),
    ...(trace === undefined ? {} : { correlation: trace }),
    ...(results.includes(result as never) ? { result: result as (typeof results)[number] } : {}),
  }
  const rows = useInfiniteQuery({
    queryKey: ["audit", who ?? "", result ?? "", trace ?? ""],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      house.audit.list({ ...filter, limit: atOnce, ...(pageParam === "" ? {} : { cursor: pageParam }) }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const items = rows.data?.pages.flatMap((page) => page.items) ?? []
  const newer = useNewer(filter, items[0]?.seq)
  const known = useKnown(people)
  const whoOf = (id: string | null) => {
    const found = id === null ? undefined : known(id)
    return { name: found?.name ?? (id === null ? "–" : cutId(id)), kind: found?.kind ?? "service" }
  }
  return (
    <section className="card" aria-labelledby="why-trail">
      <header className="wrap">
        <h2 id="why-trail">{words.trail}</h2>
        <select
          className="input trail-filter"
          aria-label={words.who}
          value={who ?? ""}
          onChange={(it) => onFilter({ who: it.target.value })}
        >
          <option value="">{words.everybody}</option>
          {[...people.values()].map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select
          className="input trail-filter"
          aria-label={words.result}
          value={result ?? ""}
          onChange={(it) => onFilter({ result: it.target.value })}
        >
          <option value="">{words.anyResult}</option>
          {results.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <Chain />
      </header>
      {trace === undefined ? null : (
        <p className="line in">
          <span>{words.near}</span>
          <button type="button" className="button tiny" onClick={() => onFilter({ trace: "" })}>
            {words.everything}
          </button>
        </p>
      )}
      {newer === 0 ? null : (
        <p className="in trail-new">
          <button
            type="button"
            className="button tiny"
            onClick={() => void Promise.all([rows.refetch(), cache.invalidateQueries({ queryKey: named })])}
          >
            <Icon name="arrow-up" small />
            {words.newer(newer, newer === atOnce)}
          </button>
        </p>
      )}
      {rows.isPending ? <LoadingPane lines={6} /> : null}
      {rows.error === null ? null : <FaultPane error={rows.error} again={() => void rows.refetch()} />}
      {rows.data !== undefined && items.length === 0 ? <EmptyPane>{words.none}</EmptyPane> : null}
      {items.length === 0 ? null : (
        <HorizontalScroll label={words.rows}>
          <table className="table">
            <thead>
              <tr>
                <th>{words.when}</th>
                <th>{words.who}</th>
                <th>{words.what}</th>
                <th>{words.result}</th>
                <th>
                  <span className="vh">{words.trace}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => (
                <tr key={one.seq}>
                  <td className="small faint trail-when">
                    <ClockTime at={one.at} />
                  </td>
                  <td>
                    <span className="line">
                      <Avatar {...whoOf(one.principal)} size="s" />
                      {one.principal === null ? "–" : <CopyName id={one.principal} text={whoOf(one.principal).name} />}
                    </span>
                  </td>
                  <td>
                    <span className="small faint">{words.did[one.action] ?? one.action}</span>{" "}
                    <ResourceName resource={one.resource} nameOf={(id) => known(id)?.name} />
                  </td>
                  <td>
                    <Result result={one.result} />
                  </td>
                  <td className="r">
                    <button
                      type="button"
                      className="button plain icon tiny"
                      aria-label={words.traceLong}
                      title={words.traceLong}
                      onClick={() => onFilter({ trace: one.correlationId })}
                    >
                      <Icon name="layers" small />
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </HorizontalScroll>
      )}
      {rows.hasNextPage ? (
        <p className="in">
          <button type="button" className="button" onClick={() => void rows.fetchNextPage()}>
            {words.more}
          </button>
        </p>
      ) : null}
    </section>
  )
}
