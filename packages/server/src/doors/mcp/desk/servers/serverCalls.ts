/**
 * Calls of MCP servers' tools for a client: the server's notifications reach the client, its questions become questions
 * to the client, and its result is passed on unchanged.
 */
import { type CallId, type Caller, type FileId, serverOfTool } from "@stoa/contract"
import { Deferred, Effect } from "effect"
import { ownViewer } from "../../../../access/rights/Viewer.ts"
import { type CallRequest, type CallRow, Calls } from "../../../../calls/Calls.ts"
import { CallNews } from "../../../../calls/waiting/CallNews.ts"
import { isMCPResult, mcpFailure } from "../../../../calls/road/MCPNotes.ts"
import { newId } from "../../../../store/journal/Correlation.ts"
import { Files } from "../../../../store/Files.ts"
import type { CallingClient } from "../../../../servers/InputRequired.ts"
import { outcomeOf, taskOf } from "../callOutcome.ts"
import { missingFor } from "../../wire/capabilities.ts"
import type {
  Asks,
  ClientRequests,
  Endpoint,
  EndpointView,
  JsonObject,
  ClientLink,
  LogLevel,
  Outcome,
  Task,
  ToolUse,
} from "../Desk.ts"
import { codes, Fault, invalidParams } from "../../wire/Fault.ts"
import { isObject } from "../../wire/message.ts"
import { newRevision, type Revision } from "../../wire/revision.ts"
import { questionsOutward } from "./foreignQuestions.ts"
import { namesOf, ownNames, resultOutward } from "./names.ts"

type Settled = Extract<Outcome, { readonly _tag: "Done" | "Content" | "Failed" }>

/** A client that supports tasks gets one for anything that takes longer. */
const patienceMs = 750

const textIn = (state: unknown, key: "call" | "asked"): string | undefined =>
  isObject(state) && typeof state[key] === "string" ? state[key] : undefined

type OpenQuestions = NonNullable<Effect.Success<ReturnType<Calls["Service"]["asks"]>>>

/** The questions that this client can be asked. */
const askable = (questions: ClientRequests, capabilities: JsonObject, revision: Revision): ClientRequests =>
  Object.fromEntries(
    Object.entries(questions).filter(
      ([, one]) => missingFor(capabilities, { _tag: "Asks", requests: { one } }, revision) === undefined,
    ),
  )

/** A refusal by the server, in the protocol's own form. */
const faultIn = (said: JsonObject | undefined): Fault | undefined =>
  said !== undefined && typeof said["code"] === "number"
    ? new Fault(said["code"], String(said["message"]), said["data"])
    : undefined

