import { words } from "../../words/en.ts"
import { Icon } from "../icons/Icon.tsx"
import { useCopy } from "./useCopy.ts"

export const Copy = ({ label = words.copy, text }: { readonly text: string; readonly label?: string }) => {
  const { copy, done } = useCopy(text)
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
