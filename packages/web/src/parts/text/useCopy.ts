/** Copies a text, and shows for a moment that it did. */
import { useEffect, useState } from "react"
import { later } from "../../feed/clock.ts"

export const useCopy = (text: string): { readonly done: boolean; readonly copy: () => void } => {
  const [done, set] = useState(false)
  useEffect(() => (done ? later(1500, () => set(false)) : undefined), [done])
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => set(true),
      () => set(false),
    )
  return { done, copy }
}
