/**
 * The link from a call to its client (progress, log), and what a call asks of its client, in both eras. A new client gets an `input_required` result and calls again with its
 * answers; an old one is sent requests on its stream, and the call continues with its answers. Behind the desk the two
 * look the same.
 */
import { Effect } from "effect"
import { isAnswer, missingFor } from "../wire/capabilities.ts"
import {
  type Asks,
  type ClientAnswers,
  type ClientRequests,
  type JsonObject,
  type Lacks,
  type ClientLink,
  logLevels,
} from "../desk/Desk.ts"
import { codes, Fault, invalidParams, tokenEnded } from "../wire/Fault.ts"
import { type Id, isObject, metaOf, type Request } from "../wire/message.ts"
import { formFor } from "./old/oldForms.ts"
import { inputRequiredText, notificationText, outcomeText } from "../wire/results.ts"
import { featuresOf } from "../wire/revision.ts"
import type { Binding } from "./new/sealedState.ts"
import type { RpcResponse, Session } from "./old/sessions.ts"
import { ownerOf, type MCPRequestContext } from "./context.ts"

/** A tool that keeps asking is stopped. */
const maxRounds = 10
/** How long a person may think while an old client keeps its connection. What people of the house may answer too stays open after it. */
const maxWait = "10 minutes"

type Result = { readonly _tag: string }
type Ask<R extends Result> = (link: ClientLink) => Effect.Effect<R | Asks | Lacks, Fault>

/** Renders the outcome; `Asks` and `Lacks` never get here. */
type Render<R> = (result: R) => string

const lacks = (capabilities: JsonObject): Fault =>
  new Fault(codes.missingCapability, "The client has not declared a capability that this needs", {
    requiredCapabilities: capabilities,
  })

const isAsks = (it: Result): it is Asks => it._tag === "Asks"
const isLacks = (it: Result): it is Lacks => it._tag === "Lacks"

/** The request without the parts that change from one attempt to the next. */
const bindingOf = (context: MCPRequestContext, { method, params }: Request): Binding => {
  const { _meta, inputResponses: _responses, requestState: _state, task: _task, ...rest } = params
  return { principal: ownerOf(context), endpoint: context.place.key, method, params: rest }
}

const isToken = (value: unknown): value is Id => typeof value === "string" || Number.isInteger(value)

const linkOf = (context: MCPRequestContext, params: JsonObject, answers: ClientAnswers, state: unknown): ClientLink => {
  const token = metaOf(params)["progressToken"]
  const wanted = context.logLevel === undefined ? logLevels.length : logLevels.indexOf(context.logLevel)
  let last = -Infinity
  return {
    capabilities: context.capabilities,
    revision: context.revision,
    logLevel: context.logLevel,
    answers,
    state,
    letGo: context.letGo,
    ending: context.front.ending,
    progress: ({ message, progress, total }) => {
      // Progress only rises, whatever the tool says.
      if (!isToken(token) || !(progress > last)) return
      last = progress
      const said = message === undefined || !featuresOf(context.revision).progressMessage ? {} : { message }
      const step = { progressToken: token, progress, ...(total === undefined ? {} : { total }), ...said }
      context.tell(notificationText("notifications/progress", step))
    },
    log: ({ data, level, logger }) => {
      if (logLevels.indexOf(level) < wanted) return
      const entry = { level, ...(logger === undefined ? {} : { logger }), data: data ?? null }
      context.tell(notificationText("notifications/message", entry))
    },
  }
}

/** New era, before the house is asked: the client's answers, and the state that came with the question. */
export const newEraLink = (context: MCPRequestContext, request: Request): Effect.Effect<ClientLink, Fault> => {
  const { inputResponses, requestState } = request.params
  const { now, seal, takeState } = context.front
  if (inputResponses !== undefined && !isObject(inputResponses))
    return Effect.fail(invalidParams("inputResponses must be an object"))
  const given = Object.entries(inputResponses ?? {}).filter(([, it]) => isAnswer(it))
  const withState = (state: unknown) =>
    linkOf(context, request.params, Object.fromEntries(given) as ClientAnswers, state)
  if (requestState === undefined) return Effect.succeed(withState(undefined))
  const opened =
    typeof requestState === "string" ? seal.open(requestState, bindingOf(context, request), now()) : undefined
  if (opened === undefined) return Effect.fail(notTaken)
  return Effect.flatMap(takeState(opened.id, opened.until), (isFirst) =>
    isFirst ? Effect.succeed(withState(opened.state)) : Effect.fail(notTaken),
  )
}
const notTaken = invalidParams("requestState is not ours, not of this request, too old, or used before")

/** New era, if the house asks the client something: that is the answer, and the client repeats its request. */
export const inputRequired = (
  context: MCPRequestContext,
  request: Request,
  wanted: Asks | Lacks,
): Effect.Effect<string, Fault> => {
  const { now, seal, stamp } = context.front
  if (isLacks(wanted)) return Effect.fail(lacks(wanted.capabilities))
  const missing = missingFor(context.capabilities, wanted, context.revision)
  if (missing !== undefined) return Effect.fail(lacks(missing))
  const state = wanted.state === undefined ? undefined : seal.seal(wanted.state, bindingOf(context, request), now())
  return Effect.succeed(inputRequiredText(wanted.requests, state, stamp))
}

