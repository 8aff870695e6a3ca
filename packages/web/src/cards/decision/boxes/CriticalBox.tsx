/** The confirmation of a critical call. */
import { words } from "../words/en.ts"
import type { BoxProps } from "./box.ts"

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
