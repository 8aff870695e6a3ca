/** A name instead of an id: the id is shown on hover, and a click copies it. */
import { words } from "../../words/en.ts"
import { useCopy } from "./useCopy.ts"

export const CopyName = ({ id, text }: { readonly id: string; readonly text: string }) => {
  const { copy, done } = useCopy(id)
  return (
    <button
      type="button"
      className="named"
      title={id}
      aria-label={done ? words.copied : words.copyId(text)}
      onClick={copy}
    >
      {done ? words.copied : text}
    </button>
  )
}
