/**
 * Notifies people of questions that wait for them, at the address in their `people` entry of the configuration file. A
 * notification is a timer, set in the transaction that asks: a kill -9 loses none, and a failed one is sent again.
 */
import type { DecisionId, PrincipalId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { Rules } from "../../access/rights/Rules.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { Timers } from "../../store/journal/Timers.ts"

export const notificationPurpose = "decision notification"

/** The payload of its timers. */
export interface Notification {
  readonly decision: DecisionId
  readonly principal: PrincipalId
  /** How often sending it has failed. */
  readonly failures: number
}

export const notificationKey = ({ decision, principal }: Pick<Notification, "decision" | "principal">): string =>
  `${decision} ${principal}`

/** At most this many of those who may answer are notified. */
const maxTold = 20

export class Notifications extends Context.Service<
  Notifications,
  {
    readonly addressOf: (principal: PrincipalId) => Effect.Effect<string | undefined>
    /** Schedules a notification for those of them who have an address. `epoch`: of rights, if the asker knows it. */
    readonly queue: (
      decision: DecisionId,
      people: ReadonlyArray<PrincipalId>,
      epoch?: number,
    ) => Effect.Effect<void, never, Transaction>
    readonly send: (notification: Notification, at: DateTime.Utc) => Effect.Effect<void, never, Transaction>
  }
>()("server/decisions/Notifications") {
  static readonly layer = Layer.effect(
    Notifications,
    Effect.gen(function* () {
      const rules = yield* Rules
      const timers = yield* Timers

      // Rules change only with the epoch, so addresses are cached for one epoch. This runs inside a transaction, so the
      // epoch is passed in.
      let known: { readonly epoch: number; readonly all: ReadonlyMap<PrincipalId, string> } | undefined
      const stated = Effect.map(rules.notify, (all) => new Map(all.map(({ address, person }) => [person, address])))
      const addressesAt = (epoch: number) =>
        known?.epoch === epoch
          ? Effect.succeed(known.all)
          : Effect.tap(stated, (all) => Effect.sync(() => void (known = { epoch, all })))

      const send: Notifications["Service"]["send"] = Effect.fnUntraced(function* (notification, dueAt) {
        yield* timers.set({
          purpose: notificationPurpose,
          key: notificationKey(notification),
          dueAt,
          payload: { ...notification },
        })
      })

      return Notifications.of({
        addressOf: (principal) => Effect.map(stated, (all) => all.get(principal)),
        queue: Effect.fn("Notifications.queue")(function* (decision, people, epoch) {
          if (people.length === 0) return
          const addresses: ReadonlyMap<PrincipalId, string> = yield* epoch === undefined ? stated : addressesAt(epoch)
          const told = people.filter((one) => addresses.has(one)).slice(0, maxTold)
          const now = yield* DateTime.now
          for (const principal of told) yield* send({ decision, principal, failures: 0 }, now)
        }),
        send,
      })
    }),
  )
}
