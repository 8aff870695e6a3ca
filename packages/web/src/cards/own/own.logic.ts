/** Messages to an owner's card, and from it. Pure. */
import type { MessageCall } from "../../feed/types.ts"

const maxSent = 200_000
const highest = 600
const lowest = 24
/** Further messages from one card are ignored. */
export const maxMessages = 200

/** The card of a call, if the owner has one of that name and there is something to draw. */
export const ownCardOf = (call: MessageCall, cards: ReadonlyArray<string>): string | undefined => {
  const { customUI, error, output } = call
  return customUI !== undefined && cards.includes(customUI) && (output !== undefined || error !== undefined)
    ? customUI
    : undefined
}

/** The call without its rights and its space: nothing too large, and nothing that cannot be cloned. */
export const cardDataOf = (call: MessageCall) => {
  const { error, input, output, state, tool } = call
  const sent = { tool, input, ...(output === undefined ? {} : { output }), ...(error === undefined ? {} : { error }) }
  const told = { ...sent, ...(state === undefined ? {} : { state }) }
  return JSON.stringify(told).length > maxSent ? undefined : told
}

export type FrameMessage = { readonly kind: "ready" } | { readonly kind: "height"; readonly height: number }

/** Two kinds of messages are understood; the height is limited. */
export const frameMessageOf = (data: unknown): FrameMessage | undefined => {
  if (typeof data !== "object" || data === null) return undefined
  if ("ready" in data && data.ready === true) return { kind: "ready" }
  if (!("height" in data) || typeof data.height !== "number" || !Number.isFinite(data.height)) return undefined
  return { kind: "height", height: Math.min(highest, Math.max(lowest, Math.ceil(data.height))) }
}
