/**
 * Wakes agents: an atomic reader of the journal, so that its writes commit with its cursor and each event is handled
 * once, however often the house dies. In addition, `triggers` is unique by agent and source.
 */
import type { Event, EventBody, MemoryId, PrincipalId, RunId } from "@stoa/contract"
import { Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents, branchOf } from "../../access/identity/Agents.ts"
import { mayStartCall } from "../../calls/CallReads.ts"
import { Calls } from "../../calls/Calls.ts"
import { writerOf } from "../../memory/Authors.ts"
import { Memories } from "../../memory/Memories.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { makeFailedEvents } from "../../store/journal/readers/FailedEvents.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { makeAdmission } from "./admission.ts"
import { Children } from "./Children.ts"
import { Inbox, isAble } from "./Inbox.ts"
import { open } from "../record/lifecycle.ts"
import { limitsFor, profileNamed, profileNameOf } from "../profile.ts"
import { makeRunRecorder, type NewRun, type TakeSlot } from "../record/record.ts"
import { causerAfter, depthAfter, mayWake } from "./route.ts"
import type { RunRow } from "../record/rows.ts"
import { Waits, waitPurpose } from "../waiting/Waits.ts"
import { Dispatch } from "../working/Dispatch.ts"
import { inState } from "../../store/database/dialect/States.ts"

const kinds = [
  "message.created",
  "call.settled",
  "call.waiting",
  "run.ended",
  "timer.fired",
  "member.removed",
  "pause.set",
  "principal.retired",
] as const

const summaryOf = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 120)

/** What a plan's timer carries. */
interface Due {
  readonly plan: MemoryId
  readonly principal: PrincipalId
  readonly dueAt: string
  /** The run it was made in. */
  readonly run?: RunId
}
const planPurpose = "plan"
/** In batches up to this size, runs whose wait ends continue at once. */
const maxWithSlots = 16

const concerns = (event: Event): boolean => {
  switch (event.kind) {
    case "message.created":
      return event.body.message.call === null
    case "timer.fired":
      return event.body.purpose === waitPurpose || event.body.purpose === planPurpose
    case "call.settled":
      // A call recorded together with its end has blocked nothing.
      return (
        (event.body.run !== undefined && event.body.whole !== true) ||
        event.body.state === "expired" ||
        event.body.state === "canceled"
      )
    case "call.waiting":
      return event.body.on.kind === "run" || (event.body.on.kind === "reply" && event.body.run !== undefined)
    case "run.ended":
      return event.body.whole !== true
    default:
      return true
  }
}

export class Wake extends Context.Service<
  Wake,
  {
    /** The events that matter to a run. */
    readonly actsOn: (events: ReadonlyArray<Event>) => Effect.Effect<ReadonlyArray<Event>>
    readonly hear: (events: ReadonlyArray<Event>) => Effect.Effect<void, never, Transaction>
    /** Handles one event again, such as a dead letter. */
    readonly one: (event: Event) => Effect.Effect<void, never, Transaction>
  }
>()("server/runs/Wake") {}

