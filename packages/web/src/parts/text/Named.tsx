/** A name in place of an id: the id is on hover, and a click copies it. */
import { useEffect, useState } from "react"
import { later } from "../../feed/clock.ts"
import { words } from "../../words/en.ts"

export const Named = ({ id, text }: { readonly id: string; readonly text: string }) => {
  const [done, set] = useState(false)
  useEffect(() => (done ? later(1500, () => set(false)) : undefined), [done])
  const copy = () =>
    void navigator.clipboard.writeText(id).then(
      () => set(true),
      () => set(false),
    )
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
