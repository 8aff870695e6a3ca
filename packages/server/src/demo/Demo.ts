/**
 * The demo office of a new house: made once, after the doors are open, and removed on request. Everything in it is made
 * through the services that people use themselves; of the other rooms only the doors know about the demo.
 */
import {
  BadInput,
  type Caller,
  Demo as Shown,
  type DemoChange,
  FirstStep,
  type Forbidden,
  type PrincipalId,
  type SpaceId,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { Agents } from "../access/identity/Agents.ts"
import { Principals } from "../access/identity/Principals.ts"
import { Grants } from "../access/rights/Grants.ts"
import { viewerOfAll } from "../access/rights/Viewer.ts"
import { Languages } from "../models/Languages.ts"
import { Spend } from "../runs/spend/Spend.ts"
import { causedBy, newCorrelation } from "../store/journal/Correlation.ts"
import { Journal } from "../store/journal/Journal.ts"
import { layerGuide } from "./guide.ts"
import { limitsWithin, makeSetup } from "./setup.ts"
import { scriptedModel, vendors } from "./declarations.ts"
import { makeRemoval } from "./removal.ts"
import { makeRows } from "./rows.ts"

/** The displayed name of the scripted model. */
const scripted = "scripted"
const shownModel = (name: string): string => (name === scriptedModel ? scripted : name)

export class Demo extends Context.Service<
  Demo,
  {
    /** Reading needs the right to read the demo; changing and removing it, to administer it. */
    readonly get: Effect.Effect<Shown, Forbidden, Caller>
    /** The space in which it begins, while it exists. */
    readonly space: Effect.Effect<SpaceId | null>
    readonly change: (change: DemoChange) => Effect.Effect<Shown, BadInput | WrongState | Forbidden, Caller>
    readonly remove: Effect.Effect<void, WrongState | Forbidden, Caller>
    /** At a start: makes the demo if it is wanted and the house is new, and continues interrupted work. */
    readonly open: (options: { readonly wanted: boolean }) => Effect.Effect<void>
  }
>()("server/demo/Demo") {
  static readonly layer = Layer.effect(
    Demo,
    Effect.gen(function* () {
      const journal = yield* Journal
      const rows = yield* makeRows
      const { finish, make, renew } = yield* makeSetup
      const removal = yield* makeRemoval
      const agents = yield* Agents
      const principals = yield* Principals
      const languages = yield* Languages
      const spend = yield* Spend
      const { require } = yield* Grants

      /**
       * A house is new if this is its first start, nothing was made in it, and it has no principals besides its admin.
       */
      const isNew = Effect.gen(function* () {
        if ((yield* journal.floor) > 0) return false
        const starts = yield* journal.read({ after: 0, limit: 2, kinds: ["house.started"] })
        const made = yield* journal.read({ after: 0, limit: 1, kinds: ["space.added", "tool.added", "server.added"] })
        return starts.length <= 1 && made.length === 0 && (yield* principals.list({ limit: 2 })).items.length <= 1
      })

      const open: Demo["Service"]["open"] = Effect.fn("Demo.open")(function* ({ wanted }) {
        const cause = { correlationId: newCorrelation(), actor: null, provenance: "house" } as const
        const state = (yield* rows.get)?.state
        if (state === "removing") return yield* causedBy(cause, removal.finish)
        if (state === "removed" || (state === undefined && !(wanted && (yield* isNew)))) return
        if (state === undefined && !(yield* Effect.orDie(causedBy(cause, make)))) return
        if (state === "on") yield* renew
        yield* Effect.orDie(causedBy(cause, finish))
      })

      const mine = Effect.map(rows.parts, (parts) =>
        parts.filter(({ kind }) => kind === "agent").map(({ ref }) => ref as PrincipalId),
      )

      const spentToday = Effect.gen(function* () {
        const ids = new Set<string>(yield* mine)
        const admin = yield* Effect.orDie(principals.get("admin"))
        const { items } = yield* spend.report(viewerOfAll(admin), 1)
        return items.filter(({ principal }) => ids.has(principal)).reduce((sum, { cost }) => sum + cost, 0)
      })

      /** The models that the file declares, and those of vendors whose key is set. */
      const choices = Effect.gen(function* () {
        const declared = (yield* languages.list).filter(
          ({ name, purpose }) => purpose === "thinking" && name !== scriptedModel && !Object.hasOwn(vendors, name),
        )
        const ofVendors = yield* Effect.forEach(Object.entries(vendors), ([name, model]) =>
          Effect.map(Effect.result(languages.reachable(name, model)), (reached) => ({
            name,
            ready: reached._tag === "Success",
            ...(reached._tag === "Success" ? {} : { problem: reached.failure }),
          })),
        )
        return [
          { name: scripted, ready: true },
          ...declared.map(({ name, problem, ready }) => ({
            name,
            ready,
            ...(problem === undefined ? {} : { problem }),
          })),
          ...ofVendors,
        ]
      })

      const shown = Effect.gen(function* () {
        const row = yield* rows.get
        const taken = new Map((yield* rows.steps).map(({ at, step }) => [step, at]))
        return new Shown({
          state: row?.state ?? "none",
          space: row?.state === "on" ? row.space : null,
          model: shownModel(row?.model ?? scriptedModel),
          models: yield* choices,
          budget: { perDay: (row?.budgetMicros ?? 0) / 1e6, spent: yield* spentToday },
          parts: (yield* rows.parts).map(({ kind, name }) => ({ kind, name })),
          steps: FirstStep.literals.map((step) => {
            const at = taken.get(step)
            return { step, at: at === undefined ? null : DateTime.makeUnsafe(at) }
          }),
        })
      })
      const get = Effect.andThen(require("read", "house/demo"), shown).pipe(Effect.withSpan("Demo.get"))

      const none = new WrongState({ detail: "There is no demo here. It is made once, when a new house starts." })

      const change: Demo["Service"]["change"] = Effect.fn("Demo.change")(function* (wanted) {
        yield* require("admin", "house/demo")
        const row = yield* rows.get
        if (row?.state !== "on") return yield* none
        const model = wanted.model === undefined ? row.model : wanted.model === scripted ? scriptedModel : wanted.model
        const budget = wanted.budget ?? row.budgetMicros / 1e6
        const all = yield* choices
        const known = all.find(({ name }) => name === shownModel(model))
        if (known === undefined || !known.ready)
          return yield* new BadInput({
            issues: [
              {
                path: "model",
                message:
                  known?.problem ??
                  `there is no model "${model}"; there are: ${all.map(({ name }) => name).join(", ")}`,
              },
            ],
          })
        yield* journal.transact(
          Effect.gen(function* () {
            const vendor = vendors[model]
            if (vendor !== undefined) {
              yield* Effect.orDie(languages.put(model, vendor))
              yield* rows.part("model", model, model)
            }
            for (const id of yield* mine)
              // A retired agent stays retired.
              yield* Effect.ignore(agents.change(id, { model, limits: limitsWithin(budget) }))
            yield* rows.setModel(model, Math.round(budget * 1e6))
            yield* journal.append({ kind: "demo.changed", body: { state: "on", step: null } })
          }),
        )
        return yield* shown
      })

      const remove = Effect.gen(function* () {
        yield* require("admin", "house/demo")
        if (!(yield* removal.begin)) {
          const state = (yield* rows.get)?.state
          if (state !== "removing") return yield* none
        }
        yield* removal.finish
      }).pipe(Effect.withSpan("Demo.remove"))

      const space = Effect.map(rows.get, (row) => (row?.state === "on" ? row.space : null))
      return Demo.of({ get, space, change, remove, open })
    }),
  ).pipe(Layer.merge(layerGuide))
}
