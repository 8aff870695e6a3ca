/**
 * Sends the notifications that `Notifications` has scheduled: one POST to the person's address, through the egress
 * guard, with a signed link that answers as that person. The next try is scheduled before the first is made, and
 * canceled when it has arrived.
 */
import { type Decision, inputIn, questionIn } from "@stoa/contract"
import { CurrentEgressPolicy, Egress } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Semaphore } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { EgressRules } from "../../access/secrets/EgressRules.ts"
import { becauseOf } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { readerLayer } from "../../store/journal/readers/Readers.ts"
import { Timers } from "../../store/journal/Timers.ts"
import { DecisionLinks } from "../DecisionLinks.ts"
import { Decisions } from "../Decisions.ts"
import { type Notification, notificationKey, notificationPurpose, Notifications } from "./Notifications.ts"

/** The path of an address may be secret, and with the address one gets the links: so only its origin is logged. */
const withoutPath = (message: string, address: string): string => {
  const path = URL.parse(address)?.pathname ?? "/"
  return path.length > 1 ? message.replaceAll(path, "/[path]") : message
}

/** The public address of the house, for the link, once its door is open. Filled in by House.ts. */
export class LinkAddress extends Context.Service<LinkAddress, { readonly known: Effect.Effect<string> }>()(
  "server/decisions/LinkAddress",
) {}

/** After a minute, two, four and so on; then it gives up: the decision is still on the person's list. */
const maxTries = 6
const firstPause = 60
const atOnce = 8
const timeoutMs = 10_000

const bodyOf = (decision: Decision, url: string): string => {
  const question = questionIn(decision)
  return JSON.stringify({
    decision: decision.id,
    kind: decision.kind,
    question: [question.heading, ...question.lines].filter((line) => line !== null).join("\n"),
    tool: decision.call?.tool ?? null,
    input: inputIn(decision)?.heading ?? null,
    expiresAt: DateTime.formatIso(decision.expiresAt),
    link: url,
  })
}

const reader = Effect.gen(function* () {
  const { transact } = yield* Journal
  const timers = yield* Timers
  const decisions = yield* Decisions
  const links = yield* DecisionLinks
  const principals = yield* Principals
  const notifications = yield* Notifications
  const rules = yield* EgressRules
  const egress = yield* Egress
  const house = yield* LinkAddress
  const lines = yield* Semaphore.make(atOnce)
  const scope = yield* Effect.scope

  /** A link can answer: it is sent only to the given address, and redirects are not followed. */
  const post = Effect.fnUntraced(function* (url: string, body: string) {
    const policy = yield* rules.policy
    const { status } = yield* egress
      .fetch({
        tool: "notify",
        url,
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        cut: true,
        maxBytes: 4096,
        timeoutMs,
      })
      .pipe(Effect.provideService(CurrentEgressPolicy, { ...policy, maxRedirects: 0 }))
    if (status < 200 || status > 299) return yield* Effect.fail({ message: `it answered ${status}` })
  })

  const deliver = Effect.fnUntraced(function* (notification: Notification) {
    const { decision: id, failures, principal } = notification
    const person = yield* Effect.orDie(principals.get(principal))
    const address = yield* notifications.addressOf(principal)
    if (address === undefined) return
    // It is sent what the link will show.
    const linked = yield* Effect.option(decisions.byLink({ decision: id, principal: person }, "read"))
    if (linked._tag === "None" || linked.value.is !== "asked") return
    const { decision } = linked.value
    if (failures + 1 < maxTries)
      yield* transact(
        notifications.send(
          { ...notification, failures: failures + 1 },
          DateTime.add(yield* DateTime.now, { seconds: firstPause * 2 ** failures }),
        ),
      )
    yield* house.known.pipe(
      Effect.flatMap((here) => post(address, bodyOf(decision, `${here}/d/${links.make(id, principal)}`))),
      Effect.andThen(transact(timers.cancelKeys([notificationKey(notification)]))),
      Effect.catch((error) =>
        Effect.logWarning(`${person.name} could not be notified of ${id}: ${withoutPath(error.message, address)}`),
      ),
      lines.withPermits(1),
      // A slow receiver delays only its own notifications.
      Effect.forkIn(scope),
    )
  })

  return readerLayer({
    name: "notifications",
    atomic: false,
    kinds: ["timer.fired"],
    handle: Effect.fnUntraced(function* (events) {
      for (const event of events)
        if (event.kind === "timer.fired" && event.body.purpose === notificationPurpose)
          yield* becauseOf(event, deliver(event.body.payload as unknown as Notification))
    }),
  })
})

export const layerNotificationSender = Layer.unwrap(reader)
