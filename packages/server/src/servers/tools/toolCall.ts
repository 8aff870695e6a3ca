/**
 * One run of a server's tool, in whichever way its era asks back: on the call's own stream, in an answer that is to be asked
 * again, or in a task. Either way the outcome is a result or `InputRequired`.
 */
import type { MCPConnectionError } from "@stoa/contract"
import { faultOfMCPResult, type MCPConnection, type MCPExchange, MCPRefused, type MCPReply } from "@stoa/tools"
import { Effect, Result, Schedule, type Schema, type Scope } from "effect"
import { InputRequired, type CallingClient, type MCPCall, type Questions } from "../InputRequired.ts"
import type { makeConversations } from "../connections/conversations.ts"
import { lowerLog } from "../connections/logLevel.ts"
import { askedBack } from "../serverQuestions.ts"

type JsonObject = Readonly<Record<string, unknown>>
type Refusal = MCPConnectionError | MCPRefused

/** Comes back with the answers. */
type State =
  | { readonly held: true; readonly task?: string }
  | { readonly round: number; readonly state: string | null }
  | { readonly task: string; readonly pollMs: number; readonly round?: number }
  /** It refused because a person must consent elsewhere first: nothing has run, and it is called again. */
  | { readonly anew: number }

const tasks = "io.modelcontextprotocol/tasks"
const [usualPollMs, longestPollMs] = [1000, 30_000]
/** A server without a sign of life for about this many seconds has lost its task. */
const patientTries = 300
/** How long an old-era server is asked to keep a result. */
const taskTtlMs = 24 * 3_600_000

export interface ToolCall extends Pick<MCPCall, "client" | "answered" | "keep"> {
  readonly call: string
  readonly tool: string
  readonly arguments: JsonObject
  /** An old-era server that runs it only as a task. */
  readonly onlyTask: boolean
  readonly meta: JsonObject
  readonly onProgress: NonNullable<MCPExchange["onProgress"]>
}

const takesTasks = ({ capabilities }: CallingClient): boolean =>
  (capabilities["extensions"] as JsonObject | undefined)?.[tasks] !== undefined

