import { useState } from "react"
import type { Json } from "../../feed/types.ts"
import { Icon } from "../icons/Icon.tsx"
import { words } from "./words/en.ts"

export interface ChipsProps {
  readonly id: string
  readonly name: string
  readonly numbers: boolean
  readonly value: ReadonlyArray<Json>
  readonly onChange: (value: ReadonlyArray<Json>) => void
}

const wordOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value))

/** A list of scalars: each can be removed, and another one typed. */
export const Chips = ({ id, name, numbers, onChange, value }: ChipsProps) => {
  const [text, write] = useState("")
  const add = () => {
    const typed = text.trim()
    if (typed === "" || (numbers && Number.isNaN(Number(typed)))) return
    onChange([...value, numbers ? Number(typed) : typed])
    write("")
  }
  return (
    <div className="line wrap chips">
      {value.map((one, at) => (
        <span key={at} className="pill">
          {wordOf(one)}
          <button
            type="button"
            aria-label={words.remove(wordOf(one))}
            onClick={() => onChange(value.filter((_, where) => where !== at))}
          >
            <Icon name="x" />
          </button>
        </span>
      ))}
      <input
        className="input"
        id={id}
        value={text}
        aria-label={words.addTo(name)}
        placeholder={words.add}
        onChange={(event) => write(event.target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return
          event.preventDefault()
          add()
        }}
      />
    </div>
  )
}
