/** The confirmation of a critical call. */
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { useOverlay } from "../../../parts/press/overlays.ts"
import { words } from "../words/en.ts"
import type { BoxProps } from "./box.ts"

export const CriticalBox = ({ back, busy, decision, send }: BoxProps) => {
  const overlay = useOverlay<HTMLDivElement>("critical", back)
  const tool = decision.call?.tool ?? ""
  return (
    <div {...overlay} className="note stack" data-tone="bad" role="alertdialog" aria-label={words.critical(tool)}>
      <p className="strong">{words.critical(tool)}</p>
      <div className="acts">
        <ActButton
          of={decision.id}
          className="button main-act"
          disabled={busy}
          onClick={() => send({ verdict: "approve" })}
        >
          {words.reallyApprove(tool)}
        </ActButton>
        <button type="button" className="button plain" data-first onClick={back}>
          {words.back}
        </button>
      </div>
    </div>
  )
}
