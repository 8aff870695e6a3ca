/**
 * Live signals: shown, never stored. They are kept here by space and by call, and removed when the real thing comes.
 */
import type { FeedEvent } from "@stoa/sdk"
import { now } from "../clock.ts"
import { makeStore } from "../store.ts"

export interface Activity {
  readonly who: string
  readonly what: "writes" | "works"
  readonly run: string | undefined
  readonly until: number
  /** The step of its run, if the user may see it. */
  readonly step?: number
  readonly tool?: string
  readonly waits?: boolean
}

/** By space: who does something there now. */
export const activities = makeStore<ReadonlyMap<string, ReadonlyArray<Activity>>>(new Map())
/** By call: its input so far. */
export const inputs = makeStore<ReadonlyMap<string, string>>(new Map())

/** By principal: the program that last connected as it. */
export interface Arrival {
  readonly client: string
  readonly version: string
  readonly protocol: string
  readonly tools: number
  readonly at: string
}
export const arrivals = makeStore<ReadonlyMap<string, Arrival>>(new Map())
/** When a token was last refused, and the live log lines of each server. */
export const refusedAt = makeStore<string | undefined>(undefined)
export const serverLines = makeStore<ReadonlyMap<string, ReadonlyArray<string>>>(new Map())

/** By run: the model's output in the present step. */
export const streamedTexts = makeStore<ReadonlyMap<string, { readonly step: number; readonly text: string }>>(new Map())

/** How many events have come: for screens that depend on any event. */
export const eventCount = makeStore(0)

const maxLines = 200
const maxSaid = 64_000
const typingLasts = 6000
const longestRun = 60 * 60_000
const maxInputs = 200

const change = (space: string, of: (list: ReadonlyArray<Activity>) => ReadonlyArray<Activity>) =>
  activities.set((old) => new Map(old).set(space, of(old.get(space) ?? [])))

const begin = (space: string, one: Activity) =>
  change(space, (list) => [...list.filter(({ what, who }) => who !== one.who || what !== one.what), one])
const end = (space: string, who: string, what?: Activity["what"]) => {
  if (
    activities
      .get()
      .get(space)
      ?.some((one) => one.who === who) !== true
  )
    return
  change(space, (list) => list.filter((one) => one.who !== who || (what !== undefined && one.what !== what)))
}

/** Users who may see a run see more than that it is running. */
const onRun = (run: string, of: (one: Activity) => Activity): void => {
  for (const [space, list] of activities.get())
    if (list.some((one) => one.run === run)) change(space, (all) => all.map((one) => (one.run === run ? of(one) : one)))
}
const atWork = ({ run, until, what, who }: Activity): Activity => ({ who, what, run, until })

const takeRun = (event: FeedEvent): void => {
  if (event.kind === "call.received" && event.body.run !== undefined) {
    const { run, tool } = event.body
    onRun(run.id, (one) => ({ ...atWork(one), step: run.step, tool }))
  }
  if (event.kind === "run.stepped") onRun(event.body.run, (one) => ({ ...atWork(one), step: event.body.step }))
  if (event.kind === "run.waiting") onRun(event.body.run, (one) => ({ ...one, waits: true }))
  if (event.kind === "run.resumed") onRun(event.body.run, atWork)
}

export const takeDelta = (delta: Readonly<Record<string, unknown>>): void => {
  const { actor, body, kind, space } = delta as {
    readonly kind: string
    readonly space: string | null
    readonly actor: string | null
    readonly body: { readonly call?: unknown; readonly delta?: unknown } | null
  }
  if (kind === "typing" && space !== null && actor !== null)
    begin(space, { who: actor, what: "writes", run: undefined, until: now() + typingLasts })
  if (kind === "server.log") takeLine(body as { readonly server?: unknown; readonly text?: unknown } | null)
  if (kind === "run.text" || kind === "run.restarted") return saying(kind, delta["body"])
  if (kind !== "call.input" || typeof body?.call !== "string" || typeof body.delta !== "string") return
  const { call, delta: part } = body as { readonly call: string; readonly delta: string }
  inputs.set((old) => {
    const next = new Map(old).set(call, ((old.get(call) ?? "") + part).slice(0, 4000))
    for (const first of next.keys()) {
      if (next.size <= maxInputs) break
      next.delete(first)
    }
    return next
  })
}

const takeLine = (body: { readonly server?: unknown; readonly text?: unknown } | null) => {
  const { server, text } = body ?? {}
  if (typeof server !== "string" || typeof text !== "string") return
  serverLines.set((old) => new Map(old).set(server, [...(old.get(server) ?? []), text].slice(-maxLines)))
}
const saying = (kind: "run.text" | "run.restarted", body: unknown): void => {
  const { run, step, text = "" } = body as { readonly run: string; readonly step: number; readonly text?: string }
  streamedTexts.set((old) => {
    const known = old.get(run)
    const before = kind === "run.restarted" || known?.step !== step ? "" : known.text
    return new Map(old).set(run, { step, text: (before + text).slice(-maxSaid) })
  })
}
const silent = (run: string): void =>
  streamedTexts.set((old) => {
    if (!old.has(run)) return old
    const next = new Map(old)
    next.delete(run)
    return next
  })

/** The real event replaces its live signal. */
export const takeEvent = (event: FeedEvent): void => {
  const { space } = event
  eventCount.set((old) => old + 1)
  if (event.kind === "client.connected") {
    const { principal, ...said } = event.body
    arrivals.set((old) => new Map(old).set(principal, { ...said, at: event.at }))
  }
  if (event.kind === "access.denied" && event.body.action === "authenticate") refusedAt.set(() => event.at)
  if (event.kind === "run.stepped" || event.kind === "run.ended") silent(event.body.run)
  takeRun(event)
  if (space === null) return
  if (event.kind === "message.created") end(space, event.body.message.author.id, "writes")
  if (event.kind === "run.started")
    begin(space, { who: event.body.principal, what: "works", run: event.body.run, until: now() + longestRun })
  if (event.kind === "run.ended") end(space, event.body.principal)
}
