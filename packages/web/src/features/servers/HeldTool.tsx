/** A tool whose definition has changed: both as text, line by line, and the one act. */
import { useMutation } from "@tanstack/react-query"
import { diffLines } from "diff"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { FaultPane } from "../../parts/Pane.tsx"
import { words } from "./words/en.ts"

export interface HeldToolProps {
  readonly server: string
  readonly name: string
  readonly before: unknown
  readonly now: { readonly definition: unknown; readonly digest: string }
}

const text = (value: unknown): string => JSON.stringify(value, null, 2)

export const HeldTool = ({ before, name, now, server }: HeldToolProps) => {
  const accepted = useMutation({
    mutationFn: () => house.mcpServers.accept(server, name, { digest: now.digest }),
    onSettled: () => cache.invalidateQueries({ queryKey: ["servers"] }),
  })
  return (
    <section className="card" aria-label={name}>
      <header className="line">
        <code className="strong">{name}</code>
        <span className="pill" data-tone="warn">
          {words.held}
        </span>
      </header>
      <p className="small">{words.heldWhy}</p>
      <div className="diff" role="group" aria-label={words.changes}>
        {diffLines(text(before), text(now.definition)).flatMap((part, at) =>
          part.value
            .replace(/\n$/, "")
            .split("\n")
            .map((line, place) => (
              <div key={`${at} ${place}`} className={part.added ? "ins" : part.removed ? "del" : ""}>
                {line}
              </div>
            )),
        )}
      </div>
      {accepted.error === null ? null : <FaultPane error={accepted.error} />}
      <p className="line wrap">
        <span className="faint small">{words.keep}</span>
        <button type="button" className="button push" disabled={accepted.isPending} onClick={() => accepted.mutate()}>
          {words.accept}
        </button>
      </p>
    </section>
  )
}
