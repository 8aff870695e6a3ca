/** Who may answer, what happens without an answer and when, and why it is asked. */
import type { ReactNode } from "react"
import type { Decision } from "../../feed/types.ts"
import { millisUntil, when } from "../../parts/figures/time.logic.ts"
import { useNow } from "../../parts/figures/Time.tsx"
import { words } from "./words/en.ts"

export interface FootProps {
  readonly decision: Decision
  readonly me: string
  readonly nameOf: (id: string) => string
  readonly why?: ReactNode
}

const maxNames = 3

export const namesOf = ({ decision, me, nameOf }: FootProps): ReadonlyArray<string> => {
  const mine = decision.mayAnswer.includes(me) ? [words.you] : []
  const others = decision.mayAnswer.filter((id) => id !== me)
  const few = others.slice(0, maxNames).map(nameOf)
  return [...mine, ...few, ...(others.length > maxNames ? [words.others(others.length - maxNames)] : [])]
}

const who = (props: FootProps): string => {
  const names = namesOf(props)
  if (names.length === 0) return words.nobody
  if (props.decision.people > 1) return words.several(props.decision.people)
  return names.length === 1 ? words.alone(names[0]!) : words.one(names)
}

const minute = 60_000

/** Counts seconds only in the last minute: a clock that ticks all day is noise. */
const Deadline = ({ at }: { readonly at: string }) => {
  const coarse = useNow(10_000)
  return millisUntil(at, coarse) > minute + 10_000 ? (
    <span>{words.noAnswer(when(at, coarse, words))}</span>
  ) : (
    <Ticking at={at} />
  )
}
const Ticking = ({ at }: { readonly at: string }) => {
  const now = useNow(1000)
  const left = millisUntil(at, now)
  return (
    <span role="timer" aria-live="off">
      {left > minute ? words.noAnswer(when(at, now, words)) : words.left(Math.max(0, Math.ceil(left / 1000)))}
    </span>
  )
}

export const Foot = (props: FootProps) => {
  const { decision } = props
  const now = useNow()
  return (
    <footer>
      <span>{who(props)}</span>
      {decision.people > 1 ? (
        <>
          <span>{words.oneNo}</span>
          <span>{words.notRemembered}</span>
        </>
      ) : null}
      <Deadline at={decision.expiresAt} />
      {decision.escalatesAt !== null && decision.escalatedAt === null ? (
        <span>{words.escalates(when(decision.escalatesAt, now, words))}</span>
      ) : null}
      {decision.rule === undefined ? null : (
        <span>
          {words.becauseOf(decision.rule) ?? (
            <>
              {words.because} <code>{decision.rule}</code>
            </>
          )}{" "}
          {props.why}
        </span>
      )}
      {decision.pinned === undefined ? null : (
        <span>
          {words.server} <code>{decision.pinned.server}</code>, {words.pinned(when(decision.pinned.since, now, words))}
        </span>
      )}
      {decision.url === undefined ? null : <span>{words.outside}</span>}
    </footer>
  )
}
