/** The kill switch: off is a pause, with a reason; on lifts it. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { pausesChanged, usePauses } from "./useAgents.ts"
import { words } from "./words/en.ts"

const lift = async (subject: string) => {
  await house.pauses.lift(subject)
  await pausesChanged()
}

export const GoOn = ({ subject }: { readonly subject: string }) => {
  const [fault, fail] = useState<unknown>()
  return (
    <>
      <button type="button" className="as-link" onClick={() => void lift(subject).catch(fail)}>
        {words.goOn}
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

export const PauseBox = ({ ask, name }: Pick<PauseSwitchProps, "ask" | "name">) => {
  const [reason, say] = useState("")
  const [fault, fail] = useState<unknown>()
  const set = async () => {
    await house.pauses.set({ subject: `agents/${name}`, ...(reason === "" ? {} : { reason }) })
    await pausesChanged()
    ask(false)
  }
  return (
    <form
      className="note stack"
      data-tone="bad"
      onSubmit={(event) => {
        event.preventDefault()
        void set().catch(fail)
      }}
    >
      <p>{words.pauseSure(name)}</p>
      <input
        className="input"
        aria-label={words.pauseWhy}
        placeholder={words.pauseWhy}
        maxLength={1000}
        value={reason}
        ref={(field) => {
          if (reason === "") field?.focus()
        }}
        onChange={(event) => say(event.target.value)}
      />
      <p className="line">
        <button type="submit" className="button tiny no">
          {words.pause}
        </button>
        <button type="button" className="button tiny plain" onClick={() => ask(false)}>
          {words.cancel}
        </button>
      </p>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </form>
  )
}
