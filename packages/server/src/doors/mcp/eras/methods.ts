/** The methods that both eras share, and those of only one. Each returns the text of a result, or a JSON-RPC error. */
import { IdempotencyKey } from "@stoa/contract"
import { Cause, Effect, Schema } from "effect"
import { currentCause } from "../../../store/journal/Correlation.ts"
import { faultOf } from "../../Faults.ts"
import { problemOf } from "../../Problems.ts"
import { asked, inputRequired, lineAnew } from "./asking.ts"
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
import type { McpContext } from "./context.ts"

type Method = (talk: McpContext, request: Request) => Effect.Effect<string, Fault>

/** What broke is told as over HTTP, in JSON-RPC's words: the client gets an answer all the same. */
export const served = (method: Method, talk: McpContext, request: Request): Effect.Effect<string, Fault> =>
  Effect.catchDefect(method(talk, request), (defect) => broken(request.method, defect))

const broken = Effect.fnUntraced(function* (what: string, defect: unknown) {
  const { correlationId } = yield* currentCause
  const fault = yield* faultOf(what, Cause.die(defect), correlationId)
  return yield* fault._tag === "Internal"
    ? fail(new Fault(codes.internal, `Something in the house failed (${correlationId})`, { correlationId }))
    : fail(new Fault(codes.internal, fault.message, problemOf(fault).body))
})

/** A list is the caller's own; a change is told to whoever listens, and a call is judged anew in any case. */
const listTtlMs = 10_000
const discoverTtlMs = 60_000
const isKey = Schema.is(IdempotencyKey)

const fail = (fault: Fault) => Effect.fail(fault)
const cached = (talk: McpContext, ttlMs: number): string =>
  featuresOf(talk.revision).stateless ? `,"ttlMs":${ttlMs},"cacheScope":"private"` : ""
const finished = (talk: McpContext, inner: string): string => resultText(inner, talk.revision, talk.front.stamp)
const notServed = (method: string) => fail(new Fault(codes.methodNotFound, `Method not found: ${method}`))

const textParam = (params: JsonObject, key: string): string | undefined =>
  typeof params[key] === "string" ? params[key] : undefined

const cursorFault = (params: JsonObject): Fault | undefined =>
  params["cursor"] === undefined || typeof params["cursor"] === "string"
    ? undefined
    : invalidParams("cursor is a string")

const toolsList: Method = (talk, { params }) =>
  // Every tool is on the first page: there is no other.
  params["cursor"] === undefined
    ? Effect.succeed(finished(talk, `"tools":${toolsText(talk.face.tools, talk.revision)}${cached(talk, listTtlMs)}`))
    : fail(invalidParams("No such cursor"))

const toolsCall: Method = (talk, request) => {
  const { params } = request
  const name = textParam(params, "name")
  if (name === undefined) return fail(invalidParams("name is the name of a tool"))
  const given = params["arguments"] ?? {}
  if (!isObject(given)) return fail(invalidParams("arguments is an object"))
  const tool = findTool(talk.face.tools, name)
  const meta = metaOf(params)
  const odd = ["stoa/idempotencyKey", "stoa/space"].find(
    (own) => meta[own] !== undefined && typeof meta[own] !== "string",
  )
  if (odd !== undefined) return fail(invalidParams(`_meta["${odd}"] is a string`))
  const key = textParam(meta, "stoa/idempotencyKey")
  if (key !== undefined && !isKey(key)) return fail(invalidParams("stoa/idempotencyKey has 1 to 200 characters"))
  const tasksExist = featuresOf(talk.revision).stateless
  const mayBeTask = tasksExist && talk.face.tasks !== undefined && knowsTasks(talk.capabilities)
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
      ? taskMadeText(outcome.task, talk.front.stamp)
      : outcomeText(outcome, tool, talk.revision, talk.front.stamp)
  // An old client may be asked on its stream, as often as the tool wants; a new one asks again itself.
  if (!tasksExist) return asked(talk, request, (line) => talk.face.call(use, line), render)
  const line = lineAnew(talk, request)
  if (line instanceof Fault) return fail(line)
  return Effect.flatMap(talk.face.call(use, line), (outcome) =>
    outcome._tag === "Asks" || outcome._tag === "Lacks"
      ? inputRequired(talk, request, outcome)
      : Effect.succeed(render(outcome)),
  )
}

/** Things of a list without what the revision does not know. */
const projectItem = (item: JsonObject, talk: McpContext): JsonObject => {
  const { icons, structured } = featuresOf(talk.revision)
  if (icons) return item
  const { _meta, icons: _icons, title, ...rest } = item
  return structured
    ? { ...rest, ...(title === undefined ? {} : { title }), ...(_meta === undefined ? {} : { _meta }) }
    : rest
}

const listing =
  (
    key: string,
    list: (talk: McpContext, cursor: string | undefined) => Effect.Effect<ListPage, Fault> | undefined,
  ): Method =>
  (talk, { method, params }) => {
    const fault = cursorFault(params)
    if (fault !== undefined) return fail(fault)
    const listed = list(talk, textParam(params, "cursor"))
    if (listed === undefined) return notServed(method)
    return Effect.map(listed, ({ items, next }) => {
      const page = JSON.stringify(items.map((it) => projectItem(it, talk)))
      const more = next === undefined ? "" : `,"nextCursor":${JSON.stringify(next)}`
      return finished(talk, `"${key}":${page}${more}${cached(talk, listTtlMs)}`)
    })
  }

/** -32002 in old revisions, -32602 in the new one; never an empty list of contents. */
const noResource = (talk: McpContext, uri: string): Fault =>
  new Fault(
    featuresOf(talk.revision).stateless ? codes.invalidParams : codes.resourceMissing,
    `There is no resource ${uri}`,
    { uri },
  )

