import { visibleLines } from "@stoa/contract"
import { Link } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { inputSummary } from "../../cards/call.logic.ts"
import { decisionSummary } from "../../cards/decision/decision.logic.ts"
import { noteDecision, readDecision } from "../../feed/events/apply.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import type { Decision } from "../../feed/types.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { EmptyPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import { durationOf } from "../../parts/figures/time.logic.ts"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { answeredQuery } from "./answered.ts"
import { type BulkDenial, bulkDenials, medianAnswerTime, type Tab } from "./decisions.logic.ts"
import { words } from "./words/en.ts"

/** Distinguishes several calls of one tool; the card shows the call itself. */
const inputSummaryOf = ({ call, kind }: Decision): string =>
  kind === "approval" && call?.input !== undefined ? visibleLines(inputSummary(call.input)).join(" ") : ""

const Sub = ({ decision }: { readonly decision: Decision }) => {
  const { spaces } = useStart()
  const space = spaces.find(({ id }) => id === decision.space)
  const parts = [
    space === undefined ? "" : `${words.inSpace} ${space.name}`,
    decision.call?.riskLevel === undefined ? "" : words.risk(decision.call.riskLevel),
    decision.people > 1 ? words.oneMore(decision.approvals.length, decision.people) : "",
    decision.kind === "form" ? words.form : "",
  ].filter((one) => one !== "")
  return (
    <span className="sub cut">
      {decision.asker.name} {words.asked} {parts.join(" · ")}
    </span>
  )
}

const DenyAll = ({ bulk }: { readonly bulk: BulkDenial }) => {
  const [asks, ask] = useState(false)
  const deny = async () => {
    for (const id of bulk.ids)
      await house.decisions.answer(id, { verdict: "deny" }).then(noteDecision, () => readDecision(id))
    ask(false)
  }
  return asks ? (
    <Confirmation
      className="note stack bulk"
      label={words.denyAll(bulk.ids.length, bulk.tool)}
      close={() => ask(false)}
    >
      <p>{words.denyAllSure(bulk.ids.length, bulk.asker, bulk.tool)}</p>
      <p className="line">
        <ActButton of={bulk.ids.join(" ")} className="button tiny no" onClick={() => void deny()}>
          {words.deny}
        </ActButton>
        <button type="button" className="button tiny plain" data-first onClick={() => ask(false)}>
          {words.cancel}
        </button>
      </p>
    </Confirmation>
  ) : (
    <p className="bulk">
      <button type="button" className="button tiny plain" onClick={() => ask(true)}>
        {words.denyAll(bulk.ids.length, bulk.tool)}
      </button>
    </p>
  )
}

const Nothing = () => {
  const { data } = useQuery(answeredQuery)
  const median = medianAnswerTime(data ?? [])
  return (
    <EmptyPane>
      {words.nothingMine} {median === undefined ? words.nothingMineMore : words.median(durationOf(median))}
    </EmptyPane>
  )
}

export interface OpenListProps {
  readonly list: ReadonlyArray<Decision>
  readonly shown: string | undefined
  readonly tab: Tab
}

export const OpenList = ({ list, shown, tab }: OpenListProps) => {
  if (list.length === 0) return tab === "mine" ? <Nothing /> : <EmptyPane>{words.nothingOthers}</EmptyPane>
  return (
    <>
      <ul className="rows">
        {list.map((one) => (
          <li key={one.id}>
            <Link
              className="pick"
              to="/decisions/$id"
              params={{ id: one.id }}
              search={tab === "mine" ? {} : { tab }}
              aria-current={one.id === shown ? "true" : undefined}
            >
              <Avatar name={one.asker.name} kind={one.asker.kind} size="s" />
              <span className="cut">
                <b>{decisionSummary(one)}</b> <span className="faint small">{inputSummaryOf(one)}</span>
              </span>
              <AgoTime at={one.createdAt} />
              <Sub decision={one} />
            </Link>
          </li>
        ))}
      </ul>
      {tab === "mine" ? bulkDenials(list).map((bulk) => <DenyAll key={bulk.key} bulk={bulk} />) : null}
    </>
  )
}