export const makeServerCalls = Effect.gen(function* () {
  const news = yield* CallNews
  const calls = yield* Calls
  const files = yield* Files

  const namingOf = (endpoint: Endpoint, { tool }: CallRow) => {
    const server = serverOfTool(tool)
    return endpoint.kind === "server" || server === undefined ? ownNames : namesOf(server)
  }

  const questionsFor = (endpoint: Endpoint, { tool }: CallRow, requests: ClientRequests): ClientRequests =>
    questionsOutward(endpoint.kind === "server" ? undefined : serverOfTool(tool), requests)

  const outputOf = Effect.fnUntraced(function* (row: CallRow) {
    if (row.outputFile === null) return JSON.parse(row.output ?? "null") as unknown
    const { bytes } = yield* Effect.orDie(files.get(row.outputFile as FileId))
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown
  })

  /** The server's complete result, even if it is stored as a file; otherwise the house's own error. */
  const settled = Effect.fnUntraced(function* (row: CallRow, endpoint: Endpoint) {
    const failure = mcpFailure(row)
    // A result that the tool called good, but that violates its schema, is a failure in the house's words.
    const result = isMCPResult(row) ? yield* outputOf(row) : failure?.["isError"] === true ? failure : undefined
    return isObject(result) && Array.isArray(result["content"])
      ? ({ _tag: "Content", result: resultOutward(result, namingOf(endpoint, row)) } satisfies Outcome)
      : (outcomeOf(row) as Settled)
  })

  const askedOf = ({ id, state }: CallRow) =>
    state === "waiting" ? calls.asks(id) : Effect.succeed<OpenQuestions | undefined>(undefined)

  const taskFor = Effect.fnUntraced(function* (row: CallRow, endpoint: Endpoint) {
    const task = taskOf(row)
    if (task.status === "completed") {
      const fault = faultIn(mcpFailure(row))
      const { outcome: _, ...rest } = task
      return fault === undefined
        ? ({ ...rest, outcome: yield* settled(row, endpoint) } satisfies Task)
        : ({ ...rest, status: "failed", fault } satisfies Task)
    }
    const asked = yield* askedOf(row)
    if (asked === undefined || asked.client === null) return task
    const requests = questionsFor(endpoint, row, askable(asked.open, asked.client, newRevision))
    if (Object.keys(requests).length === 0) return task
    // This client can answer, even if nobody else may.
    const { note: _note, ...answerable } = row
    return { ...taskOf(answerable), status: "input_required", requests } satisfies Task
  })

  /** Questions to the client. People may answer them too; the first answer counts. */
  const asks = (
    caller: Caller["Service"],
    row: CallRow,
    { question }: OpenQuestions,
    requests: ClientRequests,
  ): Asks => {
    const over = Effect.gen(function* () {
      const now = yield* Effect.orDie(calls.get(row.id, ownViewer(caller.principal)))
      const still = yield* askedOf(now)
      const isOver =
        still === undefined || still.question !== question || Object.keys(requests).some((key) => !still.open[key])
      return isOver ? true : undefined
    })
    return {
      _tag: "Asks",
      requests,
      state: { call: row.id, asked: question },
      until: Effect.asVoid(news.until(row.id, over)),
      dropped: calls.giveUp(row.id, caller),
    }
  }

  const outcomeFor = Effect.fnUntraced(function* (
    caller: Caller["Service"],
    row: CallRow,
    endpoint: Endpoint,
    use: ToolUse,
    link: ClientLink,
  ) {
    if (row.state === "waiting") {
      const asked = yield* askedOf(row)
      const task = use.mayBeTask ? { task: yield* taskFor(row, endpoint) } : {}
      const requests = asked === undefined ? {} : askable(asked.open, link.capabilities, link.revision)
      // If its tool made a task of it, it is a task for the client too, if the client supports tasks.
      const parked = asked !== undefined && asked.isTask
      if (asked !== undefined && Object.keys(requests).length > 0 && !(use.mayBeTask && parked))
        return asks(caller, row, asked, questionsFor(endpoint, row, requests))
      return { ...outcomeOf(row), ...task }
    }
    if (row.state === "running") return { ...outcomeOf(row), task: yield* taskFor(row, endpoint) } as Outcome
    const fault = faultIn(mcpFailure(row))
    const lacking = isObject(fault?.data) ? fault.data["requiredCapabilities"] : undefined
    if (fault?.code === codes.missingCapability && isObject(lacking))
      return { _tag: "Lacks", capabilities: lacking } satisfies Outcome
    // A server's refusal may help the model to call it better; a toolset's is meant for the client.
    if (fault !== undefined && serverOfTool(row.tool) === undefined) return yield* Effect.fail(fault)
    return yield* settled(row, endpoint)
  })

  /** A first call, or one that continues with its client's answers. */
  const through = (
    caller: Caller["Service"],
    endpoint: Endpoint,
    use: ToolUse,
    link: ClientLink,
    request: CallRequest,
  ) =>
    Effect.suspend(() => {
      const { principal } = caller
      const before = textIn(link.state, "call")
      // Chosen before the call starts, so that it can be read before it answers.
      const id = (before ?? newId("call")) as CallId
      const letGo = Deferred.makeUnsafe<void>()
      const client: CallingClient = {
        capabilities: link.capabilities,
        logLevel: link.logLevel,
        answers: before === undefined ? link.answers : {},
        log: (entry) => link.log({ ...entry, level: entry.level as LogLevel }),
        knowsNoTasks: !use.tasksExist,
        trace: use.trace,
        letGo: (retryMs) => {
          if (use.mayBeTask) Deferred.doneUnsafe(letGo, Effect.void)
          else if (retryMs !== undefined) link.letGo(retryMs)
        },
      }
      const { progress, wait = 0 } = request
      let isReleased = false
      // Interrupted too when its client gets a task of it.
      const isGivenUp = () => !isReleased && request.isGivenUp?.() === true
      const called: Effect.Effect<CallRow, Effect.Error<ReturnType<Calls["Service"]["call"]>> | Fault, Caller> =
        before === undefined
          ? calls.call({ ...request, id, client, isGivenUp })
          : Effect.flatMap(calls.asks(before), (asked) => {
              const meant = asked !== undefined && asked.question === textIn(link.state, "asked")
              const now = { wait, client, isGivenUp, ...(progress === undefined ? {} : { progress }) }
              return calls.hear(before, caller, meant ? link.answers : {}, now)
            }).pipe(Effect.catchTag("Missing", () => Effect.fail(invalidParams("requestState names no call of yours"))))
      const late = use.mayBeTask ? Effect.sleep(patienceMs) : Effect.never
      // A call that is not recorded yet answers by itself.
      const released = Effect.raceFirst(Deferred.await(letGo), late).pipe(
        Effect.andThen(Effect.option(calls.get(id, ownViewer(principal)))),
        Effect.flatMap((row) => (row._tag === "Some" ? Effect.succeed(row.value) : Effect.never)),
        Effect.tap(() => Effect.sync(() => void (isReleased = true))),
      )
      return Effect.flatMap(Effect.raceFirst(called, released), (row) => outcomeFor(caller, row, endpoint, use, link))
    })

  /** A caller's tasks are its calls. A tool's questions are answered here; approvals are given elsewhere. */
  const tasks = (caller: Caller["Service"], endpoint: Endpoint): NonNullable<EndpointView["tasks"]> => {
    const { principal } = caller
    const find = (id: string) => calls.get(id, ownViewer(principal))
    return {
      get: (id) =>
        Effect.matchEffect(find(id), {
          onSuccess: (row): Effect.Effect<Task | undefined, Fault> => taskFor(row, endpoint),
          onFailure: () => Effect.succeed(undefined),
        }),
      update: (id, answers) =>
        Effect.match(calls.hear(id, caller, answers, { wait: 0 }), {
          onSuccess: () => true,
          onFailure: () => false,
        }),
      cancel: (id) =>
        calls
          .cancel(id, ownViewer(principal), `Canceled by ${principal.name}`)
          .pipe(
            Effect.as(true),
            Effect.catchTags({ Missing: () => Effect.succeed(false), WrongState: () => Effect.succeed(true) }),
          ),
    }
  }

  return { through, tasks }
})
