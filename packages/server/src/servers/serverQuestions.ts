/**
 * What a server may ask back in one request, in whichever way its era asks: only what can be answered, only so much, and
 * only so often.
 */
import { type MCPQuestion, MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import type { CallingClient, InputRequired } from "./InputRequired.ts"

type JsonObject = Readonly<Record<string, unknown>>

/** A server that keeps asking is stopped. */
const maxRounds = 10
/** Questions that arrive on a stream while nobody has been asked yet: more are refused. */
export const maxQueued = 32
const largest = 64 * 1024

const refusal = (message: string) => new MCPRefused(-32_603, message)
const tooOften = refusal(`The server asked more than ${maxRounds} times in one request.`)
const undeclared = refusal("The server asked for a capability that the client did not declare.")
export const tooLarge = refusal(`The server's questions are too large: more than ${largest / 1024} KiB with its state.`)
export const tooMany = refusal(`More than ${maxQueued} questions of one request are open already.`)

export const isTooLarge = (asked: unknown): boolean => JSON.stringify(asked).length > largest

const declares = (client: CallingClient | undefined, capability: string): boolean =>
  client?.capabilities[capability] !== undefined

/**
 * Questions that nobody can be asked are answered at once: with no roots, or with an error for sampling. `people`:
 * people of the house may be asked too.
 */
export const answerWithoutAsking = (
  { method }: MCPQuestion,
  client: CallingClient | undefined,
  people = true,
): JsonObject | MCPRefused | undefined => {
  if (method === "elicitation/create")
    return people || declares(client, "elicitation") ? undefined : { action: "cancel" }
  if (method === "roots/list") return declares(client, "roots") ? undefined : { roots: [] }
  if (method === "sampling/createMessage" && declares(client, "sampling")) return undefined
  return new MCPRefused(-32_601, "Sampling is not available: neither the client nor the house offers a model.")
}

/** The questions, unless they are against the rules. `round`: how often it has asked before in this request. */
export const askedBack = (
  asked: InputRequired,
  round: number,
  client: CallingClient | undefined,
  people = true,
): Effect.Effect<InputRequired, MCPRefused> => {
  const { questions, state } = asked
  if (round >= maxRounds) return Effect.fail(tooOften)
  // The server knows what can be asked: if it asks for more, it gets an error.
  if (Object.values(questions).some((one) => answerWithoutAsking(one, client, people) !== undefined))
    return Effect.fail(undeclared)
  return isTooLarge([questions, state]) ? Effect.fail(tooLarge) : Effect.succeed(asked)
}
