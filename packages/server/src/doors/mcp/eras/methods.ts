/** The methods that both eras share, and those of only one. Each returns the text of a result, or a JSON-RPC error. */
import { IdempotencyKey } from "@stoa/contract"
import { Cause, Effect, Schema } from "effect"
import { currentCause } from "../../../store/journal/Correlation.ts"
import { faultOf } from "../../Faults.ts"
import { problemOf } from "../../Problems.ts"
import { askUntilAnswered, inputRequired, newEraLink } from "./clientLink.ts"
import { isAnswer, serverCapabilities } from "../wire/capabilities.ts"
import {
  type Asks,
  type ClientAnswers,
  type JsonObject,
  type Lacks,
  type ListPage,
  logLevels,
  type LogLevel,
  type Outcome,
} from "../desk/Desk.ts"
import { traceOf, isObject, metaOf, type Request, knowsTasks, tasksNeeded } from "../wire/message.ts"
import { codes, Fault, invalidParams } from "../wire/Fault.ts"
import {
  objectResult,
  outcomeText,
  projectBlock,
  resultText,
  taskDetail,
  taskMadeText,
  findTool,
  toolsText,
} from "../wire/results.ts"
import { featuresOf, servedRevisions } from "../wire/revision.ts"
import type { MCPRequestContext } from "./context.ts"
import { sessionLimits } from "./old/sessions.ts"

type Method = (context: MCPRequestContext, request: Request) => Effect.Effect<string, Fault>

/** An internal error is reported as over HTTP, but as JSON-RPC: the client gets an answer all the same. */
export const serveMethod = (
  method: Method,
  context: MCPRequestContext,
  request: Request,
): Effect.Effect<string, Fault> =>
  Effect.catchDefect(method(context, request), (defect) => broken(request.method, defect))

const broken = Effect.fnUntraced(function* (what: string, defect: unknown) {
  const { correlationId } = yield* currentCause
  const fault = yield* faultOf(what, Cause.die(defect), correlationId)
  return yield* fault._tag === "Internal"
    ? fail(new Fault(codes.internal, `Something in the house failed (${correlationId})`, { correlationId }))
    : fail(new Fault(codes.internal, fault.message, problemOf(fault).body))
})

/** A list belongs to its caller; listeners are told of changes, and a call is judged again in any case. */
const listTtlMs = 10_000
const discoverTtlMs = 60_000
const isKey = Schema.is(IdempotencyKey)

const fail = (fault: Fault) => Effect.fail(fault)
const cached = (context: MCPRequestContext, ttlMs: number): string =>
  featuresOf(context.revision).stateless ? `,"ttlMs":${ttlMs},"cacheScope":"private"` : ""
const finished = (context: MCPRequestContext, inner: string): string =>
  resultText(inner, context.revision, context.front.stamp)
const notServed = (method: string) => fail(new Fault(codes.methodNotFound, `Method not found: ${method}`))

const textParam = (params: JsonObject, key: string): string | undefined =>
  typeof params[key] === "string" ? params[key] : undefined

const cursorFault = (params: JsonObject): Fault | undefined =>
  params["cursor"] === undefined || typeof params["cursor"] === "string"
    ? undefined
    : invalidParams("cursor must be a string")

const toolsList: Method = (context, { params }) =>
  // Every tool is on the first page: there is no other.
  params["cursor"] === undefined
    ? Effect.succeed(
        finished(context, `"tools":${toolsText(context.view.tools, context.revision)}${cached(context, listTtlMs)}`),
      )
    : fail(invalidParams("No such cursor"))

const toolsCall: Method = (context, request) => {
  const { params } = request
  const name = textParam(params, "name")
  if (name === undefined) return fail(invalidParams("name must be the name of a tool"))
  const given = params["arguments"] ?? {}
  if (!isObject(given)) return fail(invalidParams("arguments must be an object"))
  const tool = findTool(context.view.tools, name)
  const meta = metaOf(params)
  const odd = ["stoa/idempotencyKey", "stoa/space"].find(
    (own) => meta[own] !== undefined && typeof meta[own] !== "string",
  )
  if (odd !== undefined) return fail(invalidParams(`_meta["${odd}"] must be a string`))
  const key = textParam(meta, "stoa/idempotencyKey")
  if (key !== undefined && !isKey(key)) return fail(invalidParams("stoa/idempotencyKey must have 1 to 200 characters"))
  const tasksExist = featuresOf(context.revision).stateless
  const mayBeTask = tasksExist && context.view.tasks !== undefined && knowsTasks(context.capabilities)
  const use = {
    name,
    arguments: given,
    space: textParam(meta, "stoa/space"),
    idempotencyKey: key,
    trace: traceOf(meta),
    mayBeTask,
    tasksExist,
  }
  const render = (outcome: Exclude<Outcome, Asks | Lacks>): string =>
    mayBeTask && (outcome._tag === "Waiting" || outcome._tag === "Running") && outcome.task !== undefined
      ? taskMadeText(outcome.task, context.front.stamp)
      : outcomeText(outcome, tool, context.revision, context.front.stamp)
  // An old client may be asked on its stream, as often as the tool wants; a new one repeats its request itself.
  if (!tasksExist) return askUntilAnswered(context, request, (link) => context.view.call(use, link), render)
  const called = Effect.flatMap(newEraLink(context, request), (link) => context.view.call(use, link))
  return Effect.flatMap(called, (outcome) =>
    outcome._tag === "Asks" || outcome._tag === "Lacks"
      ? inputRequired(context, request, outcome)
      : Effect.succeed(render(outcome)),
  )
}

