/** The first steps of a new user, ticked by events: a reader of the journal. */
import type { Event, FirstStep } from "@stoa/contract"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Languages } from "../models/Languages.ts"
import { becauseOf } from "../store/journal/Correlation.ts"
import { Journal } from "../store/journal/Journal.ts"
import { readerLayer } from "../store/journal/readers/Readers.ts"
import { makeRows } from "./rows.ts"

const stepOf = (event: Event): FirstStep | "models" | undefined => {
  switch (event.kind) {
    // A session is issued by the principal itself; other tokens are issued to others.
    case "token.issued":
      return event.actor === event.body.principal ? "signed-in" : undefined
    case "decision.answered":
      return "decided"
    case "client.connected":
      return "connected"
    case "house.reloaded":
    case "demo.changed":
      return event.kind === "demo.changed" && event.body.step !== null ? undefined : "models"
    default:
      return undefined
  }
}

const guide = Effect.gen(function* () {
  const rows = yield* makeRows
  // A step is ticked once: later events of its kind are ignored.
  const taken = new Set<string>((yield* rows.steps).map(({ step }) => step))
  return readerLayer({
    name: "first-steps",
    atomic: true,
    kinds: ["token.issued", "decision.answered", "client.connected", "house.reloaded", "demo.changed"],
    concerns: (event) => {
      const step = stepOf(event)
      return step !== undefined && !taken.has(step === "models" ? "model" : step)
    },
    handle: Effect.fnUntraced(function* (events: ReadonlyArray<Event>) {
      const journal = yield* Journal
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Languages
      const tick = Effect.fnUntraced(function* (step: FirstStep, event: Event) {
        const isFirst = yield* rows.step(step, DateTime.formatIso(event.at))
        yield* Effect.orDie(sql.afterCommit(Effect.sync(() => taken.add(step))))
        if (!isFirst) return
        const state = (yield* rows.get)?.state ?? "none"
        yield* journal.append({ kind: "demo.changed", body: { state, step } })
      })
      for (const event of events) {
        const step = stepOf(event)
        if (step === undefined) continue
        // A usable model of a vendor: from the file, or chosen for the demo.
        const has =
          step !== "models" ||
          (yield* list).some(
            ({ provider, purpose, ready }) => ready && purpose === "thinking" && provider !== "scripted",
          )
        if (has) yield* becauseOf(event, tick(step === "models" ? "model" : step, event))
      }
    }),
  })
})

export const layerGuide = Layer.unwrap(guide)
