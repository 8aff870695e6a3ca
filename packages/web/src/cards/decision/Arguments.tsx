/** The exact call: every argument, as text. Nothing in it becomes markup, and nothing in it is invisible. */
import { diffTextLines, exactLines, extentOf, isDiff, visibleLines } from "@stoa/contract"
import { useState } from "react"
import { Copy } from "../../parts/text/Copy.tsx"
import { DiffText } from "../../parts/text/DiffText.tsx"
import type { Decision, Json } from "../../feed/types.ts"
import { argumentsOf, cut, namesIn, textOf } from "./decision.logic.ts"
import { words } from "./words/en.ts"

/** How much is laid out at once: more makes a page slow, and is opened on request. */
const most = { lines: 500, signs: 50_000 }

/** A long text in a box that scrolls, with its extent: what does not fit is said. */
const Long = ({
  isPatch,
  label,
  text,
}: {
  readonly text: string
  readonly isPatch: boolean
  readonly label: string
}) => {
  const [all, show] = useState(false)
  const short = cut(text, most.lines, most.signs)
  const shown = all ? text : short.shown
  return (
    <dd>
      {isPatch ? (
        <DiffText lines={diffTextLines(shown)} label={label} />
      ) : (
        <div className="pre whole" tabIndex={0}>
          {exactLines(shown).join("\n")}
        </div>
      )}
      <p className="faint small">
        {extentOf(text.split("\n").length, text.length)}
        {all || short.signs === 0 ? null : (
          <>
            {"; "}
            <button type="button" className="as-link more" onClick={() => show(true)}>
              {words.openWhole(short.signs)}
            </button>
          </>
        )}
      </p>
    </dd>
  )
}

interface ValueProps {
  readonly name: string
  readonly value: Json
  readonly isWhole: boolean
  /** Its schema says that it is a diff. */
  readonly isPatch: boolean
}

/** An open approval shows the whole value; a closed one starts with its first lines. */
const Value = ({ isPatch, isWhole, name, value }: ValueProps) => {
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
  if (isPatch && typeof value === "string" && value !== "") return <Long text={value} isPatch label={name} />
  const text = textOf(value)
  const short = cut(text)
  if (isWhole && short.signs > 0) return <Long text={text} isPatch={false} label={name} />
  if (all || short.signs === 0) return <dd className="pre">{exactLines(text).join("\n")}</dd>
  return (
    <dd className="pre">
      {exactLines(short.shown).join("\n")}{" "}
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
            <Value
              name={name}
              value={value}
              isWhole={decision.state === "open"}
              isPatch={isDiff(decision.schema, name)}
            />
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
