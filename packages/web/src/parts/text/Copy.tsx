import { useEffect, useState } from "react"
import { later } from "../../feed/clock.ts"
import { words } from "../../words/en.ts"
import { Icon } from "../signs/Icon.tsx"

export const Copy = ({ label = words.copy, text }: { readonly text: string; readonly label?: string }) => {
  const [done, set] = useState(false)
  useEffect(() => (done ? later(1500, () => set(false)) : undefined), [done])
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => set(true),
      () => set(false),
    )
  return (
    <button
      type="button"
      className="button plain icon tiny copy"
      aria-label={done ? words.copied : label}
      onClick={copy}
    >
      <Icon name={done ? "check" : "copy"} small />
    </button>
  )
}
