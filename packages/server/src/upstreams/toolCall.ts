/**
 * One run of a server's tool, in whichever way its era asks back: on the call's own stream, in an answer that is to be asked
 * again, or in a task. However it is, what comes out is a result or `Asked`.
 */
import type { MCPConnectionError } from "@stoa/contract"
import { type MCPConnection, type MCPExchange, MCPRefused, type MCPReply } from "@stoa/tools"
import { Effect, type Schema, type Scope } from "effect"
import { Answered, Asked, CallingClient, type Questions } from "./Asked.ts"
import { type makeConversations, unaskable } from "./conversations.ts"
import { lowerLog } from "./loudness.ts"

type JsonObject = Readonly<Record<string, unknown>>
type Refusal = MCPConnectionError | MCPRefused

/** What comes back with the answers. */
type State =
  | { readonly held: true }
  | { readonly round: number; readonly state: string | null }
  | { readonly task: string; readonly pollMs: number }
  /** It refused for want of a person's consent elsewhere: nothing has run, and it is called anew. */
  | { readonly anew: number }

/** A tool that never has enough is stopped. */
const mostRounds = 10
const largestQuestion = 64 * 1024
const tasks = "io.modelcontextprotocol/tasks"
const [usualPollMs, longestPollMs] = [1000, 30_000]

export interface ToolCall {
  readonly call: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly meta: JsonObject
  readonly onProgress: NonNullable<MCPExchange["onProgress"]>
}

const takesTasks = ({ capabilities }: CallingClient): boolean =>
  (capabilities["extensions"] as JsonObject | undefined)?.[tasks] !== undefined

