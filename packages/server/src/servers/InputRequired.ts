/**
 * What a tool that speaks MCP needs to know before it can continue. Its handler returns this instead of a result; the
 * caller of the handler stores the questions, finds somebody to answer, and calls the handler again with the answers.
 */
import type { CallContext, MCPExchange, MCPQuestion } from "@stoa/tools"
import type { Effect, Schema } from "effect"

type JsonObject = Readonly<Record<string, unknown>>
type LoggingLevel = NonNullable<MCPExchange["logLevel"]>
export type Questions = Readonly<Record<string, MCPQuestion>>
export type Answers = Readonly<Record<string, JsonObject>>

export class InputRequired {
  readonly questions: Questions
  /** Comes back unchanged with the answers. */
  readonly state: Schema.Json
  /** The server waits on an open stream that this process holds: the call ends with the stream. */
  readonly held: boolean
  /** The server itself has made a task of it. */
  readonly isTask: boolean
  constructor(questions: Questions, state: Schema.Json, held: boolean, isTask: boolean) {
    this.questions = questions
    this.state = state
    this.held = held
    this.isTask = isTask
  }
}

/** The MCP client that made a call, as far as a tool of a server or a toolset may use it. */
export interface CallingClient {
  readonly capabilities: JsonObject
  /** Answers it gave before it was asked: the server may know what to do with them. */
  readonly answers: Answers
  /** The lowest log level it wants; undefined: no log. */
  readonly logLevel?: LoggingLevel | undefined
  readonly log: (entry: { readonly level: string; readonly logger?: string; readonly data: unknown }) => void
  /**
   * The client need not hold a connection for the result: a client that supports tasks gets one; any other is told when
   * to come back, if a time is given and it supports that.
   */
  readonly letGo: (retryMs?: number) => void
  /**
   * Its revision has no tasks, so the house waits for a server's task in its place. A client that has tasks but wants
   * none gets none.
   */
  readonly knowsNoTasks?: boolean
  /** Its own trace context. It is not stored with the call: after a restart it is gone. */
  readonly trace?: JsonObject
}

/** The answers to the questions, and the state that was given with them. */
interface Answered {
  readonly answers: Answers
  readonly state: Schema.Json
}

/** Who requests a tool, a resource or a prompt that speaks MCP, and what they have answered. */
export interface MCPAsker {
  readonly client: CallingClient | undefined
  /** Present if it has asked before, and continues. */
  readonly answered: Answered | undefined
}

/** A call of a tool that speaks MCP. */
export interface MCPCall extends CallContext, MCPAsker {
  /**
   * Stores the state with which the call can be found again if its server continues it on its own; called before
   * anybody asks for its status. The state survives this process, and comes back as the state of `answered`.
   */
  readonly keep: (state: Schema.Json) => Effect.Effect<void>
}

/**
 * What the client would have to declare before these could be asked. Forms need nothing: people of the house can fill
 * them in too.
 */
export const lackingFor = (questions: Questions, client: CallingClient | undefined): JsonObject | undefined => {
  const wanted = Object.values(questions).flatMap(({ method }) =>
    method === "sampling/createMessage" ? ["sampling"] : method === "roots/list" ? ["roots"] : [],
  )
  const missing = wanted.filter((capability) => client?.capabilities[capability] === undefined)
  return missing.length === 0 ? undefined : Object.fromEntries(missing.map((capability) => [capability, {}]))
}
