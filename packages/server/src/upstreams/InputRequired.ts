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
  /** Comes back with the answers, as it is. */
  readonly state: Schema.Json
  /** The server waits on an open stream, which this process holds: the call ends with it. */
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

/** The MCP client that made a call, as far as a tool may make use of it: a server's, or one of a toolset. */
export interface CallingClient {
  readonly capabilities: JsonObject
  /** What it answered before anybody asked: a server may know what to do with it. */
  readonly answers: Answers
  /** The least it wants to hear of the log; undefined: nothing. */
  readonly logLevel?: LoggingLevel | undefined
  readonly log: (entry: { readonly level: string; readonly logger?: string; readonly data: unknown }) => void
  /**
   * Nobody need hold a connection for the result: a client that knows tasks gets one, any other is told when to come back,
   * if a time is given and it knows how.
   */
  readonly letGo: (retryMs?: number) => void
  /** It has never heard of tasks, so that the house waits for them in its place. One that has, and wants none, gets none. */
  readonly knowsNoTasks?: boolean
  /** Where it stands in a trace of its own. The call does not keep it: after a restart it is gone. */
  readonly trace?: JsonObject
}

/** What somebody said to what was asked: their answers, and the state that was given with the questions. */
interface Answered {
  readonly answers: Answers
  readonly state: Schema.Json
}

/** Who asks for a tool, a resource or a prompt that speaks MCP, and what they have answered. */
export interface MCPAsker {
  readonly client: CallingClient | undefined
  /** Present where it has asked before, and goes on. */
  readonly answered: Answered | undefined
}

/** A call of a tool that speaks MCP. */
export interface MCPCall extends CallContext, MCPAsker {
  /**
   * Told what the call can be picked up with that its server goes on with by itself, before anybody asks how it stands: it
   * outlives this process, and comes back as the state of `answered`.
   */
  readonly keep: (state: Schema.Json) => Effect.Effect<void>
}

/** What the client would have to declare before these could be asked. A form is none of it: people of the house fill it in too. */
export const lackingFor = (questions: Questions, client: CallingClient | undefined): JsonObject | undefined => {
  const wanted = Object.values(questions).flatMap(({ method }) =>
    method === "sampling/createMessage" ? ["sampling"] : method === "roots/list" ? ["roots"] : [],
  )
  const missing = wanted.filter((capability) => client?.capabilities[capability] === undefined)
  return missing.length === 0 ? undefined : Object.fromEntries(missing.map((capability) => [capability, {}]))
}
