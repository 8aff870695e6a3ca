import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { decisionSummary } from "../../cards/decision/decision.logic.ts"
import { useNames } from "../../feed/start.ts"
import type { Decision } from "../../feed/types.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { answeredQuery } from "./answered.ts"
import { words } from "./words/en.ts"

const verdicts = ["all", "approve", "deny", "submit", "none"] as const

const verdictOf = (one: Decision): (typeof verdicts)[number] => one.verdict ?? "none"

/** Closed decisions: by verdict, and by who answered. */
export const AnsweredList = ({ shown }: { readonly shown: string | undefined }) => {
  const { data, error, isPending, refetch } = useQuery(answeredQuery)
  const nameOf = useNames()
  const [verdict, choose] = useState<(typeof verdicts)[number]>("all")
  const [who, whom] = useState("")
  if (isPending) return <LoadingPane />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  if (data.length === 0) return <EmptyPane>{words.nothingAnswered}</EmptyPane>
  const people = [...new Set(data.flatMap(({ answeredBy }) => (answeredBy === null ? [] : [answeredBy])))]
  const list = data.filter(
    (one) => (verdict === "all" || verdictOf(one) === verdict) && (who === "" || one.answeredBy === who),
  )
  return (
    <>
      <div className="line filters">
        <select
          className="input"
          aria-label={words.verdict}
          value={verdict}
          onChange={(event) => choose(event.target.value as typeof verdict)}
        >
          {verdicts.map((one) => (
            <option key={one} value={one}>
              {words[one]}
            </option>
          ))}
        </select>
        <select className="input" aria-label={words.who} value={who} onChange={(event) => whom(event.target.value)}>
          <option value="">{words.all}</option>
          {people.map((id) => (
            <option key={id} value={id}>
              {nameOf(id)}
            </option>
          ))}
        </select>
      </div>
      <ul className="rows">
        {list.map((one) => (
          <li key={one.id}>
            <Link
              className="pick"
              to="/decisions/$id"
              params={{ id: one.id }}
              search={{ tab: "answered" }}
              aria-current={one.id === shown ? "true" : undefined}
            >
              <Avatar name={one.asker.name} kind={one.asker.kind} size="s" />
              <b className="cut">{decisionSummary(one)}</b>
              <AgoTime at={one.answeredAt ?? one.expiresAt} />
              <span className="sub cut">
                {words[verdictOf(one)]} {one.answeredBy === null ? "" : `· ${nameOf(one.answeredBy)}`}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}
