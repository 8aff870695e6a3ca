/** What cannot be undone asks for confirmation in place, naming what will be removed. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { ActButton } from "../press/ActButton.tsx"
import { Confirmation } from "../press/Confirmation.tsx"
import { FaultPane } from "./Pane.tsx"

export interface ConfirmButtonProps {
  readonly act: string
  readonly question: string
  readonly yes: string
  readonly no: string
  readonly onYes: () => Promise<unknown>
}

export const ConfirmButton = ({ act, no, onYes, question, yes }: ConfirmButtonProps) => {
  const [asks, ask] = useState(false)
  const done = useMutation({ mutationFn: onYes })
  if (!asks)
    return (
      <p>
        <button type="button" className="button" onClick={() => ask(true)}>
          {act}
        </button>
      </p>
    )
  return (
    <div className="stack">
      <Confirmation className="line wrap" label={question} close={() => ask(false)}>
        <span>{question}</span>
        <ActButton of={question} className="button" disabled={done.isPending} onClick={() => done.mutate()}>
          {yes}
        </ActButton>
        <button type="button" className="button plain" data-first onClick={() => ask(false)}>
          {no}
        </button>
      </Confirmation>
      {done.error === null ? null : <FaultPane error={done.error} />}
    </div>
  )
}
