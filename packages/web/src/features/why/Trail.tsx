/** The audit trail: filters in the address, what belongs together by one click, whether it is whole, and the export. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { house } from "../../feed/house.ts"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/Pane.tsx"
import { ClockTime } from "../../parts/Time.tsx"
import { words } from "./words/en.ts"

const results = ["success", "failure", "denied"] as const

export interface Filters {
  readonly who?: string
  readonly result?: string
  readonly trace?: string
}

interface TrailProps {
  readonly filters: Filters
  readonly names: ReadonlyMap<string, string>
  readonly onFilter: (more: Filters) => void
}

const Chain = () => {
  const chain = useQuery({ queryKey: ["audit", "chain"], queryFn: () => house.audit.chain() })
  if (chain.data === undefined) return null
  const { brokenAt, rows, whole, why } = chain.data
  return (
    <p className="note small" data-tone={whole ? "good" : "bad"}>
      {whole ? words.whole(rows) : words.broken(brokenAt ?? 0, why ?? "")}
    </p>
  )
}

export const Trail = ({ filters, names, onFilter }: TrailProps) => {
  const { result, trace, who } = filters
  const rows = useInfiniteQuery({
    queryKey: ["audit", who ?? "", result ?? "", trace ?? ""],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      house.audit.list({
        limit: 50,
        ...(pageParam === "" ? {} : { cursor: pageParam }),
        ...(who === undefined ? {} : { principal: who }),
        ...(trace === undefined ? {} : { correlation: trace }),
        ...(results.includes(result as never) ? { result: result as (typeof results)[number] } : {}),
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const items = rows.data?.pages.flatMap((page) => page.items) ?? []
  const nameOf = (id: string | null) => (id === null ? "–" : (names.get(id) ?? id))
  return (
    <section className="stack" aria-label={words.trail}>
      <div className="line wrap">
        <h2>{words.trail}</h2>
        <label className="line small push">
          {words.who}
          <select className="input" value={who ?? ""} onChange={(it) => onFilter({ who: it.target.value })}>
            <option value="">{words.all}</option>
            {[...names.values()].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label className="line small">
          {words.result}
          <select className="input" value={result ?? ""} onChange={(it) => onFilter({ result: it.target.value })}>
            <option value="">{words.all}</option>
            {results.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <a className="button" href="/api/v1/audit/export" download="audit.jsonl">
          {words.export}
        </a>
      </div>
      <Chain />
      {trace === undefined ? null : (
        <p className="line">
          <span>{words.near}</span>
          <button type="button" className="button tiny" onClick={() => onFilter({ trace: "" })}>
            {words.everything}
          </button>
        </p>
      )}
      {rows.isPending ? <LoadingPane lines={6} /> : null}
      {rows.error === null ? null : <FaultPane error={rows.error} again={() => void rows.refetch()} />}
      {rows.data !== undefined && items.length === 0 ? <EmptyPane>{words.none}</EmptyPane> : null}
      {items.length === 0 ? null : (
        <div className="scroll-x" tabIndex={0} role="region" aria-label={words.rows}>
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
                  <td>
                    <ClockTime at={one.at} />
                  </td>
                  <td>{nameOf(one.principal)}</td>
                  <td>
                    {one.action} <code>{one.resource}</code>
                  </td>
                  <td>{one.result}</td>
                  <td>
                    <button
                      type="button"
                      className="button plain tiny"
                      onClick={() => onFilter({ trace: one.correlationId })}
                    >
                      {words.trace}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.hasNextPage ? (
        <p>
          <button type="button" className="button" onClick={() => void rows.fetchNextPage()}>
            {words.more}
          </button>
        </p>
      ) : null}
    </section>
  )
}
