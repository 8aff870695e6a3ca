/** One request to a server for a client that can be asked back, with its answers if it was asked before. */
import { randomUUID } from "node:crypto"
import { faultOfMCPResult, type MCPConnectionError, type MCPExchange, MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import { InputRequired } from "../InputRequired.ts"
import { askedBack } from "../serverQuestions.ts"
import type { ConnectedServer } from "../connectedServer.ts"
import type { ContentsReader, JsonObject } from "./Contents.ts"

const [missing, invalid, internal, unknownMethod] = [-32_002, -32_602, -32_603, -32_601]

/** The client's capabilities that a server may use. */
const askable = ({ elicitation, roots, sampling }: JsonObject): JsonObject => ({
  ...(elicitation === undefined ? {} : { elicitation }),
  ...(roots === undefined ? {} : { roots }),
  ...(sampling === undefined ? {} : { sampling }),
})

/** What was handed out with the questions: the server's own state, or the name of the held conversation. */
const textIn = (state: unknown, key: "server" | "held"): string | undefined => {
  const text = typeof state === "object" && state !== null ? (state as JsonObject)[key] : undefined
  return typeof text === "string" ? text : undefined
}

/** How often the server has asked before in this request. */
const roundIn = (state: unknown): number => {
  const round = typeof state === "object" && state !== null ? (state as JsonObject)["round"] : undefined
  return typeof round === "number" ? round : 0
}

/** The server says that the thing does not exist. */
export const isMissing = (error: MCPConnectionError | MCPRefused): boolean =>
  error._tag === "MCPRefused" && (error.code === missing || error.code === invalid)

export const converse = (
  server: ConnectedServer,
  method: string,
  params: JsonObject,
  { answers, client, progress, state }: ContentsReader,
): Effect.Effect<JsonObject | InputRequired, MCPConnectionError | MCPRefused> => {
  const held = textIn(state, "held")
  const conversation = held ?? randomUUID()
  const own = textIn(state, "server")
  const round = roundIn(state)
  const options: MCPExchange = {
    // A server of the new era asks in its result, never by a request.
    line: {
      answer: () => Effect.fail(new MCPRefused(unknownMethod, "Questions are not supported for this request.")),
      log: (entry) => Effect.sync(() => client.log(entry)),
    },
    capabilities: askable(client.capabilities),
    ...(client.logLevel === undefined ? {} : { logLevel: client.logLevel }),
    ...(Object.keys(answers).length === 0 ? {} : { answers }),
    ...(own === undefined ? {} : { state: own }),
    onProgress: (step) =>
      Effect.sync(() =>
        progress({
          progress: step.progress,
          ...(step.total === undefined ? {} : { total: step.total }),
          ...(step.message === undefined ? {} : { message: step.message }),
        }),
      ),
  }
  return Effect.flatMap(
    server.converse(conversation, method, params, client, options, held !== undefined),
    (reply): Effect.Effect<JsonObject | InputRequired, MCPRefused> => {
      if (reply instanceof InputRequired)
        return Effect.succeed(new InputRequired(reply.questions, { held: conversation }, true, false))
      switch (reply._tag) {
        case "Done": {
          const fault = faultOfMCPResult(method, reply.result)
          return fault === undefined
            ? Effect.succeed(reply.result)
            : Effect.fail(new MCPRefused(internal, `The server's answer cannot be read: ${fault}`))
        }
        case "Asks":
          return askedBack(
            new InputRequired(reply.questions, { server: reply.state ?? null, round: round + 1 }, false, false),
            round,
            client,
            false,
          )
        case "Task":
          return Effect.fail(
            new MCPRefused(internal, "The server answered with a task, which this method does not support."),
          )
      }
    },
  )
}
