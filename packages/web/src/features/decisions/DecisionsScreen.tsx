import { useStart } from "../../feed/start.ts"
import { Bar } from "../../frame/Bar.tsx"
import { EmptyPane } from "../../parts/Pane.tsx"
import { words } from "./words/en.ts"

export const DecisionsScreen = () => {
  const { decisions } = useStart()
  return (
    <>
      <Bar title={words.title} />
      {decisions.length === 0 ? <EmptyPane>{words.nothing}</EmptyPane> : null}
      <ul className="rows">
        {decisions.map((one) => (
          <li key={one.id}>{one.question}</li>
        ))}
      </ul>
    </>
  )
}
