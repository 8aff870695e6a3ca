/** Clients that listen for changes: `subscriptions/listen` of a new client, the open GET stream of an old one. */
import { Effect } from "effect"
import type { Change, ChangeWatch, Interest, JsonObject } from "../desk/Desk.ts"
import { metaKeys, isObject, type Request, knowsTasks, tasksNeeded } from "../wire/message.ts"
import { codes, Fault, invalidParams } from "../wire/Fault.ts"
import type { OpenStream, OpenStreams } from "../wire/openStreams.ts"
import { notificationText, type Stamp, taskDetail, responseText } from "../wire/results.ts"
import { newRevision } from "../wire/revision.ts"
import { type Session, sessionLimits } from "./old/sessions.ts"
import type { MCPRequestContext } from "./context.ts"

const listed = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const

/** A change as its notification. */
const changeText = (change: Change, meta: JsonObject, stamp: Stamp): string => {
  const tag = Object.keys(meta).length === 0 ? {} : { _meta: meta }
  switch (change.kind) {
    case "resource":
      return notificationText("notifications/resources/updated", { uri: change.uri, ...tag })
    case "task":
      return notificationText("notifications/tasks", { ...taskDetail(change.task, newRevision, stamp), ...tag })
    default:
      return notificationText(listed[change.kind], tag)
  }
}

const { longestUri, maxUris } = sessionLimits
const strings = (value: unknown): ReadonlyArray<string> | undefined =>
  value === undefined
    ? []
    : Array.isArray(value) &&
        value.length <= maxUris &&
        value.every((it) => typeof it === "string" && it.length <= longestUri)
      ? value
      : undefined

const interestOf = (filter: unknown): Interest | Fault => {
  if (!isObject(filter)) return invalidParams("notifications says what to listen for")
  const uris = strings(filter["resourceSubscriptions"])
  const tasks = strings(filter["taskIds"])
  if (uris === undefined || tasks === undefined)
    return invalidParams(
      `resourceSubscriptions and taskIds are lists of at most ${maxUris} strings of at most ${longestUri} characters`,
    )
  return {
    tools: filter["toolsListChanged"] === true,
    prompts: filter["promptsListChanged"] === true,
    resources: filter["resourcesListChanged"] === true,
    uris,
    tasks,
  }
}

const filterOf = ({ prompts, resources, tasks, tools, uris }: Interest): JsonObject => ({
  ...(tools ? { toolsListChanged: true } : {}),
  ...(prompts ? { promptsListChanged: true } : {}),
  ...(resources ? { resourcesListChanged: true } : {}),
  ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  ...(tasks.length === 0 ? {} : { taskIds: tasks }),
})

/** Where a stream is written to. */
export interface Outlet {
  readonly write: (text: string) => void
  readonly beat: () => void
  readonly end: () => void
  readonly onClose: (heard: () => void) => void
}

/** Of these addresses, those that the client may subscribe to. The others are left out of the acknowledgement. */
const subscribed = ({ view }: MCPRequestContext, uris: ReadonlyArray<string>) =>
  Effect.filter(
    [...new Set(uris)],
    (uri) => Effect.orElseSucceed(view.resources?.subscribe(uri) ?? Effect.succeed(false), () => false),
    { concurrency: "unbounded" },
  )

/** Starts to listen. The outlet is requested only when nothing can be refused any more. */
export const listen = Effect.fnUntraced(function* (
  context: MCPRequestContext,
  { id, params }: Request,
  streams: OpenStreams,
  outlet: () => Outlet,
) {
  const interest = interestOf(params["notifications"])
  if (interest instanceof Fault) return yield* Effect.fail(interest)
  if (params["notifications"] !== undefined && interest.tasks.length > 0 && !knowsTasks(context.capabilities))
    return yield* Effect.fail(
      new Fault(codes.missingCapability, "Tasks need the tasks extension", { requiredCapabilities: tasksNeeded }),
    )
  const { stamp } = context.front
  const meta = { [metaKeys.subscription]: id }
  // Changes before the acknowledgement are sent after it.
  const early: Array<Change> = []
  let tell = (change: Change): void => {
    early.push(change)
  }
  const uris = yield* subscribed(context, interest.uris)
  const watch = yield* context.view.watch({ ...interest, uris }, (change) => tell(change))
  const out = outlet()
  out.write(
    notificationText("notifications/subscriptions/acknowledged", {
      _meta: meta,
      notifications: filterOf(watch.honoured),
    }),
  )
  tell = (change) => out.write(changeText(change, meta, stamp))
  for (const change of early) tell(change)
  const stream: OpenStream = {
    caller: context.caller,
    beat: out.beat,
    end: () => {
      watch.stop()
      const last = { resultType: "complete", _meta: { ...meta, [metaKeys.server]: stamp.info } }
      out.write(responseText(id, JSON.stringify(last)))
      out.end()
    },
  }
  // If nothing is supported, the answer comes at once.
  if (Object.keys(filterOf(watch.honoured)).length === 0) {
    stream.end()
    return
  }
  streams.add(stream)
  out.onClose(() => {
    watch.stop()
    streams.remove(stream)
  })
})

/** The standing stream of a session. A second one replaces the first. */
export const openSessionStream = Effect.fnUntraced(function* (
  context: MCPRequestContext,
  session: Session,
  streams: OpenStreams,
  out: Outlet,
) {
  session.hangUp?.()
  const { stamp } = context.front
  let watch: ChangeWatch | undefined
  let open = true
  const interest = (): Interest => ({ tools: true, prompts: true, resources: true, uris: session.uris, tasks: [] })
  const rewatch = Effect.suspend(() =>
    context.view.watch(interest(), (change) => out.write(changeText(change, {}, stamp))),
  ).pipe(
    Effect.tap((next) =>
      Effect.sync(() => {
        watch?.stop()
        watch = next
        if (!open) next.stop()
      }),
    ),
  )
  const services = yield* Effect.context<never>()
  const stream: OpenStream = {
    caller: context.caller,
    beat: out.beat,
    end: () => {
      open = false
      watch?.stop()
      if (session.hangUp === hangUp) session.hangUp = session.interestChanged = undefined
      out.end()
    },
  }
  const hangUp = () => {
    streams.remove(stream)
    stream.end()
  }
  session.hangUp = hangUp
  session.interestChanged = () => void Effect.runForkWith(services)(rewatch)
  out.onClose(hangUp)
  streams.add(stream)
  yield* rewatch
})
