/** What opens inside a card: the note of a denial, the reach of an approval, the confirmation of a critical call. */
import type { NewAnswer } from "@stoa/contract"
import { useState } from "react"
import type { Decision } from "../../feed/types.ts"
import { Icon } from "../../parts/signs/Icon.tsx"
import { noted, NoteField } from "./NoteField.tsx"
import { words } from "./words/en.ts"

export interface BoxProps {
  readonly decision: Decision
  readonly busy: boolean
  readonly send: (answer: NewAnswer) => void
  readonly back: () => void
}

export const DenyBox = ({ back, busy, decision, send }: BoxProps) => {
  const [note, write] = useState("")
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send({ verdict: "deny", ...noted(note) })
      }}
    >
      <NoteField decision={decision} note={note} write={write} first />
      <div className="acts">
        <button type="submit" className="button no" disabled={busy}>
          <Icon name="x" small />
          {decision.kind === "approval" ? words.deny : words.decline}
        </button>
        <button type="button" className="button plain" onClick={back}>
          {words.back}
        </button>
      </div>
    </form>
  )
}

export const AlwaysBox = ({ back, busy, decision, send }: BoxProps) => {
  const inRun = decision.asker.kind === "agent"
  const [reach, choose] = useState<"run" | "always">(inRun ? "run" : "always")
  const risk = decision.call?.riskLevel
  const radio = (one: "run" | "always", said: string, more?: string) => (
    <label className="line top">
      <input type="radio" name={`reach-${decision.id}`} checked={reach === one} onChange={() => choose(one)} />
      <span>
        {said} {more === undefined ? null : <span className="faint">{more}</span>}
      </span>
    </label>
  )
  return (
    <div className="menu still">
      <p className="strong">
        {words.reach(decision.asker.name)} <code>{decision.call?.tool}</code> {words.reachWithout}
      </p>
      {inRun ? radio("run", words.reachRun) : null}
      {radio("always", words.reachAlways, words.reachWhose)}
      <p className="note" data-tone="warn">
        <Icon name="triangle-alert" small />
        <span>
          {risk === undefined ? "" : `${words.risk(risk)}. `}
          {words.reachAny}
        </span>
      </p>
      <div className="line">
        <button
          type="button"
          className="button main-act tiny"
          disabled={busy}
          onClick={() => send({ verdict: "approve", reach })}
        >
          {words.remember}
        </button>
        <button type="button" className="button plain tiny" onClick={back}>
          {words.back}
        </button>
      </div>
    </div>
  )
}

export const CriticalBox = ({ back, busy, decision, send }: BoxProps) => (
  <div className="note stack" data-tone="bad" role="alertdialog" aria-label={words.critical(decision.call?.tool ?? "")}>
    <p className="strong">{words.critical(decision.call?.tool ?? "")}</p>
    <div className="acts">
      <button type="button" className="button main-act" disabled={busy} onClick={() => send({ verdict: "approve" })}>
        {words.reallyApprove(decision.call?.tool ?? "")}
      </button>
      <button type="button" className="button plain" ref={(button) => button?.focus()} onClick={back}>
        {words.back}
      </button>
    </div>
  </div>
)