const resourcesRead: Method = (talk, request) => {
  const uri = textParam(request.params, "uri")
  if (talk.face.resources === undefined) return notServed(request.method)
  if (uri === undefined) return fail(invalidParams("uri is the address of a resource"))
  const { read } = talk.face.resources
  return asked(
    talk,
    request,
    (line) =>
      Effect.filterOrFail(
        read(uri, line),
        (it) => it !== undefined,
        () => noResource(talk, uri),
      ),
    ({ result }) => {
      const text = objectResult(result, talk.revision, talk.front.stamp)
      return `${text.slice(0, -1)}${cached(talk, 0)}}`
    },
  )
}

const promptsGet: Method = (talk, request) => {
  const { params } = request
  const { prompts } = talk.face
  if (prompts === undefined) return notServed(request.method)
  const name = textParam(params, "name")
  const given = params["arguments"] ?? {}
  if (name === undefined) return fail(invalidParams("name is the name of a prompt"))
  if (!isObject(given)) return fail(invalidParams("arguments is an object"))
  return asked(
    talk,
    request,
    (line) => prompts.get(name, given, line),
    ({ result }) => {
      const messages = (Array.isArray(result["messages"]) ? result["messages"] : []).map((it: JsonObject) =>
        isObject(it["content"]) ? { ...it, content: projectBlock(it["content"], talk.revision) } : it,
      )
      return objectResult({ ...result, messages }, talk.revision, talk.front.stamp)
    },
  )
}

const complete: Method = (talk, { method, params }) => {
  if (talk.face.complete === undefined) return notServed(method)
  const { argument, ref } = params
  if (!isObject(ref) || !isObject(argument) || typeof argument["name"] !== "string")
    return fail(invalidParams("ref and argument say what to complete"))
  return Effect.map(talk.face.complete(params), (result) => objectResult(result, talk.revision, talk.front.stamp))
}

const discover: Method = (talk) => {
  const { instructions } = talk.face
  const inner = JSON.stringify({
    supportedVersions: servedRevisions,
    capabilities: serverCapabilities(talk.face, talk.revision),
    ...(instructions === undefined ? {} : { instructions }),
  }).slice(1, -1)
  return Effect.succeed(finished(talk, inner + cached(talk, discoverTtlMs)))
}

/** Asked of a client that knows tasks, before anything about the task is said. */
const ofTask =
  (act: (talk: McpContext, id: string, params: JsonObject) => Effect.Effect<string | undefined, Fault>): Method =>
  (talk, { method, params }) => {
    if (talk.face.tasks === undefined) return notServed(method)
    if (!knowsTasks(talk.capabilities))
      return fail(
        new Fault(codes.missingCapability, "Tasks need the tasks extension", { requiredCapabilities: tasksNeeded }),
      )
    const id = textParam(params, "taskId")
    if (id === undefined) return fail(invalidParams("taskId is the id of a task"))
    return Effect.filterOrFail(
      act(talk, id, params),
      (text) => text !== undefined,
      () => invalidParams(`There is no task ${id}`),
    )
  }

const done = (talk: McpContext) => (found: boolean) => (found ? finished(talk, "") : undefined)

const tasksGet = ofTask((talk, id) =>
  Effect.map(talk.face.tasks!.get(id), (task) =>
    task === undefined
      ? undefined
      : finished(talk, JSON.stringify(taskDetail(task, talk.revision, talk.front.stamp)).slice(1, -1)),
  ),
)
const tasksUpdate = ofTask((talk, id, params) => {
  const { inputResponses } = params
  if (!isObject(inputResponses)) return fail(invalidParams("inputResponses is an object"))
  const answers = Object.fromEntries(Object.entries(inputResponses).filter(([, it]) => isAnswer(it))) as ClientAnswers
  return Effect.map(talk.face.tasks!.update(id, answers), done(talk))
})
const tasksCancel = ofTask((talk, id) => Effect.map(talk.face.tasks!.cancel(id), done(talk)))

const setLevel: Method = (talk, { method, params }) => {
  if (!talk.face.logs) return notServed(method)
  const { level } = params
  if (!(logLevels as ReadonlyArray<unknown>).includes(level))
    return fail(invalidParams(`level is one of ${logLevels.join(", ")}`))
  if (talk.session !== undefined) talk.session.logLevel = level as LogLevel
  return Effect.succeed("{}")
}

const subscribing =
  (act: (talk: McpContext, uri: string) => Effect.Effect<void, Fault>): Method =>
  (talk, { method, params }) => {
    if (talk.face.resources?.subscribable !== true) return notServed(method)
    const uri = textParam(params, "uri")
    if (uri === undefined || uri === "") return fail(invalidParams("uri is the address of a resource"))
    return Effect.as(act(talk, uri), "{}")
  }
const subscribe = subscribing((talk, uri) =>
  Effect.flatMap(talk.face.resources!.watchable(uri), (is) =>
    is ? Effect.sync(() => talk.session?.subscribe(uri)) : fail(noResource(talk, uri)),
  ),
)
const unsubscribe = subscribing((talk, uri) => Effect.sync(() => talk.session?.unsubscribe(uri)))

const shared: ReadonlyArray<readonly [string, Method]> = [
  ["tools/list", toolsList],
  ["tools/call", toolsCall],
  ["resources/list", listing("resources", (talk, cursor) => talk.face.resources?.list(cursor))],
  ["resources/templates/list", listing("resourceTemplates", (talk, cursor) => talk.face.resources?.templates(cursor))],
  ["resources/read", resourcesRead],
  ["prompts/list", listing("prompts", (talk, cursor) => talk.face.prompts?.list(cursor))],
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
