/** A tool whose definition has changed: plain facts, both definitions line by line, and the one act. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { cache } from "../../feed/cache.ts"
import { house, isRefusal } from "../../feed/house.ts"
import { Diff } from "../../parts/text/Diff.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { type Fact, factsOf } from "./held.logic.ts"
import { words } from "./words/en.ts"

export interface HeldToolProps {
  readonly server: string
  readonly name: string
  readonly before: unknown
  readonly now: { readonly definition: unknown; readonly digest: string }
}

const text = (value: unknown): string => JSON.stringify(value, null, 2)
const said = (fact: Fact): string => ("field" in fact ? words.facts[fact.kind](fact.field) : words.facts[fact.kind])

export const HeldTool = ({ before, name, now, server }: HeldToolProps) => {
  const [shut, keep] = useState(false)
  const accepted = useMutation({
    mutationFn: () => house.mcpServers.accept(server, name, { digest: now.digest }),
    // Where it has changed once more, the newer one is what is shown next.
    onSettled: () => cache.invalidateQueries({ queryKey: ["servers"] }),
  })
  const facts = factsOf(before, now.definition)
  return (
    <section className="card" aria-label={name}>
      <header className="line">
        <code className="strong">{name}</code>
        <span className="pill" data-tone="warn">
          {words.held}
        </span>
      </header>
      <div className="in stack">
        <p className="small">{words.heldWhy}</p>
        <ul className="stack tight">
          {facts.map((fact) => (
            <li key={said(fact)}>{said(fact)}</li>
          ))}
        </ul>
        {shut ? (
          <p className="faint small">{words.keep}</p>
        ) : (
          <Diff before={text(before)} after={text(now.definition)} label={words.changes} />
        )}
        {accepted.error === null ? null : isRefusal(accepted.error, 409) ? (
          <p className="note" data-tone="warn" role="alert">
            {words.newer}
          </p>
        ) : (
          <FaultPane error={accepted.error} />
        )}
      </div>
      <footer>
        <button type="button" className="button" aria-pressed={shut} onClick={() => keep(!shut)}>
          {words.keepHeld}
        </button>
        <button type="button" className="button push" disabled={accepted.isPending} onClick={() => accepted.mutate()}>
          {words.accept}
        </button>
      </footer>
    </section>
  )
}