/** People of the house can fill in a form for anybody; the other capabilities are the client's own. */
const capabilitiesFor = (client: CallingClient | undefined): JsonObject => {
  const { roots, sampling } = client?.capabilities ?? {}
  return {
    elicitation: { form: {}, url: {} },
    ...(roots === undefined ? {} : { roots: {} }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(client === undefined || client.knowsNoTasks === true || takesTasks(client)
      ? { extensions: { [tasks]: {} } }
      : {}),
  }
}

/** An old-era refusal that names addresses to visit first. */
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

/** `round`: how often it has asked before; the state that comes back has counted this time too. */
const askedWith = (
  questions: Questions,
  state: State,
  round: number,
  client: CallingClient | undefined,
): Effect.Effect<InputRequired, MCPRefused> =>
  askedBack(new InputRequired(questions, state, false, "task" in state), round, client)

/** As often as the server suggests, but at least twice a minute. */
const pollOf = (said: unknown, otherwise = usualPollMs): number =>
  Math.min(typeof said === "number" && said > 0 ? said : otherwise, longestPollMs)

/** The state of a task. A task survives its connection, and a temporary absence of its server. */
const how = (connection: MCPConnection, taskId: string, options?: MCPExchange) =>
  Effect.retry(connection.exchange("tasks/get", { taskId }, options), {
    while: ({ _tag }) => _tag === "MCPConnectionError",
    times: patientTries,
    schedule: Schedule.spaced("1 second"),
  })

const ended = new MCPRefused(-32_603, "The server cancelled it")

/** The SDK validates results of calls, but not results of tasks. */
const taskResult = (result: unknown): Effect.Effect<MCPReply, MCPRefused> => {
  const fault = faultOfMCPResult("tools/call", result)
  return fault === undefined
    ? Effect.succeed({ _tag: "Done", result: result as JsonObject })
    : Effect.fail(new MCPRefused(-32_603, `its result cannot be read: ${fault}`))
}

/** Follows a new-era task until it ends, or asks something. */
const follow = Effect.fnUntraced(function* (
  connection: MCPConnection,
  task: string,
  options: MCPExchange,
  first: number,
  round: number,
  { client, keep }: ToolCall,
): Effect.fn.Return<MCPReply | InputRequired, Refusal> {
  yield* keep({ task, pollMs: first, round })
  for (let pollMs = first; ;) {
    const reply = yield* how(connection, task, options)
    const now = reply._tag === "Done" ? reply.result : {}
    switch (now["status"]) {
      case "completed":
        return yield* taskResult(now["result"])
      case "failed": {
        const { code, data, message } = now["error"] as { code: number; message: string; data?: unknown }
        return yield* Effect.fail(new MCPRefused(code, message, data))
      }
      case "cancelled":
        return yield* Effect.fail(ended)
      case "input_required":
        return yield* askedWith(
          (now["inputRequests"] ?? {}) as Questions,
          { task, pollMs, round: round + 1 },
          round,
          client,
        )
      default:
        yield* Effect.sleep((pollMs = pollOf(now["pollIntervalMs"], pollMs)))
    }
  }
})

/**
 * An old-era task. Its questions come on the stream of a request for its result, so that request is made only when
 * there is something to get.
 */
const followOld = Effect.fnUntraced(function* (
  connection: MCPConnection,
  task: string,
  options: MCPExchange,
  first: number,
  { keep }: ToolCall,
): Effect.fn.Return<MCPReply, Refusal> {
  yield* keep({ task, pollMs: first })
  for (let pollMs = first; ;) {
    const reply = yield* how(connection, task)
    const now = reply._tag === "Done" ? reply.result : {}
    if (now["status"] === "cancelled") return yield* Effect.fail(ended)
    if (now["status"] !== "working") {
      const result = yield* Effect.result(connection.exchange("tasks/result", { taskId: task }, options))
      if (Result.isSuccess(result))
        return result.success._tag === "Done" ? yield* taskResult(result.success.result) : result.success
      // It was answered, and runs longer than a request may take.
      if (result.failure._tag === "MCPRefused" || now["status"] !== "input_required")
        return yield* Effect.fail(result.failure)
    }
    yield* Effect.sleep((pollMs = pollOf(now["pollInterval"], pollMs)))
  }
})

export const makeToolCalls = (conversations: ReturnType<typeof makeConversations>) => {
  const ask = Effect.fnUntraced(function* (
    connection: MCPConnection,
    it: ToolCall,
    options: MCPExchange,
    round: number,
  ): Effect.fn.Return<MCPReply | InputRequired, Refusal> {
    const { client } = it
    const reply = yield* connection.exchange("tools/call", { name: it.tool, arguments: it.arguments }, options)
    if (reply._tag === "Done") return reply
    if (reply._tag === "Task") {
      client?.letGo()
      const { pollIntervalMs, taskId } = reply.task
      const { answers: _answers, state: _state, ...rest } = options
      return yield* follow(connection, String(taskId), rest, pollOf(pollIntervalMs), 0, it)
    }
    return yield* askedWith(reply.questions, { round: round + 1, state: reply.state ?? null }, round, client)
  })

  /** The call is given up: cancels the task its server may have made of it. */
  const giveUp = (connection: MCPConnection | undefined, kept: Schema.Json): Effect.Effect<void> => {
    const task = (kept as { readonly task?: string } | null)?.task
    if (connection === undefined || typeof task !== "string") return Effect.void
    const capabilities = { extensions: { [tasks]: {} } }
    return Effect.ignore(connection.exchange("tasks/cancel", { taskId: task }, { capabilities }))
  }

  /** One run on an old-era server, from the start or from the task it has become. */
  const runOld =
    (connection: MCPConnection, it: ToolCall, before: { readonly task: string; readonly pollMs: number } | undefined) =>
    (line: MCPExchange | undefined, becomes: (task: string) => void) =>
      Effect.gen(function* () {
        const options = { ...line, meta: it.meta, onProgress: it.onProgress }
        const follow = (task: string, pollMs: number) => {
          becomes(task)
          return followOld(connection, task, options, pollMs, it)
        }
        if (before !== undefined) return yield* follow(before.task, before.pollMs)
        const params = { name: it.tool, arguments: it.arguments, ...(it.onlyTask ? { task: { ttl: taskTtlMs } } : {}) }
        const reply = yield* connection.exchange("tools/call", params, options)
        const made = reply._tag === "Done" && it.onlyTask ? (reply.result["task"] as JsonObject | undefined) : undefined
        if (made === undefined) return reply
        it.client?.letGo()
        return yield* follow(String(made["taskId"]), pollOf(made["pollInterval"]))
      })

  /** Runs it, or continues it if it has asked before. */
  const run = Effect.fnUntraced(function* (
    connection: MCPConnection,
    scope: Scope.Scope,
    it: ToolCall,
  ): Effect.fn.Return<MCPReply | InputRequired, Refusal> {
    const { answered, client } = it
    const { capabilities, era } = yield* connection.details
    const { meta, onProgress } = it
    if (era === "legacy") {
      const before = answered?.state as unknown as State | undefined
      const round = before !== undefined && "anew" in before ? before.anew : 0
      const task = before !== undefined && "pollMs" in before ? before : undefined
      if (answered !== undefined && round === 0 && task === undefined) {
        const on = conversations.resume(it.call, answered.answers)
        return yield* on ?? Effect.fail(new MCPRefused(-32_603, "The connection on which the server asked has ended"))
      }
      yield* lowerLog(connection, capabilities["logging"] === undefined ? undefined : client?.logLevel)
      return yield* Effect.catchIf(
        conversations.begin(it.call, scope, client, true, runOld(connection, it, task)),
        (error) => error._tag === "MCPRefused" && error.code === visitFirst,
        (error) => {
          const questions = visits(error as MCPRefused)
          return questions === undefined ? Effect.fail(error) : askedWith(questions, { anew: round + 1 }, round, client)
        },
      )
    }
    const line: MCPExchange["line"] = {
      answer: () =>
        Effect.fail(
          new MCPRefused(-32_601, "In this protocol revision a server asks in its result, not by a request."),
        ),
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
      return yield* ask(connection, it, Object.keys(early).length === 0 ? options : { ...options, answers: early }, 0)
    const state = answered.state as unknown as Exclude<State, { readonly held: true } | { readonly anew: number }>
    if ("task" in state) {
      // Without answers it was not asked: it is found again after a restart.
      if (Object.keys(answered.answers).length > 0)
        yield* connection.exchange("tasks/update", { taskId: state.task, inputResponses: answered.answers }, options)
      return yield* follow(connection, state.task, options, state.pollMs, state.round ?? 0, it)
    }
    const again = { ...options, answers: answered.answers, ...(state.state === null ? {} : { state: state.state }) }
    return yield* ask(connection, it, again, state.round)
  })

  return { run, giveUp }
}