/** Items of a list, without the fields that the revision does not have. */
const projectItem = (item: JsonObject, context: MCPRequestContext): JsonObject => {
  const { icons, structured } = featuresOf(context.revision)
  if (icons) return item
  const { _meta, icons: _icons, title, ...rest } = item
  return structured
    ? { ...rest, ...(title === undefined ? {} : { title }), ...(_meta === undefined ? {} : { _meta }) }
    : rest
}

const listing =
  (
    key: string,
    list: (context: MCPRequestContext, cursor: string | undefined) => Effect.Effect<ListPage, Fault> | undefined,
  ): Method =>
  (context, { method, params }) => {
    const fault = cursorFault(params)
    if (fault !== undefined) return fail(fault)
    const listed =
      list(context, textParam(params, "cursor")) ??
      (context.place.listsNothing === true ? Effect.succeed<ListPage>({ items: [] }) : undefined)
    if (listed === undefined) return notServed(method)
    return Effect.map(listed, ({ items, next }) => {
      const page = JSON.stringify(items.map((it) => projectItem(it, context)))
      const more = next === undefined ? "" : `,"nextCursor":${JSON.stringify(next)}`
      return finished(context, `"${key}":${page}${more}${cached(context, listTtlMs)}`)
    })
  }

/** -32002 in old revisions, -32602 in the new one; never an empty list of contents. */
const noResource = (context: MCPRequestContext, uri: string): Fault =>
  new Fault(
    featuresOf(context.revision).stateless ? codes.invalidParams : codes.resourceMissing,
    `There is no resource ${uri}`,
    { uri },
  )

const resourcesRead: Method = (context, request) => {
  const uri = textParam(request.params, "uri")
  if (context.view.resources === undefined) return notServed(request.method)
  if (uri === undefined) return fail(invalidParams("uri must be the address of a resource"))
  const { read } = context.view.resources
  return askUntilAnswered(
    context,
    request,
    (link) =>
      Effect.filterOrFail(
        read(uri, link),
        (it) => it !== undefined,
        () => noResource(context, uri),
      ),
    ({ result }) => {
      const text = objectResult(result, context.revision, context.front.stamp)
      return `${text.slice(0, -1)}${cached(context, 0)}}`
    },
  )
}

const promptsGet: Method = (context, request) => {
  const { params } = request
  const { prompts } = context.view
  if (prompts === undefined) return notServed(request.method)
  const name = textParam(params, "name")
  const given = params["arguments"] ?? {}
  if (name === undefined) return fail(invalidParams("name must be the name of a prompt"))
  if (!isObject(given)) return fail(invalidParams("arguments must be an object"))
  return askUntilAnswered(
    context,
    request,
    (link) => prompts.get(name, given, link),
    ({ result }) => {
      const messages = (Array.isArray(result["messages"]) ? result["messages"] : []).map((it: JsonObject) =>
        isObject(it["content"]) ? { ...it, content: projectBlock(it["content"], context.revision) } : it,
      )
      return objectResult({ ...result, messages }, context.revision, context.front.stamp)
    },
  )
}

const complete: Method = (context, { method, params }) => {
  if (context.view.complete === undefined) return notServed(method)
  const { argument, ref } = params
  if (!isObject(ref) || !isObject(argument) || typeof argument["name"] !== "string")
    return fail(invalidParams("ref and argument say what to complete"))
  return Effect.map(context.view.complete(params), (result) =>
    objectResult(result, context.revision, context.front.stamp),
  )
}

