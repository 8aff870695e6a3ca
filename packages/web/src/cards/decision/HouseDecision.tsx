/**
 * A decision's card for a signed-in user: its answer goes to the house, and every other copy of the card is updated.
 */
import type { NewAnswer } from "@stoa/contract"
import type { ReactNode } from "react"
import { noteDecision, readDecision } from "../../feed/events/apply.ts"
import { house, isRefusal } from "../../feed/house.ts"
import { useNames, useStart } from "../../feed/start.ts"
import type { Decision } from "../../feed/types.ts"
import { WhyLink } from "../WhyLink.tsx"
import { DecisionCard } from "./DecisionCard.tsx"

export interface HouseDecisionProps {
  readonly decision: Decision
  readonly where?: ReactNode
  readonly startsOpen?: boolean
  readonly onAnswered?: () => void
}

const answerOf = (id: string) => async (given: NewAnswer) => {
  try {
    noteDecision(await house.decisions.answer(id, given))
  } catch (error) {
    // Somebody else was first: the card shows who.
    if (isRefusal(error, 409)) await readDecision(id)
    throw error
  }
}

export const HouseDecision = ({ decision, ...rest }: HouseDecisionProps) => {
  const { me } = useStart()
  const nameOf = useNames()
  const why =
    decision.kind !== "approval" || decision.call === null ? null : (
      <WhyLink principal={decision.asker.name} tool={decision.call.tool} space={decision.space} />
    )
  return (
    <DecisionCard decision={decision} me={me.id} nameOf={nameOf} answer={answerOf(decision.id)} why={why} {...rest} />
  )
}
