/** One decision for one person, as the same card: without reach, and after the answer the link shows nothing. */
import type { NewAnswer } from "@stoa/contract"
import { useState } from "react"
import { DecisionCard } from "../../cards/decision/DecisionCard.tsx"
import type { Decision } from "../../feed/types.ts"
import { Logo } from "../../parts/icons/Logo.tsx"
import { words } from "./words/en.ts"

export interface LinkAnswer {
  readonly person: { readonly id: string; readonly name: string }
  readonly decision: Decision
}

export interface LinkScreenProps extends LinkAnswer {
  readonly answer: (given: NewAnswer) => Promise<unknown>
}

export const LinkScreen = ({ answer, decision, person }: LinkScreenProps) => {
  const [done, end] = useState(false)
  return (
    <main className="link-page" id="main">
      <div className="wordmark">
        <Logo />
        <b>{words.product}</b>
      </div>
      <h1 className="vh">{words.title}</h1>
      {done ? (
        <p className="note" data-tone="good" role="status">
          {words.thanks}
        </p>
      ) : (
        <>
          <p className="small faint">{words.as(person.name)}</p>
          <DecisionCard
            decision={decision}
            me={person.id}
            nameOf={(id) => (id === person.id ? person.name : words.somebody)}
            answer={answer}
            where={null}
            onAnswered={() => end(true)}
          />
        </>
      )}
    </main>
  )
}
