/** A tool whose definition has changed: plain facts, both definitions line by line, and the one action. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { cache } from "../../feed/cache.ts"
import { house, isRefusal } from "../../feed/house.ts"
import { Diff } from "../../parts/text/Diff.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { type Fact, factsOf } from "./held.logic.ts"
import { words } from "./words/en.ts"

export interface HeldToolProps {
  readonly server: string
  readonly name: string
  readonly before: unknown
  readonly now: { readonly definition: unknown; readonly digest: string }
  readonly since: string | null
}

const middle = (digest: string): string => `${digest.slice(0, 6)}…${digest.slice(-4)}`

const text = (value: unknown): string => JSON.stringify(value, null, 2)
const said = (fact: Fact): string => ("field" in fact ? words.facts[fact.kind](fact.field) : words.facts[fact.kind])

export const HeldTool = ({ before, name, now, server, since }: HeldToolProps) => {
  const [shut, keep] = useState(false)
  const accepted = useMutation({
    mutationFn: () => house.mcpServers.accept(server, name, { digest: now.digest }),
    // If it has changed again, the newer definition is shown next.
    onSettled: () => cache.invalidateQueries({ queryKey: ["servers"] }),
  })
  const facts = factsOf(before, now.definition)
  return (
    <section className="decision" data-state="open" aria-label={name}>
      <header>
        <Icon name="triangle-alert" small />
        <strong>{words.toolHeld}</strong>
        {since === null ? null : (
          <span className="push">
            {words.pinnedSince} <AgoTime at={since} said />
          </span>
        )}
      </header>
      <div className="ask">
        <h3>
          <code>{`${server}/${name}`}</code> {words.noLonger}
        </h3>
        <p className="soft">{words.heldWhy}</p>
        {shut ? (
          <p className="faint small">{words.keep}</p>
        ) : (
          <Diff before={text(before)} after={text(now.definition)} label={words.changes} />
        )}
        {facts.length === 0 ? null : (
          <div className="note" data-tone="warn">
            <Icon name="triangle-alert" small />
            <ul>
              {facts.map((fact) => (
                <li key={said(fact)}>{said(fact)}</li>
              ))}
            </ul>
          </div>
        )}
        {accepted.error === null ? null : isRefusal(accepted.error, 409) ? (
          <p className="note" data-tone="warn" role="alert">
            {words.newer}
          </p>
        ) : (
          <FaultPane error={accepted.error} />
        )}
        <div className="acts">
          <button type="button" className="button main-act" aria-pressed={shut} onClick={() => keep(!shut)}>
            {words.keepHeld}
          </button>
          <ActButton of={now.digest} className="button" disabled={accepted.isPending} onClick={() => accepted.mutate()}>
            {words.accept}
          </ActButton>
          <span className="push faint small wide-only">
            {words.digest} <code title={now.digest}>{middle(now.digest)}</code>
          </span>
        </div>
      </div>
    </section>
  )
}
