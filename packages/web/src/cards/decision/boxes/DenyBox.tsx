/** The note of a denial. */
import { useState } from "react"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { words } from "../words/en.ts"
import type { BoxProps } from "./box.ts"
import { noteFields, NoteField } from "./NoteField.tsx"

export const DenyBox = ({ back, busy, decision, send }: BoxProps) => {
  const [note, write] = useState("")
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send({ verdict: "deny", ...noteFields(note) })
      }}
    >
      <NoteField decision={decision} note={note} write={write} first />
      <div className="acts">
        <ActButton of={decision.id} fromField type="submit" className="button no" disabled={busy}>
          <Icon name="x" small />
          {decision.kind === "approval" ? words.deny : words.decline}
        </ActButton>
        <button type="button" className="button plain" onClick={back}>
          {words.back}
        </button>
      </div>
    </form>
  )
}
