/** What the house says about something that was set: a sentence for each, with the next step. */
import { Icon } from "../icons/Icon.tsx"

export interface NotesProps {
  readonly title: string
  readonly notes: ReadonlyArray<string> | undefined
}

export const Notes = ({ notes = [], title }: NotesProps) =>
  notes.length === 0 ? null : (
    <div className="note" data-tone="warn" role="status">
      <Icon name="triangle-alert" small />
      <div>
        <b>{title}</b>
        {notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </div>
    </div>
  )
