/** The kill switch of the house. It asks for a reason, which everybody can read. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ReasonForm } from "../../parts/form/ReasonForm.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { pausesChanged } from "./useFigures.ts"
import { words } from "./words/en.ts"

export const HousePauseButton = ({ ask }: { readonly ask: () => void }) => (
  <button type="button" className="button no" aria-label={words.pauseAll} title={words.pauseAll} onClick={ask}>
    <Icon name="octagon-x" small />
    <span className="wide-only">{words.pauseAll}</span>
  </button>
)

export const HousePauseForm = ({ close }: { readonly close: () => void }) => (
  <ReasonForm
    sure={words.pauseSure}
    why={words.why}
    submit={words.pause}
    cancel={words.cancel}
    required
    close={close}
    onSubmit={(reason) => house.pauses.set({ subject: "everything", reason }).then(pausesChanged)}
  />
)

export const HousePausedNote = ({ reason }: { readonly reason: string }) => {
  const [fault, fail] = useState<unknown>()
  const lift = async () => {
    await house.pauses.lift("everything")
    await pausesChanged()
  }
  return (
    <div className="note line wrap" data-tone="bad" role="status">
      <Icon name="octagon-x" small />
      <span>
        <span className="strong">{words.paused}</span> {reason}
      </span>
      <button type="button" className="button tiny push" onClick={() => void lift().catch(fail)}>
        {words.resume}
      </button>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </div>
  )
}
