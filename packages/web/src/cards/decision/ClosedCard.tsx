/** A closed decision: one line in a list, which can be opened. */
import { visibleLines } from "@stoa/contract"
import type { Decision } from "../../feed/types.ts"
import { Diff } from "../../parts/text/Diff.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { JsonView } from "../../parts/text/JsonView.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { Arguments } from "./Arguments.tsx"
import { changesIn } from "./decision.logic.ts"
import { words } from "./words/en.ts"

export interface ClosedCardProps {
  readonly decision: Decision
  readonly me: string
  readonly nameOf: (id: string) => string
  readonly wasLate: boolean
  readonly startsOpen: boolean
}

const headOf = ({ decision, me, nameOf }: ClosedCardProps) => {
  if (decision.state === "expired") return { tone: "faint", icon: "hourglass", words: words.expired }
  if (decision.state === "canceled" || decision.verdict === null)
    return { tone: "faint", icon: "undo-2", words: words.withdrawn }
  const by = decision.answeredBy === me ? words.youSmall : nameOf(decision.answeredBy ?? "")
  const isNo = decision.verdict === "deny"
  return {
    tone: isNo ? "bad" : "good",
    icon: isNo ? "circle-x" : "circle-check",
    words: words.ended[decision.verdict]!(by),
  }
}

export const ClosedCard = (props: ClosedCardProps) => {
  const { decision, me, nameOf, startsOpen, wasLate } = props
  const head = headOf(props)
  const changes =
    decision.kind === "approval" && decision.value !== undefined ? changesIn(decision.call?.input, decision.value) : []
  const first = wasLate && decision.answeredBy !== me && decision.answeredBy !== null
  return (
    <details className="decision" data-state="answered" open={startsOpen || first}>
      <summary className="closed">
        <span data-tone={head.tone}>
          <Icon name={head.icon} small />
        </span>
        <strong>{head.words}</strong>
        <code className="push cut">{decision.call?.tool}</code>
        <AgoTime at={decision.answeredAt ?? decision.expiresAt} />
      </summary>
      <div className="ask">
        {first ? (
          <p className="note" role="status">
            <Icon name="users" small />
            <span>{words.somebodyFirst(nameOf(decision.answeredBy ?? ""))}</span>
          </p>
        ) : null}
        <p className="soft">
          {decision.kind === "approval" && decision.call !== null
            ? words.asksToCall(decision.asker.name, decision.call.tool)
            : visibleLines(decision.question).join(" ")}
        </p>
        {changes.length > 0 ? (
          changes.map(({ after, before, name }) => (
            <div key={name} className="field">
              <span className="name small">{name}</span>
              <Diff before={before} after={after} label={words.changesOf} />
            </div>
          ))
        ) : decision.call === null ? null : (
          <Arguments decision={decision} />
        )}
        {decision.kind !== "approval" && decision.value !== undefined ? (
          <JsonView value={decision.value} label={words.sent} />
        ) : null}
        {decision.note === null ? null : <p className="small soft">“{visibleLines(decision.note).join(" ")}”</p>}
        {decision.state === "expired" ? <p className="small faint">{words.expiredWords}</p> : null}
        {decision.state === "canceled" ? <p className="small faint">{words.withdrawnWords}</p> : null}
      </div>
    </details>
  )
}
