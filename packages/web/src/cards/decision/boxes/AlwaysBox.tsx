/** How far an approval reaches. */
import { useState } from "react"
import { Icon } from "../../../parts/signs/Icon.tsx"
import { words } from "../words/en.ts"
import type { BoxProps } from "./box.ts"

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
