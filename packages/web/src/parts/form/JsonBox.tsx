import { useState } from "react"
import type { Json } from "../../feed/types.ts"
import { parseJson } from "./schemaForm.logic.ts"

export interface JsonBoxProps {
  readonly id: string
  readonly value: Json | undefined
  readonly onChange: (value: Json) => void
  readonly label: string
}

const written = (value: Json | undefined) => (value === undefined ? "" : JSON.stringify(value, null, 2))

/** JSON as text. Invalid JSON stays in the box, and the line of the error is shown. */
export const JsonBox = ({ id, label, onChange, value }: JsonBoxProps) => {
  const [text, write] = useState(() => written(value))
  const result = text.trim() === "" ? undefined : parseJson(text)
  const wrong = result !== undefined && "wrong" in result ? result.wrong : undefined
  return (
    <>
      <textarea
        className="input mono"
        id={id}
        rows={Math.min(16, Math.max(4, text.split("\n").length))}
        spellCheck={false}
        aria-label={label}
        aria-invalid={wrong === undefined ? undefined : true}
        value={text}
        onChange={(event) => {
          write(event.target.value)
          const next = parseJson(event.target.value)
          if ("value" in next) onChange(next.value)
        }}
      />
      {wrong === undefined ? null : (
        <span className="wrong" role="status">
          {wrong}
        </span>
      )}
    </>
  )
}
