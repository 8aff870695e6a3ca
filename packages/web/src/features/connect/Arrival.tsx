/** Whether the program has connected: what was seen of it, or what was seen instead. */
import { Link } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { later } from "../../feed/clock.ts"
import { arrivals, type Arrival as Arrived, refusedAt } from "../../feed/events/signals.ts"
import { useStart } from "../../feed/start.ts"
import { useStore } from "../../feed/store.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ClockTime } from "../../parts/figures/Time.tsx"
import { words } from "./words/en.ts"

/** After this much silence the screen says what was seen. */
const patience = 8000

export interface ExpectedClient {
  readonly agent: { readonly id: string; readonly name: string }
  /** Since when. */
  readonly at: number
}

export interface ArrivalState {
  readonly arrived: Arrived | undefined
  readonly wasRefused: boolean
  readonly isLate: boolean
  readonly trouble: boolean
}

export const useArrival = (of: ExpectedClient | undefined): ArrivalState => {
  const known = useStore(arrivals).get(of?.agent.id ?? "")
  const refused = useStore(refusedAt)
  const [lateFor, setLate] = useState<number>()
  const at = of?.at
  useEffect(() => (at === undefined ? undefined : later(patience, () => setLate(at))), [at])
  const arrived = known !== undefined && at !== undefined && Date.parse(known.at) >= at - 1000 ? known : undefined
  const wasRefused = at !== undefined && refused !== undefined && Date.parse(refused) >= at
  const isLate = at !== undefined && lateFor === at
  return { arrived, wasRefused, isLate, trouble: arrived === undefined && (wasRefused || isLate) }
}

export const Arrival = ({ of, seen }: { readonly of: ExpectedClient; readonly seen: ArrivalState }) => {
  const { spaces } = useStart()
  const { arrived } = seen
  if (arrived === undefined)
    return (
      <div className="note" role="status">
        <Icon name="hourglass" small />
        <span>
          {words.waiting(of.agent.name)} {seen.wasRefused ? words.refused : seen.isLate ? words.nothing : ""}
        </span>
      </div>
    )
  const space = spaces.find(({ kind }) => kind === "public")
  return (
    <>
      <div className="note" data-tone="good" role="status">
        <Icon name="circle-check" small />
        <span>
          <strong>{words.here(of.agent.name)}</strong>{" "}
          {words.seen(arrived.client, arrived.version, arrived.protocol, arrived.tools)}{" "}
          <span className="faint">
            <ClockTime at={arrived.at} />
          </span>
        </span>
      </div>
      {space === undefined ? null : (
        <p className="soft">
          {words.askIt} <em>{words.askWhat(space.name)}</em> {words.appear}{" "}
          <Link to="/s/$space" params={{ space: space.name }}>
            {space.name}
          </Link>
          {words.needs} <Link to="/decisions">{words.decisions}</Link>.
        </p>
      )}
    </>
  )
}