const discover: Method = (context) => {
  const { instructions } = context.view
  const inner = JSON.stringify({
    supportedVersions: servedRevisions,
    capabilities: serverCapabilities(context.view, context.revision),
    ...(instructions === undefined ? {} : { instructions }),
  }).slice(1, -1)
  return Effect.succeed(finished(context, inner + cached(context, discoverTtlMs)))
}

/** Checks that the client supports tasks before it reveals anything about the task. */
const ofTask =
  (
    act: (context: MCPRequestContext, id: string, params: JsonObject) => Effect.Effect<string | undefined, Fault>,
  ): Method =>
  (context, { method, params }) => {
    if (context.view.tasks === undefined) return notServed(method)
    if (!knowsTasks(context.capabilities))
      return fail(
        new Fault(codes.missingCapability, "Tasks need the tasks extension", { requiredCapabilities: tasksNeeded }),
      )
    const id = textParam(params, "taskId")
    if (id === undefined) return fail(invalidParams("taskId must be the id of a task"))
    return Effect.filterOrFail(
      act(context, id, params),
      (text) => text !== undefined,
      () => invalidParams(`There is no task ${id}`),
    )
  }

const done = (context: MCPRequestContext) => (found: boolean) => (found ? finished(context, "") : undefined)

const tasksGet = ofTask((context, id) =>
  Effect.map(context.view.tasks!.get(id), (task) =>
    task === undefined
      ? undefined
      : finished(context, JSON.stringify(taskDetail(task, context.revision, context.front.stamp)).slice(1, -1)),
  ),
)
const tasksUpdate = ofTask((context, id, params) => {
  const { inputResponses } = params
  if (!isObject(inputResponses)) return fail(invalidParams("inputResponses must be an object"))
  const answers = Object.fromEntries(Object.entries(inputResponses).filter(([, it]) => isAnswer(it))) as ClientAnswers
  return Effect.map(context.view.tasks!.update(id, answers), done(context))
})
const tasksCancel = ofTask((context, id) => Effect.map(context.view.tasks!.cancel(id), done(context)))

const setLevel: Method = (context, { method, params }) => {
  if (!context.view.logs) return notServed(method)
  const { level } = params
  if (!(logLevels as ReadonlyArray<unknown>).includes(level))
    return fail(invalidParams(`level must be one of ${logLevels.join(", ")}`))
  if (context.session !== undefined) context.session.logLevel = level as LogLevel
  return Effect.succeed("{}")
}

const subscribing =
  (act: (context: MCPRequestContext, uri: string) => Effect.Effect<void, Fault>): Method =>
  (context, { method, params }) => {
    if (context.view.resources?.subscribable !== true) return notServed(method)
    const uri = textParam(params, "uri")
    if (uri === undefined || uri === "") return fail(invalidParams("uri must be the address of a resource"))
    return Effect.as(act(context, uri), "{}")
  }
const { longestUri, maxUris } = sessionLimits
const full = fail(invalidParams(`This session has ${maxUris} subscriptions; end one of them first`))
const subscribe = subscribing((context, uri) => {
  if (uri.length > longestUri) return fail(invalidParams(`uri has more than ${longestUri} characters`))
  // Asked before it is recorded, and again after it: other requests of the session may have come between.
  if (context.session?.hasRoomFor(uri) === false) return full
  return Effect.flatMap(context.view.resources!.subscribe(uri), (is) => {
    if (!is) return fail(noResource(context, uri))
    return context.session?.subscribe(uri) === false ? full : Effect.void
  })
})
const unsubscribe = subscribing((context, uri) => Effect.sync(() => context.session?.unsubscribe(uri)))

const shared: ReadonlyArray<readonly [string, Method]> = [
  ["tools/list", toolsList],
  ["tools/call", toolsCall],
  ["resources/list", listing("resources", (context, cursor) => context.view.resources?.list(cursor))],
  [
    "resources/templates/list",
    listing("resourceTemplates", (context, cursor) => context.view.resources?.templates(cursor)),
  ],
  ["resources/read", resourcesRead],
  ["prompts/list", listing("prompts", (context, cursor) => context.view.prompts?.list(cursor))],
  ["prompts/get", promptsGet],
  ["completion/complete", complete],
]

export const newMethods: ReadonlyMap<string, Method> = new Map([
  ...shared,
  ["server/discover", discover],
  ["tasks/get", tasksGet],
  ["tasks/update", tasksUpdate],
  ["tasks/cancel", tasksCancel],
])

export const oldMethods: ReadonlyMap<string, Method> = new Map([
  ...shared,
  ["ping", () => Effect.succeed("{}")],
  ["logging/setLevel", setLevel],
  ["resources/subscribe", subscribe],
  ["resources/unsubscribe", unsubscribe],
])
