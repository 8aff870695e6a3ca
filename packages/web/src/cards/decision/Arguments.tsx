/** The exact call: every argument, as text. Nothing in it becomes markup, and nothing in it is invisible. */
import { visibleLines } from "@stoa/contract"
import { useState } from "react"
import { Copy } from "../../parts/text/Copy.tsx"
import type { Decision, Json } from "../../feed/types.ts"
import { argumentsOf, cut, namesIn, textOf } from "./decision.logic.ts"
import { words } from "./words/en.ts"

/** An open approval shows the whole value; a closed one starts with its first lines. */
const Value = ({ isWhole, value }: { readonly value: Json; readonly isWhole: boolean }) => {
  const [all, show] = useState(false)
  const items = namesIn(value)
  if (items !== undefined)
    return (
      <dd>
        <ul className="line wrap chips">
          {items.map((one, at) => (
            <li key={at} className="pill">
              {visibleLines(one).join(" ")}
            </li>
          ))}
        </ul>
      </dd>
    )
  const text = visibleLines(textOf(value)).join("\n")
  const short = cut(text)
  if (isWhole && short.signs > 0)
    return (
      <dd className="pre whole" tabIndex={0}>
        {text}
      </dd>
    )
  if (all || short.signs === 0) return <dd className="pre">{text}</dd>
  return (
    <dd className="pre">
      {short.shown}{" "}
      <button type="button" className="as-link more" onClick={() => show(true)}>
        {short.lines > 0 ? words.more(short.lines) : words.moreSigns(short.signs)}
      </button>
    </dd>
  )
}

const middle = (digest: string): string => `${digest.slice(0, 8)}…${digest.slice(-8)}`

export const Arguments = ({ decision }: { readonly decision: Decision }) => {
  const list = argumentsOf(decision)
  if (list.length === 0) return <p className="faint small">{words.noInput}</p>
  return (
    <>
      <dl className="args">
        {list.map(({ name, value }) => (
          <div key={name} className="pair">
            <dt>{visibleLines(name).join(" ")}</dt>
            <Value value={value} isWhole={decision.state === "open"} />
          </div>
        ))}
      </dl>
      {decision.inputSize === undefined || decision.inputDigest === undefined ? null : (
        <p className="faint small digest">
          {words.size(decision.inputSize)} <code title={decision.inputDigest}>{middle(decision.inputDigest)}</code>
          <Copy text={decision.inputDigest} label={words.copyDigest} />
        </p>
      )}
    </>
  )
}
