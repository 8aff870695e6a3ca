import { useState } from "react"
import type { Json } from "../../feed/types.ts"
import { HorizontalScroll } from "../../parts/panes/HorizontalScroll.tsx"
import { tableIn } from "./kinds.logic.ts"
import { words } from "./words/en.ts"

const shown = 10
const cell = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)

export const TableCard = ({ value }: { readonly value: Json }) => {
  const { columns, rows } = tableIn(value)
  const [all, show] = useState(false)
  const some = all ? rows : rows.slice(0, shown)
  return (
    <HorizontalScroll label={words.asTable}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {some.map((row, at) => (
            <tr key={at}>
              {columns.map((name) => (
                <td key={name} className={typeof row[name] === "number" ? "r num" : undefined}>
                  {cell(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > some.length ? (
        <button type="button" className="button tiny plain" onClick={() => show(true)}>
          {words.moreRows(rows.length - some.length)}
        </button>
      ) : null}
    </HorizontalScroll>
  )
}
