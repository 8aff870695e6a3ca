/** A decision: the same card in a space, in the inbox, beside a run and behind a signed link. */
import { questionIn } from "@stoa/contract"
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from "react"
import type { Decision } from "../../feed/types.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { guard, mayPress } from "../../parts/press/press.ts"
import { settings } from "../../parts/settings.ts"
import { AddressBox, FormBox } from "./boxes/AnswerBox.tsx"
import { Arguments } from "./Arguments.tsx"
import { AlwaysBox } from "./boxes/AlwaysBox.tsx"
import { CriticalBox } from "./boxes/CriticalBox.tsx"
import { DenyBox } from "./boxes/DenyBox.tsx"
import { ClosedCard } from "./ClosedCard.tsx"
import { boundTo, isCritical, longReachesOf, mayEdit, viewerStateOf } from "./decision.logic.ts"
import { EditBox } from "./boxes/EditBox.tsx"
import { Foot, namesOf } from "./Foot.tsx"
import { type SendAnswer, useAnswer } from "./useAnswer.ts"
import { words } from "./words/en.ts"

export interface DecisionCardProps {
  readonly decision: Decision
  readonly me: string
  readonly nameOf: (id: string) => string
  readonly answer: SendAnswer
  /** Where it was asked, if the card is shown elsewhere than there. */
  readonly where?: ReactNode
  /** The link to the rules behind it. */
  readonly why?: ReactNode
  readonly startsOpen?: boolean
  readonly onAnswered?: () => void
}

type Mode = "look" | "edit" | "deny" | "always" | "critical"

const Key = ({ of }: { readonly of: string }) => (settings.get().letters ? <kbd>{of}</kbd> : null)

const Question = ({ decision, id }: { readonly decision: Decision; readonly id: string }) => {
  if (decision.kind === "approval" && decision.call !== null)
    return <h2 id={id}>{words.asksToCall(decision.asker.name, decision.call.tool)}</h2>
  const { heading, lines } = questionIn(decision)
  return (
    <>
      {heading === null ? null : <p className="small faint">{heading}</p>}
      <h2 id={id}>{lines.join(" ")}</h2>
    </>
  )
}

/** Who has approved, if several must. */
const ApprovalsSoFar = ({ decision, nameOf }: Pick<DecisionCardProps, "decision" | "nameOf">) =>
  decision.approvals.length === 0 ? null : (
    <div className="line wrap small">
      {decision.approvals.map((id) => (
        <span key={id} className="line">
          <Avatar name={nameOf(id)} kind="person" size="s" />
          {words.approvedBy(nameOf(id), "")}
        </span>
      ))}
      <span className="pill" data-tone="warn">
        <Icon name="hourglass" />
        {words.ofPeople(decision.approvals.length, decision.people)}
      </span>
    </div>
  )

const headWords = (decision: Decision): string =>
  decision.url !== undefined
    ? words.needsElsewhere
    : decision.kind === "approval"
      ? words.needsDecision
      : words.needsAnswer

export const DecisionCard = (props: DecisionCardProps) => {
  const { answer, decision, me, nameOf, onAnswered, startsOpen = false, where, why } = props
  const [mode, set] = useState<Mode>("look")
  const card = useRef<HTMLElement>(null)
  const title = useId()
  const { busy, error, issues, send, wasLate } = useAnswer(
    (given) => answer(boundTo(decision, given)),
    () => {
      set("look")
      onAnswered?.()
    },
  )
  const viewer = viewerStateOf(decision, me)
  const isClosed = viewer === "closed"
  // Its letters count as its buttons do.
  useLayoutEffect(
    () => (card.current === null ? undefined : guard(card.current, { shows: false })),
    [decision.id, isClosed],
  )
  if (isClosed)
    return <ClosedCard decision={decision} me={me} nameOf={nameOf} wasLate={wasLate} startsOpen={startsOpen} />

  const back = () => {
    set("look")
    card.current?.focus()
  }
  const box = { decision, busy, send, back }
  const approve = () => {
    if (isCritical(decision)) set("critical")
    else send({ verdict: "approve" })
  }
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    if (event.target instanceof HTMLElement && ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) {
      if (event.key === "Escape") back()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || viewer !== "mine") return
    if (event.key === "Escape" && mode !== "look") return back()
    if (!settings.get().letters || mode !== "look" || decision.kind !== "approval") return
    const key = event.key.toLowerCase()
    // No key approves a critical call.
    if (key === "a" && !isCritical(decision)) {
      if (mayPress(card.current)) approve()
    } else if (key === "e" && mayEdit(decision)) set("edit")
    else if (key === "d") set("deny")
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const acts = (
    <div className={where === undefined ? "acts" : "acts stay"}>
      <ActButton of={decision.id} className="button main-act" disabled={busy} onClick={approve}>
        <Icon name="check" small />
        {decision.approvals.length > 0
          ? words.approveSecond(words.nth[decision.approvals.length] ?? String(decision.approvals.length + 1))
          : words.approve}
        {isCritical(decision) ? null : <Key of="A" />}
      </ActButton>
      {mayEdit(decision) ? (
        <button type="button" className="button" disabled={busy} onClick={() => set("edit")}>
          <Icon name="pencil" small />
          {words.edit}
          <Key of="E" />
        </button>
      ) : null}
      <button type="button" className="button no" disabled={busy} onClick={() => set("deny")}>
        <Icon name="x" small />
        {words.deny}
        <Key of="D" />
      </button>
      {longReachesOf(decision).length > 0 ? (
        <button type="button" className="button plain push" disabled={busy} onClick={() => set("always")}>
          <Icon name="chevron-down" small />
          {words.always}
        </button>
      ) : null}
    </div>
  )
  const inside = () => {
    if (mode === "edit") return <EditBox {...box} issues={issues} />
    if (mode === "deny") return <DenyBox {...box} />
    if (mode === "always") return <AlwaysBox {...box} />
    if (mode === "critical") return <CriticalBox {...box} />
    if (decision.kind === "approval") return acts
    const more = { decision, busy, issues, send, decline: () => set("deny") }
    return decision.url === undefined ? <FormBox {...more} /> : <AddressBox {...more} />
  }
  const names = namesOf(props)
  // Elsewhere nothing would show what the house refused.
  const showsFaults = mode === "edit" || (mode === "look" && decision.kind !== "approval")
  return (
    <section
      ref={card}
      className="decision"
      data-state={viewer === "mine" ? "open" : "foreign"}
      data-decision={decision.id}
      aria-labelledby={title}
      tabIndex={-1}
      onKeyDown={onKey}
    >
      <header>
        <Icon name="inbox" small />
        <strong>
          {viewer === "mine"
            ? headWords(decision)
            : viewer === "halfway"
              ? words.waitsSecond
              : names.length === 0
                ? words.waitsOthers
                : words.waitsFor(names)}
        </strong>
        <code className="push cut">{decision.call?.tool}</code>
        {decision.call?.riskLevel === undefined ? null : <span>{words.risk(decision.call.riskLevel)}</span>}
      </header>
      <div className="ask">
        <Question decision={decision} id={title} />
        {where === undefined || where === null ? null : <div className="line wrap small faint">{where}</div>}
        <ApprovalsSoFar decision={decision} nameOf={nameOf} />
        {mode === "edit" || decision.call === null ? null : <Arguments decision={decision} />}
        {error === undefined || (issues.length > 0 && showsFaults) ? null : <FaultPane error={error} />}
        {viewer === "mine" ? inside() : null}
      </div>
      <Foot decision={decision} me={me} nameOf={nameOf} why={why} />
    </section>
  )
}
