/** Whose answers a run waits for, and how to end a wait. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useNames } from "../../feed/start.ts"
import type { Run } from "../../feed/types.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import type { Wait } from "./run.logic.ts"
import { readAgain, useAllWaits, useWaits } from "./useRuns.ts"
import { words } from "./words/en.ts"

interface OneProps {
  readonly wait: Wait
  /** Also shows who waits, with a link to its run, if the page does not say so. */
  readonly named?: boolean
}

const One = ({ named = false, wait }: OneProps) => {
  const names = useNames()
  const [fault, fail] = useState<unknown>()
  const awaited = wait.for.filter(({ state }) => state === "awaited").map(({ id }) => names(id))
  const whom = awaited.join(", ") || words.anybody
  const release = () =>
    void house.waits.release(wait.id).then(() => (wait.run === null ? undefined : readAgain(wait.run)), fail)
  return (
    <>
      <p className="note line wrap" data-tone="warn">
        <Icon name="hourglass" small />
        <span>
          {named ? words.waitsForBy(names(wait.agent), whom) : words.waitsFor(whom)}
          {wait.ring ? `. ${words.ring}` : ""}{" "}
          {named ? (
            <>
              (<AgoTime at={wait.since} said />){" "}
              {wait.run === null ? null : (
                <Link to="/runs/$run" params={{ run: wait.run }}>
                  {words.itsRun}
                </Link>
              )}
            </>
          ) : null}
        </span>
        <button type="button" className="button tiny push" onClick={release}>
          {words.release}
        </button>
      </p>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </>
  )
}

export const Waits = ({ run }: { readonly run: Run }) => {
  const { data } = useWaits(run)
  if (data === undefined || data.length === 0) return null
  return (
    <section className="stack">
      {data.map((wait) => (
        <One key={wait.id} wait={wait} />
      ))}
    </section>
  )
}

/** For all runs: who waits for whom. */
export const AllWaits = () => {
  const waits = useAllWaits()
  if (waits.length === 0) return null
  return (
    <section className="stack" aria-labelledby="who-waits">
      <h2 className="label" id="who-waits">
        {words.whoWaits}
      </h2>
      {waits.map((wait) => (
        <One key={wait.id} wait={wait} named />
      ))}
    </section>
  )
}
