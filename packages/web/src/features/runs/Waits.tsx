/** Whose answers a run waits for, and the way to end the wait. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useNames } from "../../feed/start.ts"
import type { Run } from "../../feed/types.ts"
import { Icon } from "../../parts/signs/Icon.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { readAgain, useWaits } from "./useRuns.ts"
import { words } from "./words/en.ts"

export const Waits = ({ run }: { readonly run: Run }) => {
  const { data } = useWaits(run)
  const names = useNames()
  const [fault, fail] = useState<unknown>()
  if (data === undefined || data.length === 0) return null
  const release = (wait: string) => void house.waits.release(wait).then(() => readAgain(run.id), fail)
  return (
    <section className="stack">
      {data.map((wait) => (
        <p key={wait.id} className="note line wrap" data-tone="warn">
          <Icon name="hourglass" small />
          <span>
            {words.waitsFor(
              wait.for
                .filter(({ state }) => state === "awaited")
                .map(({ id }) => names(id))
                .join(", ") || words.anybody,
            )}
            {wait.ring ? ` ${words.ring}` : ""}
          </span>
          <button type="button" className="button tiny push" onClick={() => release(wait.id)}>
            {words.release}
          </button>
        </p>
      ))}
      {fault === undefined ? null : <FaultPane error={fault} />}
    </section>
  )
}
