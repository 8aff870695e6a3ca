/**
 * Hosted functions: processes of users that offer tools and receive the calls over a connection they opened. A call
 * that waits for a host is a row, so that it survives both processes; only the connections are kept in memory.
 */
import {
  BadInput,
  type Caller,
  type Event,
  type Forbidden,
  type HostDeclaration,
  type HostId,
  type Issue,
  Missing,
  NameTaken,
} from "@stoa/contract"
import { CurrentToolsConfig, Registry } from "@stoa/tools"
import { Clock, Context, DateTime, Effect, Layer, Semaphore } from "effect"
import { ownViewer, type BasicViewer } from "../../access/rights/Viewer.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Holder, SharedDatabase } from "../../store/leases/Holder.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { Calls } from "../Calls.ts"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { nameFault } from "../catalogue/toolName.ts"
import type { HandlerCall } from "../road/Handler.ts"
import { hostedTool } from "./hostedTool.ts"
import { type ConnectionState, type ConnectionStep, nextState, stateIn, takesCalls } from "./lifecycle.ts"
import { type ConnectedHost, type HostConnection, makeHostConnections } from "./connections.ts"
import { type HostRow, makeHostRows, type WaitingCall } from "./rows.ts"
import { makeSharing } from "./sharing.ts"

export type { HostConnection } from "./connections.ts"
export { hostFrom, type HostRow } from "./rows.ts"

/** For how many milliseconds a process may be away, such as over a broken connection or a restart of either side. */
export const HostGrace = Context.Reference<number>("server/calls/hosts/HostGrace", { defaultValue: () => 15_000 })
const purpose = "host"
/** What the timer of a grace time says: `since` is when the host was last seen. */
interface Grace {
  readonly host: HostId
  readonly since: string
}
/** Per principal. */
const maxHosts = 20

export class Hosts extends Context.Service<
  Hosts,
  {
    /** Offers these tools under this name, and replaces what was offered under it before. */
    readonly declare: (
      caller: Caller["Service"],
      name: string,
      declaration: HostDeclaration,
    ) => Effect.Effect<HostRow, BadInput | NameTaken | Forbidden>
    /** By name: one of the viewer's own. By id: any host that the viewer may see. */
    readonly get: (ref: string, viewer: BasicViewer) => Effect.Effect<HostRow, Missing>
    readonly list: (viewer: BasicViewer) => Effect.Effect<ReadonlyArray<HostRow>>
    /** With an instance: only if that instance connected last. */
    readonly remove: (ref: string, viewer: BasicViewer, instance?: string) => Effect.Effect<void, Missing>
    /** A host whose calls the caller may receive. */
    readonly own: (caller: Caller["Service"], ref: string) => Effect.Effect<HostRow, Missing | Forbidden>
    /** Sends waiting calls and new ones, until `leave`. Closes an existing connection of the host. */
    readonly connect: (
      caller: Caller["Service"],
      host: HostRow,
      connection: HostConnection,
    ) => Effect.Effect<ConnectedHost, Missing>
    /** The house is closing: connections that end now were not ended by their hosts. */
    readonly closing: Effect.Effect<void>
    readonly heard: (event: Event) => Effect.Effect<void>
  }
