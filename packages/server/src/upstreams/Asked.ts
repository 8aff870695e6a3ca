/**
 * What a server's tool wants to know before it can go on. Its handler gives this back instead of a result; whoever runs it
 * keeps the questions, finds somebody to answer, and calls the handler again with what they said.
 */
import type { MCPQuestion } from "@stoa/tools"
import { Context, type Schema } from "effect"

type JsonObject = Readonly<Record<string, unknown>>
export type Questions = Readonly<Record<string, MCPQuestion>>
export type Answers = Readonly<Record<string, JsonObject>>

export class Asked {
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

/** The answers to what a handler has asked. Provided around the execution that goes on. */
export const Answered = Context.Reference<{ readonly answers: Answers; readonly state: Schema.Json } | undefined>(
  "server/upstreams/Answered",
  { defaultValue: () => undefined },
)

/** The MCP client that made a call, as far as a server may make use of it. */
export interface CallingClient {
  readonly capabilities: JsonObject
  /** What it answered before anybody asked: a server may know what to do with it. */
  readonly answers: Answers
  readonly log: (entry: { readonly level: string; readonly logger?: string; readonly data: unknown }) => void
  /** The server goes on without us: nobody need hold a connection for the result. */
  readonly letGo: () => void
}
export const CallingClient = Context.Reference<CallingClient | undefined>("server/upstreams/CallingClient", {
  defaultValue: () => undefined,
})