export const layerWake = Layer.effect(
  Wake,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const agents = yield* Agents
    const record = yield* makeRunRecorder
    const waits = yield* Waits
    const inbox = yield* Inbox
    const children = yield* Children
    const memories = yield* Memories
    const calls = yield* Calls
    const dispatch = yield* Dispatch
    const handled = yield* makeFailedEvents("runs")

    const { isRefused } = yield* makeAdmission
    const cameFrom = (run: RunId | undefined) => (run === undefined ? Effect.undefined : record.byId(run))

    /**
     * A run for one agent that a message is for; null if it has no model or program, or if agents wake each other too
     * deep.
     */
    const wakeOne = Effect.fnUntraced(function* (
      id: PrincipalId,
      { mail, message, run }: EventBody<"message.created">,
      depth: number,
      causer: PrincipalId,
      after: RunId | null,
    ) {
      const found = yield* Effect.option(agents.get(id))
      if (Option.isNone(found)) return null
      const agent = found.value
      const name = profileNameOf(agent)
      const profile = profileNamed(name)
      const limits = limitsFor(agent)
      const wanted: NewRun = {
        id: newId<RunId>("run"),
        agent: id,
        profile: name,
        limits,
        kind: "message",
        summary: `${message.author.name}: ${summaryOf(message.text)}`,
        message: message.id,
        space: message.space,
        depth,
        afterRun: after,
        thinker: agent.thinker.kind,
        causer,
      }
      const refused = isAble(agent) && (yield* isRefused(wanted))
      if (refused) yield* waits.silence(id, "silent", message.id)
      const isTeam = profile.inbox && agent.retiredAt === null
      if (isTeam) {
        if (isAble(agent) && !mayWake(depth, limits.depth ?? 0)) yield* waits.silence(id, "silent", message.id)
        const kind = mail?.kind ?? "notification"
        return yield* inbox.arrive({
          agent,
          wakes: !refused,
          awaited: kind === "request" || (yield* waits.isAwaited(message.id)),
          mail: { kind, replyTo: message.replyTo },
          trigger: {
            source: message.id,
            kind: "message",
            message: message.id,
            space: message.space,
            author: message.author.id,
            text: message.text,
            depth,
            causer,
            at: DateTime.formatIso(message.createdAt),
          },
        })
      }
      if (!isAble(agent) || refused) return null
      if (!mayWake(depth, limits.depth ?? 0)) {
        // Agents that wait for it are told at once.
        yield* waits.silence(id, "silent", message.id)
        return null
      }
      const joined = profile.joins ? yield* queuedIn(wanted) : undefined
      const target = joined?.id ?? wanted.id
      const isNew = yield* record.trigger({
        agent: id,
        source: message.id,
        run: target,
        kind: "message",
        message: message.id,
        space: message.space,
        author: message.author.id,
        text: message.text,
        depth,
        causer,
        at: DateTime.formatIso(message.createdAt),
      })
      if (!isNew) return null
      if (joined !== undefined) return joined.id
      yield* record.enqueue(wanted)
      return run === target ? null : target
    })

    /** A queued run of this agent in this space, which the same principal pays for. */
    const queuedIn = ({ agent, causer, depth, space }: NewRun) =>
      Effect.map(
        Effect.orDie(
          sql<RunRow>`SELECT * FROM runs WHERE agent = ${agent} AND trigger_space = ${space ?? null} AND state = 'queued'
            AND started_at IS NULL AND trigger_kind = 'message' AND chain_depth = ${depth} AND causer = ${causer}
            ORDER BY id DESC LIMIT 1`,
        ),
        (rows) => rows[0],
      )

    const said = Effect.fnUntraced(function* (body: EventBody<"message.created">) {
      const { addressees, message, run } = body
      // A message that answers a wait wakes nobody else for it: one reader decides both, in the journal's order
      // (S1-103, S1-105).
      const answered = yield* waits.hear(message, body.mail !== undefined)
      if (addressees.length === 0) return
      const from = yield* cameFrom(run)
      const depth = depthAfter(message.author.kind, from?.chainDepth ?? null)
      const causer = causerAfter(message.author.id, from)
      // One after the other, so that each sees what the previous one said (S0-62).
      let before: RunId | null = null
      for (const agent of addressees)
        if (!answered.has(agent)) before = (yield* wakeOne(agent, body, depth, causer, before)) ?? before
    })

    /**
     * A plan is due: once for each time (S1-60). The office's agents post by plan every five minutes at most (S0-75).
     */
    const planned = Effect.fnUntraced(function* ({ dueAt, plan, principal, run: maker }: Due) {
      const agent = Option.getOrUndefined(yield* Effect.option(agents.get(principal)))
      const planRecord = Option.getOrUndefined(yield* Effect.option(memories.get({ id: principal }, plan)))
      if (agent === undefined || planRecord === undefined || !isAble(agent)) return
      const { instruction, name } = JSON.parse(planRecord.content) as {
        readonly name: string
        readonly instruction: string
      }
      const run = newId<RunId>("run")
      const at = DateTime.formatIso(yield* DateTime.now)
      const text = `${name}: ${instruction}`
      const source = `plan:${plan}:${dueAt}`
      // A plan made by a run has the depth of what that run wakes: chains of plans end.
      const from = yield* cameFrom(maker)
      const depth = from === undefined ? 0 : depthAfter("agent", from.chainDepth)
      const limits = limitsFor(agent)
      if (!mayWake(depth, limits.depth ?? 0))
        return yield* Effect.die(
          new Error(
            `The plan "${name}" of ${agent.name} was made in a chain of agents: its run would be ${depth} deep, and the limit is ${limits.depth ?? 0}. A person can make the plan again, or raise the agent's depth limit.`,
          ),
        )
      const trigger = { agent: principal, source, run, kind: "plan", message: null, space: null } as const
      const author = writerOf(planRecord)
      const causer = causerAfter(author, from)
      if (!(yield* record.trigger({ ...trigger, author, text, depth, at, causer }))) return
      const profile = profileNameOf(agent)
      const last = yield* Effect.orDie(
        sql<{
          at: number | null
        }>`SELECT max(ready_at) AS at FROM runs WHERE agent = ${principal} AND trigger_kind = 'plan'`,
      )
      // wall clock: a moment that is stored.
      const now = yield* Clock.currentTimeMillis
      const early = (last[0]?.at ?? 0) + profileNamed(profile).planEveryMs
      const wanted: NewRun = {
        id: run,
        agent: principal,
        profile,
        limits,
        kind: "plan",
        summary: text,
        depth,
        thinker: agent.thinker.kind,
        readyAt: Math.max(now, early),
        causer,
      }
      if (!(yield* isRefused(wanted))) yield* record.enqueue(wanted)
    })

    /** A run is over: nobody waits for its answer any more, and its own waits end. */
    const over = Effect.fnUntraced(function* ({ principal, run, state }: EventBody<"run.ended">) {
      const woken = yield* Effect.orDie(
        sql<{ message: string | null }>`SELECT message FROM triggers WHERE run = ${run} AND message IS NOT NULL
          UNION SELECT r.message FROM wait_replies r JOIN waits w ON w.id = r.wait WHERE w.run = ${run}`,
      )
      for (const { message } of woken)
        yield* waits.silence(principal, state === "completed" ? "silent" : "gone", message)
      yield* waits.cancelOf(run)
      yield* children.ended(run)
      const ended = yield* record.byId(run)
      if (ended !== undefined) yield* inbox.over(ended)
      if (state === "completed") return
      const left = yield* Effect.orDie(
        sql<{ id: string }>`SELECT id FROM calls WHERE run = ${run} AND ${mayStartCall(sql)}`,
      )
      for (const { id } of left)
        yield* calls.finish(id, { step: "cancel", error: { tag: "Canceled", message: "Its run has ended" } })
    })

    const endAll = Effect.fnUntraced(function* (
      agent: string | undefined,
      states: ReadonlyArray<string>,
      stop: "paused" | "retired",
      failure: string,
    ) {
      const whose =
        agent === undefined
          ? sql`1 = 1`
          : stop === "paused"
            ? sql`agent IN ${branchOf(sql, agent)}`
            : sql`agent = ${agent}`
      const rows = yield* Effect.orDie(
        sql<{ id: string }>`SELECT id FROM runs WHERE ${whose} AND ${inState(sql, states)}`,
      )
      for (const { id } of rows) yield* record.stop(id, { stop, failure })
    })

    const one = Effect.fnUntraced(function* (event: Event, takeSlot?: TakeSlot) {
      switch (event.kind) {
        case "message.created":
          return yield* said(event.body)
        case "call.settled": {
          const { call, run, state } = event.body
          if (state === "expired" || state === "canceled")
            yield* children.abandoned(call, "The call that waited for it is over.")
          return run === undefined ? undefined : yield* record.ring([run.id], takeSlot)
        }
        case "call.waiting": {
          const { call, on, run } = event.body
          if (on.kind === "run") return yield* children.called(call)
          return run === undefined ? undefined : yield* record.awaitReply(run.id)
        }
        case "run.ended":
          return yield* over(event.body)
        case "timer.fired":
          if (event.body.purpose === planPurpose) return yield* planned(event.body.payload as unknown as Due)
          return yield* waits.expire((event.body.payload as { readonly wait: string }).wait)
        case "member.removed":
          return yield* waits.leave(event.body.principal, event.body.space)
        case "pause.set": {
          const { reason, subject } = event.body
          const agent = subject.startsWith("agents/") ? subject.slice("agents/".length) : undefined
          if (agent === undefined && subject !== "everything") return
          const why = reason === "" ? "" : `: ${reason}`
          return yield* endAll(agent, ["running", "waiting_tool", "waiting_reply"], "paused", `It was paused${why}.`)
        }
        case "principal.retired":
          yield* waits.silence(event.body.principal, "gone")
          return yield* endAll(event.body.principal, open, "retired", "Its agent is retired.")
        default:
          return
      }
    })

    /**
     * Ended runs that affect nothing else: no message woke them, nobody waits, and they have no open call, mail or
     * question.
     */
    const unnoticed = Effect.fnUntraced(function* (events: ReadonlyArray<Event>) {
      const ids = events.flatMap((event) =>
        event.kind === "run.ended" && event.body.state === "completed" ? [event.body.run] : [],
      )
      if (ids.length === 0) return new Set<string>()
      const rows = yield* Effect.orDie(
        sql<Pick<RunRow, "id" | "profile">>`SELECT r.id, r.profile FROM runs r WHERE ${sql.in("r.id", ids)}
          AND r.parent_call IS NULL
          AND NOT EXISTS (SELECT 1 FROM triggers t WHERE t.run = r.id AND t.message IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.run = r.id)`,
      )
      return new Set<string>(rows.flatMap(({ id, profile }) => (profileNamed(profile).inbox ? [] : [id])))
    })

    const actsOn: Wake["Service"]["actsOn"] = Effect.fnUntraced(function* (events) {
      const some = events.filter(concerns)
      const quiet = yield* unnoticed(some)
      return some.filter((event) => event.kind !== "run.ended" || !quiet.has(event.body.run))
    })

    const hear: Wake["Service"]["hear"] = Effect.fnUntraced(function* (events) {
      // Nobody claims while a slot is on its way, and a long batch takes a while.
      const takeSlot = events.length > maxWithSlots ? undefined : dispatch.takeSlot
      yield* Effect.forEach(
        events,
        (event) =>
          handled(
            event,
            Effect.suspend(() => one(event, takeSlot)),
          ),
        { discard: true },
      )
    })
    return Wake.of({ actsOn, hear, one: (event) => Effect.asVoid(one(event)) })
  }),
)

export const wakeReader = readerLayer({
  name: "runs",
  atomic: true,
  kinds: [...kinds],
  concerns,
  actsOn: (events) => Effect.flatMap(Wake, (wake) => wake.actsOn(events)),
  handle: (events) => Effect.flatMap(Wake, ({ hear }) => hear(events)),
})