>()("server/calls/hosts/Hosts") {
  static readonly layer = Layer.effect(
    Hosts,
    Effect.gen(function* () {
      const journal = yield* Journal
      const timers = yield* Timers
      const catalogue = yield* Catalogue
      const calls = yield* Calls
      const config = yield* CurrentToolsConfig
      const rows = yield* makeHostRows
      const sharing = yield* makeSharing
      const hostGrace = yield* HostGrace
      /** The state of each host's connection and since when, as this process has seen it. */
      const known = new Map<HostId, { readonly state: ConnectionState; readonly since: number }>()
      const offered = new Map<HostId, HostRow>()
      let closing = false

      const clock = yield* Clock.Clock
      const { id: me } = yield* Holder
      const failed = (call: WaitingCall, message: string) =>
        calls.finish(call.id, { step: "fail", error: { tag: "ToolExecutionError", message } })
      /** Fails the call of somebody else for a host that is private now. */
      const failUnshared = (call: WaitingCall) =>
        failed(
          call,
          `The host that offers "${call.tool}" is now for its owner alone; ${call.instance === null ? "it did not run" : "it may have run"}`,
        )
      /** Fails a call whose host's process did not come back. */
      const failLost = (call: WaitingCall) =>
        failed(
          call,
          call.instance === null
            ? `The process that offers "${call.tool}" disconnected before it got this call; it did not run`
            : `The process that offers "${call.tool}" disconnected; it may have run`,
        )
      const connections = yield* makeHostConnections(rows, me, failUnshared)
      /** Whoever is away for longer than the grace time has lapsed, whichever house noticed it. */
      const stateOf = (id: HostId): ConnectionState => {
        const { since = 0, state = "removed" } = known.get(id) ?? {}
        // wall clock: compared with a timer's moment.
        const isLate = clock.currentTimeMillisUnsafe() - since >= hostGrace
        return (isLate ? nextState[state].lapse : null) ?? state
      }
      /** Applies a step of the table. False: the table refuses it, and the connection stays as it is. */
      const change = (
        id: HostId,
        step: ConnectionStep,
        // wall clock: compared with a timer's moment.
        since = clock.currentTimeMillisUnsafe(),
      ): boolean => {
        const to = nextState[stateOf(id)][step]
        if (to === "removed") known.delete(id)
        else if (to !== null) known.set(id, { state: to, since })
        return to !== null
      }
      /** A host that another process has declared, or that existed before this process. */
      const learn = (row: HostRow) => {
        // wall clock: compared with a timer's moment.
        if (!known.has(row.id)) known.set(row.id, { state: stateIn(row), since: clock.currentTimeMillisUnsafe() })
      }
      const isThere = (id: HostId) => takesCalls(stateOf(id))

      const withdraw = Effect.fnUntraced(function* (row: HostRow, kept: ReadonlySet<string> = new Set()) {
        const owner = row.shared ? undefined : row.owner
        for (const { name } of row.tools) if (!kept.has(name)) yield* catalogue.withdraw("configured", name, owner)
      })

      const offer = Effect.fnUntraced(function* (row: HostRow) {
        learn(row)
        const before = offered.get(row.id)
        offered.set(row.id, row)
        const same = before?.shared === row.shared
        if (before !== undefined) yield* withdraw(before, same ? new Set(row.tools.map(({ name }) => name)) : undefined)
        for (const one of row.tools) {
          const known = same ? before?.tools.find(({ name }) => name === one.name) : undefined
          if (JSON.stringify(known) === JSON.stringify(one)) continue
          const { tool, traits } = hostedTool(row, one, () => isThere(row.id))
          yield* catalogue
            .offer("configured", tool, traits)
            .pipe(Effect.catch((error) => Effect.logError(`Tool ${one.name} is left out: ${error.message}`)))
        }
      })

      /** Reports now, by path, everything that would be refused when the tools are offered. */
      const faults = Effect.fnUntraced(function* (row: HostRow) {
        const issues: Array<Issue> = []
        const registry = new Registry<HandlerCall>(config)
        for (const [at, one] of row.tools.entries()) {
          const taken = nameFault(catalogue, one.name, row.owner)
          if (taken !== undefined) issues.push({ path: `tools.${at}.name`, message: taken })
          const { tool } = hostedTool(row, one, () => false)
          const fault = yield* Effect.flip(registry.add(tool, { reviewed: false, by: row.owner })).pipe(Effect.option)
          if (fault._tag === "Some") {
            const { expected, parameter, received } = fault.value
            const path = parameter === "definition" ? `tools.${at}` : `tools.${at}.${parameter}`
            issues.push({ path, message: `must be ${expected}, but is ${received}` })
          }
        }
        return issues
      })

      const about = ({ id, name, owner }: HostRow) => ({ host: id, name, owner })

      // One at a time, so that the catalogue shows what was written last.
      const one = Semaphore.makeUnsafe(1)
      const declare: Hosts["Service"]["declare"] = Effect.fn("Hosts.declare")(
        function* (caller, name, { shared = true, tools }) {
          const { principal } = caller
          yield* sharing.require(caller, { name, shared })
          const before = yield* rows.ofOwner(principal.id, name)
          const row: HostRow = {
            id: before?.id ?? newId("hst"),
            owner: principal.id,
            name,
            shared,
            tools,
            instance: before?.instance ?? null,
            connected: before?.connected ?? false,
            holder: before?.holder ?? null,
            lastSeenAt: before?.lastSeenAt ?? null,
            createdAt: before?.createdAt ?? DateTime.formatIso(yield* DateTime.now),
          }
          const same = before?.shared === shared && JSON.stringify(before.tools) === JSON.stringify(tools)
          if (before !== undefined && same) return before
          const issues = yield* faults(row)
          if (before === undefined && (yield* rows.all).filter((one) => one.owner === principal.id).length >= maxHosts)
            issues.push({ path: "host", message: `A principal can have at most ${maxHosts} hosts; remove one first` })
          if (issues.length > 0) return yield* new BadInput({ issues })
          const write = journal.transact(
            Effect.gen(function* () {
              const taken = yield* rows.taken(row)
              if (taken !== undefined) return yield* new NameTaken({ noun: "tool", name: taken })
              if (!(yield* rows.put(row))) return yield* new NameTaken({ noun: "tool", name: tools[0]!.name })
              // Others asked a host that was offered to everybody: what it says now is not for them.
              if (!shared) yield* Effect.forEach(yield* rows.strangers(row.id), failUnshared, { discard: true })
              yield* journal.append({
                kind: "host.declared",
                body: { ...about(row), shared, tools: tools.map((tool) => tool.name) },
              })
            }),
          )
          // Uninterruptible: if the host's process hangs up, what was written is still offered.
          yield* Effect.uninterruptible(Effect.andThen(write, () => offer(row)))
          return row
        },
        (declared) => one.withPermit(declared),
      )

      const get: Hosts["Service"]["get"] = Effect.fn("Hosts.get")(function* (ref, { all, principal }) {
        const own = yield* rows.ofOwner(principal.id, ref)
        const row = own ?? (yield* rows.byId(ref))
        if (row === undefined || (!all && row.owner !== principal.id)) return yield* new Missing({ noun: "host", ref })
        return row
      })

      const drop = Effect.fnUntraced(function* (row: HostRow) {
        const connection = connections.get(row.id)
        yield* withdraw(row)
        offered.delete(row.id)
        change(row.id, "remove")
        connections.delete(row.id)
        yield* journal.transact(
          Effect.gen(function* () {
            const open = yield* rows.waiting(row.id)
            if (yield* rows.remove(row.id)) yield* journal.append({ kind: "host.removed", body: about(row) })
            yield* Effect.forEach(open, failLost, { discard: true })
          }),
        )
        connection?.close("removed")
      }, Effect.uninterruptible)

      /** The calls that the previous process was sent get the grace time to be answered. `since` as in the row. */
      const grace = Effect.fnUntraced(function* (id: HostId, since: string) {
        const dueAt = DateTime.add(yield* DateTime.now, { milliseconds: hostGrace })
        yield* timers.set({ purpose, dueAt, payload: { host: id, since } satisfies Grace })
      })
      /** The connection that a house had has ended. False: another house has it now. */
      const away = Effect.fnUntraced(function* (id: HostId, holder: string | null) {
        const lastSeenAt = DateTime.formatIso(yield* DateTime.now)
        if (!(yield* rows.disconnected(id, { holder, lastSeenAt }))) return false
        yield* grace(id, lastSeenAt)
        return true
      })

      const connect: Hosts["Service"]["connect"] = Effect.fn("Hosts.connect")(function* (caller, host, plain) {
        const stands = sharing.stands(caller, () => offered.get(host.id) ?? host)
        const connection = { ...plain, stands }
        const { id } = host
        const before = connections.get(id)
        const since = DateTime.formatIso(yield* DateTime.now)
        learn(host)
        if (!change(id, "connect")) return yield* new Missing({ noun: "host", ref: host.name })
        yield* connections.set(id, connection)
        yield* journal
          .transact(
            Effect.gen(function* () {
              // Calls that another instance was sent get the grace time to be answered, and are not sent again.
              if (host.instance !== null && host.instance !== connection.instance) yield* grace(id, since)
              const isThere = yield* rows.connected(id, { instance: plain.instance, holder: me, lastSeenAt: since })
              if (!isThere) return yield* new Missing({ noun: "host", ref: host.name })
              yield* rows.forget(id)
              return yield* journal.append({ kind: "host.connected", body: about(host) })
            }),
          )
          .pipe(
            // It was removed since its caller looked it up.
            Effect.tapErrorTag("Missing", () =>
              Effect.sync(() => {
                change(id, "remove")
                connections.delete(id)
              }),
            ),
          )
        before?.close("replaced")
        yield* connections.begin(id, connection)
        const leave = Effect.suspend(() => {
          if (closing || connections.get(id) !== connection || !change(id, "leave")) return Effect.void
          connections.delete(id)
          return journal.transact(
            Effect.flatMap(away(id, me), (gone) =>
              gone ? journal.append({ kind: "host.disconnected", body: about(host) }) : Effect.void,
            ),
          )
        })
        return { pump: connections.pump(id), leave, stands }
      })

      /**
       * Runs one grace time after a process went away, in any house process: its unanswered calls fail, unless it is
       * back. The row says so; what this process remembers may be late.
       */
      const lapse = Effect.fn("Hosts.lapse")(function* ({ host: id, since }: Grace) {
        const row = yield* rows.byId(id)
        if (row === undefined) return
        // If it came back and is away again, another timer checks again.
        const isLost = !row.connected && row.lastSeenAt === since
        const spared = isLost ? undefined : (connections.get(id)?.instance ?? row.instance)
        for (const call of yield* rows.waiting(id))
          if (call.instance === null ? isLost : call.instance !== spared) yield* journal.transact(failLost(call))
        yield* rows.forget(id)
      })

      const heard: Hosts["Service"]["heard"] = Effect.fnUntraced(function* (event) {
        if (event.kind === "timer.fired" && event.body.purpose === purpose)
          return yield* lapse(event.body.payload as unknown as Grace)
        if (event.kind !== "principal.retired") return
        for (const row of yield* rows.all) if (row.owner === event.body.principal) yield* one.withPermit(drop(row))
      })

      /** Another process changed a host: take its state from its row. Lines of this process are known already. */
      const follow = Effect.fnUntraced(function* (id: HostId) {
        const row = yield* rows.byId(id)
        const before = offered.get(id)
        if (row !== undefined) {
          yield* offer(row)
          const connection = connections.get(id)
          // Its process has connected to another house process: the connection here is an old one.
          const isElsewhere = row.connected && row.holder !== me
          if (connection === undefined || isElsewhere)
            change(id, row.connected ? "connect" : "leave", Date.parse(row.lastSeenAt ?? row.createdAt))
          if (connection !== undefined && isElsewhere) {
            connections.delete(id)
            connection.close("replaced")
          }
        } else if (before !== undefined) {
          yield* withdraw(before)
          offered.delete(id)
          change(id, "remove")
          connections.get(id)?.close("removed")
          connections.delete(id)
        }
      })
      const isShared = yield* SharedDatabase
      yield* journal.follow({
        name: "following hosts",
        kinds: ["host.declared", "host.removed", "host.connected", "host.disconnected"],
        wanted: () => isShared,
        hear: (events) =>
          Effect.forEach(events, ({ body }) => one.withPermit(follow((body as { readonly host: HostId }).host)), {
            discard: true,
          }),
      })

      // Hosts that were connected when the house stopped get the grace time to come back.
      for (const row of yield* rows.all) {
        yield* offer(row)
        if (yield* rows.isHeldBeside(row.id, me)) continue
        if (change(row.id, "leave")) yield* journal.transact(away(row.id, row.holder))
      }

      return Hosts.of({
        declare,
        get,
        list: Effect.fn("Hosts.list")(function* ({ all, principal }) {
          return (yield* rows.all).filter((row) => all || row.owner === principal.id)
        }),
        remove: Effect.fn("Hosts.remove")(function* (ref, viewer, instance) {
          const row = yield* get(ref, viewer)
          if (instance === undefined || row.instance === instance) yield* one.withPermit(drop(row))
        }),
        own: Effect.fn("Hosts.own")(function* (caller, ref) {
          const row = yield* get(ref, ownViewer(caller.principal))
          yield* sharing.require(caller, row)
          return row
        }),
        connect,
        closing: Effect.sync(() => void (closing = true)),
        heard,
      })
    }),
  )

  static readonly reader = readerLayer({
    name: "hosts",
    atomic: false,
    kinds: ["timer.fired", "principal.retired"],
    handle: Effect.fnUntraced(function* ([event]) {
      if (event !== undefined) yield* (yield* Hosts).heard(event)
    }),
  })
}
