/**
 * Which hosts are connected, and what they are sent: calls when they begin to wait, and a notice when they have
 * settled.
 */
import type { HostedEnd, HostId } from "@stoa/contract"
import { Effect, Semaphore } from "effect"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import type { makeHostRows, SentCall, WaitingCall } from "./rows.ts"

/** How many calls one process may have at a time; the others wait, and would go to the process that replaces it. */
const maxOpen = 100
const atOnce = 10

/** An open connection of a host's process. */
export interface HostConnection {
  /** A name that the process chose for itself: a call sent to one instance is never sent to another. */
  readonly instance: string
  readonly call: (call: SentCall) => void
  readonly ended: (end: HostedEnd) => void
  /** Whether more can be written now; when room returns, `pump` is called. */
  readonly hasRoom: () => boolean
  readonly close: (reason: "replaced" | "removed" | "revoked") => void
}

/** What the door of a connected host uses. */
export interface ConnectedHost {
  readonly pump: Effect.Effect<void>
  readonly leave: Effect.Effect<void>
  /** Whether its token and rights are still valid. Nothing is sent without. */
  readonly stands: Effect.Effect<boolean>
}

/** A connection and its caller's standing. */
interface JudgedConnection extends HostConnection {
  /** Whether its token and rights are still valid: checked before anything is sent. */
  readonly stands: Effect.Effect<boolean>
}

interface Open {
  readonly connection: JudgedConnection
  readonly sent: Set<string>
  readonly one: Semaphore.Semaphore
}

/** `me`: this house. `failUnshared`: ends a call that its host may not be sent any more. */
export const makeHostConnections = Effect.fnUntraced(function* (
  rows: Effect.Success<typeof makeHostRows>,
  me: string,
  failUnshared: (call: WaitingCall) => Effect.Effect<unknown, never, Transaction>,
) {
  const journal = yield* Journal
  const all = new Map<HostId, Open>()
  let settled = 0

  const send = ({ connection, sent }: Open, call: SentCall) => {
    sent.add(call.id)
    connection.call(call)
  }

  const fill = Effect.fnUntraced(function* (id: HostId, open: Open) {
    for (;;) {
      const room = Math.min(atOnce, maxOpen - open.sent.size)
      if (room <= 0 || all.get(id) !== open || !open.connection.hasRoom()) return
      if (!(yield* open.connection.stands)) return open.connection.close("revoked")
      // Recorded before it is sent, so that a process that replaces this one never gets it too.
      const { calls, strangers } = yield* journal.transact(
        Effect.tap(rows.take(id, { instance: open.connection.instance, holder: me }, room), (taken) =>
          Effect.forEach(taken.strangers, failUnshared, { discard: true }),
        ),
      )
      for (const call of calls) send(open, call)
      if (calls.length + strangers.length < room) return
    }
  })

  const pump = (id: HostId): Effect.Effect<void> =>
    Effect.suspend(() => {
      const open = all.get(id)
      return open === undefined ? Effect.void : open.one.withPermit(fill(id, open))
    })

  /** First resends what the process was sent and has not answered, then sends what nobody was sent. */
  const begin = Effect.fnUntraced(function* (id: HostId, connection: JudgedConnection) {
    const open = all.get(id)
    if (open?.connection !== connection) return
    if (!(yield* connection.stands)) return connection.close("revoked")
    for (const call of yield* rows.unanswered(id, connection.instance)) if (!open.sent.has(call.id)) send(open, call)
    yield* pump(id)
  })

  const over = Effect.fnUntraced(function* (call: string, state: never) {
    for (const [id, open] of all) {
      if (!open.sent.delete(call)) continue
      open.connection.ended({ id: call as never, state })
      if (++settled % maxOpen === 0) yield* rows.forget(id)
      // The connection was full and has room again.
      if (open.sent.size === maxOpen - 1) yield* pump(id)
    }
  })

  const following = yield* journal.follow({
    name: "sending calls to hosts",
    kinds: ["call.waiting", "call.settled"],
    wanted: () => all.size > 0,
    hear: Effect.fnUntraced(function* (events) {
      const hosts = new Set<HostId>()
      for (const event of events)
        if (event.kind === "call.settled") yield* over(event.body.call, event.body.state as never)
        else if (event.kind === "call.waiting" && event.body.on.kind === "callback")
          hosts.add(event.body.on.id as HostId)
      yield* Effect.forEach(hosts, pump, { discard: true })
    }),
  })

  return {
    has: (id: HostId) => all.has(id),
    get: (id: HostId) => all.get(id)?.connection,
    delete: (id: HostId) => void all.delete(id),
    set: (id: HostId, connection: JudgedConnection) =>
      following.begin(() => void all.set(id, { connection, sent: new Set(), one: Semaphore.makeUnsafe(1) })),
    begin,
    pump,
  }
})
