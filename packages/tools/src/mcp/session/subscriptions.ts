/**
 * The resources we watch on one connection. An old-era server gets a subscription for each; a new-era one gets one
 * stream for all, and for another set a new stream is opened before the old one is closed, so that nothing is missed.
 */
// edge: the SDK's subscriptions are promises
import type { Client } from "@modelcontextprotocol/client"
import { Deferred, Effect, Fiber, type Scope, Semaphore } from "effect"
import type { MCPFault } from "../client/faults.ts"
import type { SessionRequest } from "./sessionRequest.ts"

type Uris = ReadonlyArray<string>

const firstMs = 1000
const longestMs = 60_000

export const makeSubscriptions = (client: Client, request: SessionRequest, scope: Scope.Scope) => {
  const one = Semaphore.makeUnsafe(1)
  let watched: Uris = []
  let stream: Fiber.Fiber<void> | undefined

  const keepListening = Effect.fnUntraced(function* (uris: Uris, acknowledged: Deferred.Deferred<Uris, MCPFault>) {
    for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 2, longestMs)) {
      const begun = yield* Effect.result(
        request((it, options) => it.listen({ resourceSubscriptions: [...uris] }, options)),
      )
      if (begun._tag === "Failure") Deferred.doneUnsafe(acknowledged, Effect.fail(begun.failure))
      else {
        const subscription = begun.success
        Deferred.doneUnsafe(acknowledged, Effect.succeed(subscription.honoredFilter.resourceSubscriptions ?? []))
        const ended = yield* Effect.onInterrupt(
          Effect.promise(() => subscription.closed),
          () => Effect.promise(() => subscription.close()),
        )
        if (ended === "local") return
        waitMs = firstMs
      }
      yield* Effect.sleep(waitMs)
    }
  })

  const listen = Effect.fnUntraced(function* (uris: Uris) {
    const last = stream
    if (uris.length === 0) stream = undefined
    const acknowledged = Deferred.makeUnsafe<Uris, MCPFault>()
    if (uris.length > 0) stream = yield* Effect.forkIn(keepListening(uris, acknowledged), scope)
    const honoured = uris.length === 0 ? [] : yield* Deferred.await(acknowledged)
    if (last !== undefined) yield* Effect.forkIn(Fiber.interrupt(last), scope)
    return honoured
  })

  const subscribe = Effect.fnUntraced(function* (uris: Uris) {
    const kept: Array<string> = []
    for (const uri of uris) {
      if (watched.includes(uri)) kept.push(uri)
      // A refused subscription does not affect the others.
      else if (yield* Effect.isSuccess(request((it, options) => it.subscribeResource({ uri }, options)))) kept.push(uri)
    }
    for (const uri of watched)
      if (!uris.includes(uri)) yield* Effect.ignore(request((it, options) => it.unsubscribeResource({ uri }, options)))
    return kept
  })

  /** From now on exactly these; returns those that the server will report. */
  return (uris: Uris): Effect.Effect<Uris, MCPFault> =>
    one.withPermit(
      Effect.suspend(() => {
        if (client.getServerCapabilities()?.resources?.subscribe !== true) return Effect.succeed<Uris>([])
        return client.getProtocolEra() === "modern" ? listen(uris) : subscribe(uris)
      }).pipe(Effect.tap((honoured) => Effect.sync(() => void (watched = honoured)))),
    )
}
