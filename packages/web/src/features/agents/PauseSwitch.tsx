/** The kill switch: off is a pause, with a reason; on lifts it. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { ReasonForm } from "../../parts/form/ReasonForm.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { pausesChanged, usePauses } from "./useAgents.ts"
import { words } from "./words/en.ts"

const lift = async (subject: string) => {
  await house.pauses.lift(subject)
  await pausesChanged()
}

export const ResumeButton = ({ subject }: { readonly subject: string }) => {
  const [fault, fail] = useState<unknown>()
  return (
    <>
      <button type="button" className="as-link" onClick={() => void lift(subject).catch(fail)}>
        {words.resume}
      </button>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </>
  )
}

export interface PauseSwitchProps {
  readonly name: string
  readonly asks: boolean
  readonly ask: (open: boolean) => void
  readonly may: boolean
}

export const PauseSwitch = ({ ask, asks, may, name }: PauseSwitchProps) => {
  const subject = `agents/${name}`
  const on = !usePauses().some((one) => one.subject === subject)
  return (
    <button
      type="button"
      className="switch push agents-switch"
      role="switch"
      aria-checked={on}
      aria-label={name}
      disabled={!may || asks}
      {...(on ? { "data-on": "" } : {})}
      onClick={() => (on ? ask(true) : void lift(subject))}
    >
      <i />
      {on ? words.on : words.off}
    </button>
  )
}

export const AgentPauseForm = ({ ask, name }: Pick<PauseSwitchProps, "ask" | "name">) => (
  <ReasonForm
    sure={words.pauseSure(name)}
    why={words.pauseWhy}
    submit={words.pause}
    cancel={words.cancel}
    close={() => ask(false)}
    onSubmit={(reason) =>
      house.pauses.set({ subject: `agents/${name}`, ...(reason === "" ? {} : { reason }) }).then(pausesChanged)
    }
  />
)
