/** A confirmation with a reason, before somebody or something is stopped. */
import { useState } from "react"
import { FaultPane } from "../panes/Pane.tsx"
import { ActButton } from "../press/ActButton.tsx"
import { useOverlay } from "../press/overlays.ts"

export interface ReasonFormProps {
  readonly sure: string
  readonly why: string
  readonly submit: string
  readonly cancel: string
  /** It cannot be sent without a reason. */
  readonly required?: boolean
  readonly onSubmit: (reason: string) => Promise<unknown>
  readonly close: () => void
}

export const ReasonForm = ({ cancel, close, onSubmit, required = false, submit, sure, why }: ReasonFormProps) => {
  const [reason, say] = useState("")
  const [isSent, send] = useState(false)
  const [fault, fail] = useState<unknown>()
  const overlay = useOverlay<HTMLFormElement>("reason", close)
  return (
    <form
      {...overlay}
      className="note stack"
      data-tone="bad"
      onSubmit={(event) => {
        event.preventDefault()
        send(true)
        void onSubmit(reason.trim())
          .then(close, fail)
          .finally(() => send(false))
      }}
    >
      <p>{sure}</p>
      <input
        className="input"
        aria-label={why}
        placeholder={why}
        required={required}
        maxLength={1000}
        value={reason}
        onChange={(event) => say(event.target.value)}
      />
      <p className="line">
        <ActButton
          of={sure}
          fromField
          type="submit"
          className="button tiny no"
          disabled={isSent || (required && reason.trim() === "")}
        >
          {submit}
        </ActButton>
        <button type="button" className="button tiny plain" onClick={close}>
          {cancel}
        </button>
      </p>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </form>
  )
}