/** People of the house can fill in a form for anybody; the rest is the client's own. */
const capabilitiesFor = (client: CallingClient | undefined): JsonObject => {
  const { roots, sampling } = client?.capabilities ?? {}
  return {
    elicitation: { form: {}, url: {} },
    ...(roots === undefined ? {} : { roots: {} }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(client !== undefined && takesTasks(client) ? { extensions: { [tasks]: {} } } : {}),
  }
}

/** A refusal of the old era that names addresses to visit first. */
const visitFirst = -32_042
const visits = ({ data }: MCPRefused): Questions | undefined => {
  const listed = (data as { readonly elicitations?: unknown } | undefined)?.elicitations
  if (!Array.isArray(listed) || listed.length === 0) return undefined
  return Object.fromEntries(
    listed.map((params: JsonObject, at) => {
      const { elicitationId: _, ...rest } = params
      return [`visit-${at + 1}`, { method: "elicitation/create", params: { mode: "url", ...rest } }]
    }),
  )
}

const tooMuch = new MCPRefused(-32_603, "The server asked more than anybody would answer")

const askedWith = (
  questions: Questions,
  state: State,
  client: CallingClient | undefined,
): Effect.Effect<Asked, MCPRefused> => {
  // It was told what can be asked: whoever asks for more gets nothing.
  if (Object.values(questions).some((question) => unaskable(question, client) !== undefined))
    return Effect.fail(new MCPRefused(-32_603, "The server asked for something it was told nobody has"))
  if (JSON.stringify([questions, state]).length > largestQuestion) return Effect.fail(tooMuch)
  return Effect.succeed(new Asked(questions, state as unknown as Schema.Json, false, "task" in state))
}

export const makeToolCalls = (conversations: ReturnType<typeof makeConversations>) => {
  /** Calls whose task is looked after here: whoever stops one of them stops its task. */
  const followed = new Set<string>()

  /** Looks after a task until it ends, or wants something. */
  const follow = Effect.fnUntraced(function* (
    connection: MCPConnection,
    call: string,
    task: string,
    options: MCPExchange,
    first: number,
    client: CallingClient | undefined,
  ): Effect.fn.Return<MCPReply | Asked, Refusal> {
    const about = (method: string, more: JsonObject = {}) =>
      connection.exchange(method, { taskId: task, ...more }, options)
    const look = Effect.gen(function* () {
      for (let pollMs = first; ;) {
        const reply = yield* about("tasks/get")
        const now = reply._tag === "Done" ? reply.result : {}
        switch (now["status"]) {
          case "completed":
            return { _tag: "Done", result: now["result"] as JsonObject } satisfies MCPReply
          case "failed": {
            const { code, data, message } = now["error"] as { code: number; message: string; data?: unknown }
            return yield* Effect.fail(new MCPRefused(code, message, data))
          }
          case "cancelled":
            return yield* Effect.fail(new MCPRefused(-32_603, "The server cancelled it"))
          case "input_required":
            return yield* askedWith((now["inputRequests"] ?? {}) as Questions, { task, pollMs }, client)
          default:
            pollMs = Math.min(typeof now["pollIntervalMs"] === "number" ? now["pollIntervalMs"] : pollMs, longestPollMs)
            yield* Effect.sleep(pollMs)
        }
      }
    })
    followed.add(call)
    return yield* Effect.onInterrupt(look, () => Effect.ignore(about("tasks/cancel"))).pipe(
      Effect.ensuring(Effect.sync(() => followed.delete(call))),
    )
  })

  const ask = Effect.fnUntraced(function* (
    connection: MCPConnection,
    it: ToolCall,
    options: MCPExchange,
    round: number,
    client: CallingClient | undefined,
  ): Effect.fn.Return<MCPReply | Asked, Refusal> {
    const reply = yield* connection.exchange("tools/call", { name: it.tool, arguments: it.arguments }, options)
    if (reply._tag === "Done") return reply
    if (reply._tag === "Task") {
      client?.letGo()
      const { pollIntervalMs, taskId } = reply.task
      const pollMs = typeof pollIntervalMs === "number" ? pollIntervalMs : usualPollMs
      const { answers: _answers, state: _state, ...rest } = options
      return yield* follow(connection, it.call, String(taskId), rest, Math.min(pollMs, longestPollMs), client)
    }
    if (round >= mostRounds) return yield* Effect.fail(tooMuch)
    return yield* askedWith(reply.questions, { round: round + 1, state: reply.state ?? null }, client)
  })

  /** A call that asked and is given up. Its server waits for nothing any more, and its task, if it made one, is over. */
  const giveUp = (call: string, connection: MCPConnection | undefined, asked: Schema.Json): Effect.Effect<void> => {
    const task = (asked as { readonly task?: string } | null)?.task
    if (connection === undefined || typeof task !== "string" || followed.has(call)) return Effect.void
    const capabilities = { extensions: { [tasks]: {} } }
    return Effect.ignore(connection.exchange("tasks/cancel", { taskId: task }, { capabilities }))
  }

  /** Runs it, or goes on with it where it has asked before. */
  const run = Effect.fnUntraced(function* (
    connection: MCPConnection,
    scope: Scope.Scope,
    it: ToolCall,
  ): Effect.fn.Return<MCPReply | Asked, Refusal> {
    const client = yield* CallingClient
    const answered = yield* Answered
    const { capabilities, era } = yield* connection.details
    const { meta, onProgress } = it
    if (era === "legacy") {
      const send = (line: MCPExchange | undefined) =>
        connection.exchange("tools/call", { name: it.tool, arguments: it.arguments }, { ...line, meta, onProgress })
      const before = answered?.state as unknown as State | undefined
      const round = before !== undefined && "anew" in before ? before.anew : 0
      if (answered !== undefined && round === 0) {
        const on = conversations.goOn(it.call, answered.answers)
        return yield* on ?? Effect.fail(new MCPRefused(-32_603, "The connection on which it asked is gone"))
      }
      yield* lowerLog(connection, capabilities["logging"] === undefined ? undefined : client?.logLevel)
      return yield* Effect.catchIf(
        conversations.begin(it.call, scope, client, true, send),
        (error) => error._tag === "MCPRefused" && error.code === visitFirst && round < mostRounds,
        (error) => {
          const questions = visits(error as MCPRefused)
          return questions === undefined ? Effect.fail(error) : askedWith(questions, { anew: round + 1 }, client)
        },
      )
    }
    const line: MCPExchange["line"] = {
      answer: () => Effect.fail(new MCPRefused(-32_601, "This era asks in its answers")),
      log: (entry) => Effect.sync(() => client?.log(entry)),
    }
    const options: MCPExchange = {
      meta,
      onProgress,
      line,
      capabilities: capabilitiesFor(client),
      ...(client?.logLevel === undefined ? {} : { logLevel: client.logLevel }),
    }
    const early = client?.answers ?? {}
    if (answered === undefined)
      return yield* ask(
        connection,
        it,
        Object.keys(early).length === 0 ? options : { ...options, answers: early },
        0,
        client,
      )
    const state = answered.state as unknown as Exclude<State, { readonly held: true } | { readonly anew: number }>
    if ("task" in state) {
      yield* connection.exchange("tasks/update", { taskId: state.task, inputResponses: answered.answers }, options)
      return yield* follow(connection, it.call, state.task, options, state.pollMs, client)
    }
    const again = { ...options, answers: answered.answers, ...(state.state === null ? {} : { state: state.state }) }
    return yield* ask(connection, it, again, state.round, client)
  })

  return { run, giveUp }
}
