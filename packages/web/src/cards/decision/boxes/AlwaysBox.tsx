/** How far an approval reaches. */
import { reachWords } from "@stoa/contract"
import { useState } from "react"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { type LongReach, longReachesOf } from "../decision.logic.ts"
import { words } from "../words/en.ts"
import type { BoxProps } from "./box.ts"

export const AlwaysBox = ({ back, busy, decision, send }: BoxProps) => {
  // The shortest first.
  const reaches = longReachesOf(decision)
  const [chosen, choose] = useState<LongReach>()
  const reach = chosen ?? reaches[0] ?? "once"
  const risk = decision.call?.riskLevel
  return (
    <div className="menu still">
      <p className="strong">{words.reach}</p>
      {reaches.map((one) => (
        <label key={one} className="line top">
          <input type="radio" name={`reach-${decision.id}`} checked={reach === one} onChange={() => choose(one)} />
          <span>{reachWords(decision, one)}</span>
        </label>
      ))}
      <p className="note" data-tone="warn">
        <Icon name="triangle-alert" small />
        <span>
          {risk === undefined ? "" : `${words.risk(risk)}. `}
          {words.reachAny}
        </span>
      </p>
      <div className="line">
        <ActButton
          of={decision.id}
          className="button main-act tiny"
          disabled={busy}
          onClick={() => send({ verdict: "approve", reach })}
        >
          {words.remember}
        </ActButton>
        <button type="button" className="button plain tiny" onClick={back}>
          {words.back}
        </button>
      </div>
    </div>
  )
}