const askedAnew = <R extends Result>(context: MCPRequestContext, request: Request, ask: Ask<R>, render: Render<R>) =>
  Effect.flatMap(Effect.flatMap(newEraLink(context, request), ask), (result) =>
    isLacks(result) || isAsks(result) ? inputRequired(context, request, result) : Effect.succeed(render(result)),
  )

const textOf = (method: string, params: JsonObject, id?: string): string =>
  JSON.stringify({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method, params })

/** One question to an old client, and its answer. A client that disconnects has cancelled. */
const askClient = (context: MCPRequestContext, session: Session, { method, params }: ClientRequests[string]) =>
  Effect.callback<RpcResponse>((resume) => {
    const id = session.ask((answer) => resume(Effect.succeed(answer)))
    const url = params?.["mode"] === "url" && params["elicitationId"] === undefined ? { elicitationId: id } : {}
    const askHouse = method === "elicitation/create" ? formFor(params ?? {}, context.revision) : params
    if (!context.tell(textOf(method, { ...askHouse, ...url }, id)))
      session.hear(id, { error: "the client cannot be asked here" })
    return Effect.sync(() => {
      session.forget(id)
      context.tell(textOf("notifications/cancelled", { requestId: id, reason: "no longer needed" }))
    })
  })

/** A refusal is an answer too, except to sampling, which has no shape for it. */
const answerOf = (method: string, answer: RpcResponse): JsonObject | undefined => {
  if ("result" in answer && isAnswer(answer.result)) return answer.result
  return method === "elicitation/create" ? { action: "cancel" } : method === "roots/list" ? { roots: [] } : undefined
}

/** Old clients do not know the code: a model is told in words, anything else is an internal error. */
const oldLacks = (
  context: MCPRequestContext,
  { method }: Request,
  capabilities: JsonObject,
): Effect.Effect<string, Fault> => {
  const message = `This needs a client that declares ${JSON.stringify(capabilities)} in a revision that knows all of it`
  if (method !== "tools/call") return Effect.fail(new Fault(codes.internal, message))
  const error = { tag: "ToolExecutionError", message }
  return Effect.succeed(outcomeText({ _tag: "Failed", error }, undefined, context.revision, context.front.stamp))
}

interface Heard {
  readonly answers: ClientAnswers
  /** It took too long: the client is not asked again. */
  readonly late: boolean
}

/** The client's answers to all questions, or those it gave before somebody else answered or the time was up. */
const heardOf = (context: MCPRequestContext, session: Session, asks: Asks): Effect.Effect<Heard, Fault> => {
  const given: Record<string, JsonObject> = {}
  const one = ([key, question]: readonly [string, ClientRequests[string]]) =>
    Effect.flatMap(askClient(context, session, question), (answer) => {
      const said = answerOf(question.method, answer)
      if (said === undefined) return Effect.fail(silent)
      given[key] = said
      return Effect.void
    })
  const all = Effect.forEach(Object.entries(asks.requests), one, { concurrency: "unbounded", discard: true })
  const ended = Effect.andThen(context.ended, Effect.fail(tokenEnded))
  return Effect.raceAllFirst([all, asks.until ?? Effect.never, ended]).pipe(
    Effect.as(false),
    Effect.timeoutOrElse({
      duration: maxWait,
      orElse: () => {
        // Nobody else can answer these.
        if (asks.until === undefined)
          for (const [key, { method }] of Object.entries(asks.requests)) {
            const silence = answerOf(method, { error: "no answer in time" })
            if (silence === undefined) return Effect.fail(silent)
            given[key] ??= silence
          }
        return Effect.succeed(true)
      },
    }),
    Effect.onInterrupt(() => (context.front.ending() ? Effect.void : (asks.dropped ?? Effect.void))),
    Effect.map((late) => ({ answers: given, late })),
  )
}
const silent = new Fault(codes.internal, "The client did not answer")

const askedOnStream = <R extends Result>(
  context: MCPRequestContext,
  request: Request,
  ask: Ask<R>,
  render: Render<R>,
): Effect.Effect<string, Fault> => {
  const round = (
    context: MCPRequestContext,
    answers: ClientAnswers,
    state: unknown,
    left: number,
  ): Effect.Effect<string, Fault> =>
    Effect.flatMap(ask(linkOf(context, request.params, answers, state)), (result) => {
      if (isLacks(result)) return oldLacks(context, request, result.capabilities)
      if (!isAsks(result)) return Effect.succeed(render(result))
      const { session } = context
      const missing = missingFor(session === undefined ? {} : context.capabilities, result, context.revision)
      if (missing !== undefined) return oldLacks(context, request, missing)
      if (session === undefined || left === 0)
        return Effect.fail(new Fault(codes.internal, "The tool asked its client too often"))
      return Effect.flatMap(heardOf(context, session, result), ({ answers, late }) =>
        round(late ? { ...context, capabilities: {} } : context, answers, result.state, left - 1),
      )
    })
  return round(context, {}, undefined, maxRounds)
}

/** Asks the house, and the client as often as the house wants. */
export const askUntilAnswered = <R extends Result>(
  context: MCPRequestContext,
  request: Request,
  ask: Ask<R>,
  render: Render<Exclude<R, Asks | Lacks>>,
): Effect.Effect<string, Fault> =>
  (featuresOf(context.revision).stateless ? askedAnew : askedOnStream)(context, request, ask, render as Render<R>)
