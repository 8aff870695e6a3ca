/** What the asker reads with the answer. */
import type { Decision } from "../../../feed/types.ts"
import { InputField } from "../../../parts/form/Field.tsx"
import { words } from "../words/en.ts"

export interface NoteFieldProps {
  readonly decision: Decision
  readonly note: string
  readonly write: (note: string) => void
  /** After pressing Deny, the user types next, or presses Enter. */
  readonly first?: boolean
}

export const NoteField = ({ decision, first = false, note, write }: NoteFieldProps) => (
  <InputField
    id={`note-${decision.id}`}
    label={words.note(decision.asker.name)}
    hint={words.noteHint}
    maxLength={2000}
    value={note}
    onChange={(event) => write(event.target.value)}
    // oxlint-disable-next-line jsx-a11y/no-autofocus
    autoFocus={first}
  />
)

/** An empty note is not sent. */
export const noteFields = (note: string) => (note.trim() === "" ? {} : { note: note.trim() })
