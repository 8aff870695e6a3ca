/** Agents' runs: live ones first, then ended ones. The filters are in the address. */
import "./Runs.css"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useLiveRuns, usePeople } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { RunTable } from "./RunTable.tsx"
import { useRunList } from "./useRuns.ts"
import { AllWaits } from "./Waits.tsx"
import { words } from "./words/en.ts"

const Filters = () => {
  const search = useSearch({ from: "/house/runs" })
  const navigate = useNavigate()
  const agents = usePeople().filter(({ kind, retiredAt }) => kind === "agent" && retiredAt === null)
  const set = (name: "state" | "agent", value: string) => {
    const { [name]: _, ...rest } = search
    void navigate({ to: "/runs", search: value === "" ? rest : { ...rest, [name]: value }, replace: true })
  }
  return (
    <>
      <select
        className="input"
        aria-label={words.filterState}
        value={search.state ?? ""}
        onChange={(event) => set("state", event.target.value)}
      >
        <option value="">{words.allStates}</option>
        {Object.entries(words.states).map(([state, name]) => (
          <option key={state} value={state}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="input wide-only"
        aria-label={words.filterAgent}
        value={search.agent ?? ""}
        onChange={(event) => set("agent", event.target.value)}
      >
        <option value="">{words.allAgents}</option>
        {agents.map(({ id, name }) => (
          <option key={id} value={name}>
            {name}
          </option>
        ))}
      </select>
    </>
  )
}

export const RunsScreen = () => {
  const filter = useSearch({ from: "/house/runs" })
  const list = useRunList(filter)
  const live = useLiveRuns()
  const agent = usePeople().find(({ name }) => name === filter.agent)
  const all = list.data?.pages.flatMap(({ items }) => items) ?? []
  const filtered = filter.state !== undefined
  const working = (live.data ?? []).filter((run) => filter.agent === undefined || run.agent === agent?.id)
  const ended = filtered ? all : all.filter(({ endedAt }) => endedAt !== null)
  const isEmpty = list.isSuccess && all.length === 0 && (filtered || working.length === 0)
  return (
    <>
      <Header title={words.title}>
        <Filters />
      </Header>
      <div className="scroll grow">
        <div className="page stack wide-gap">
          {list.isPending ? <LoadingPane lines={6} /> : null}
          {list.error === null ? null : <FaultPane error={list.error} again={() => void list.refetch()} />}
          {isEmpty ? (
            <EmptyPane>{filtered || filter.agent !== undefined ? words.noneFit : words.none}</EmptyPane>
          ) : null}
          {filtered || list.data === undefined || isEmpty ? null : (
            <section className="stack">
              <h2 className="label">{words.live}</h2>
              {working.length === 0 ? (
                <p className="faint small">{words.noneLive}</p>
              ) : (
                <RunTable runs={working} label={words.live} />
              )}
            </section>
          )}
          {filtered ? null : <AllWaits />}
          {ended.length === 0 ? null : (
            <section className="stack">
              <h2 className="label">{filtered ? (words.states[filter.state!] ?? words.ended) : words.ended}</h2>
              <RunTable runs={ended} label={words.ended} />
            </section>
          )}
          {list.hasNextPage ? (
            <p>
              <button
                type="button"
                className="button"
                disabled={list.isFetchingNextPage}
                onClick={() => void list.fetchNextPage()}
              >
                {words.more}
              </button>
            </p>
          ) : null}
        </div>
      </div>
    </>
  )
}
