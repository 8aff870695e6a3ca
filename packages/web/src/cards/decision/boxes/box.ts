/** What every box inside a card is given. */
import type { NewAnswer } from "@stoa/contract"
import type { Decision } from "../../../feed/types.ts"

export interface BoxProps {
  readonly decision: Decision
  readonly busy: boolean
  readonly send: (answer: NewAnswer) => void
  readonly back: () => void
}
