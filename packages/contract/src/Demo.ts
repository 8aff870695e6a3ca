/** The demo office of a new house, and the first steps of whoever came to it. */
import { Schema } from "effect"
import { ModelName } from "./runs/Model.ts"
import { MomentOrNull, SpaceId } from "./Ids.ts"

/** `none`: never made, `on`: it is there, `removing`: it is being taken away, `removed`: it does not come back. */
export const DemoState = Schema.Literals(["none", "on", "removing", "removed"])
export type DemoState = typeof DemoState.Type

/** What a newcomer does first, each ticked once, by what happens in the house. */
export const FirstStep = Schema.Literals(["signed-in", "decided", "connected", "model"])
export type FirstStep = typeof FirstStep.Type

export const DemoPartKind = Schema.Literals(["agent", "space", "tool", "server", "model"])
export type DemoPartKind = typeof DemoPartKind.Type

const Dollars = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))

export class Demo extends Schema.Class<Demo>("Demo")({
  state: DemoState,
  /** Where it begins. */
  space: Schema.NullOr(SpaceId),
  /** What its agents think with: `scripted`, or a model of the house. */
  model: Schema.String,
  /** What they could think with, and why not yet where that is so. */
  models: Schema.Array(
    Schema.Struct({ name: Schema.String, ready: Schema.Boolean, problem: Schema.optionalKey(Schema.String) }),
  ),
  /** US dollars: what all its agents together may spend in a day, and have spent today. */
  budget: Schema.Struct({ perDay: Schema.Finite, spent: Schema.Finite }),
  /** Everything it made: what goes with it. */
  parts: Schema.Array(Schema.Struct({ kind: DemoPartKind, name: Schema.String })),
  /** In the order in which people take them; null: not yet. */
  steps: Schema.Array(Schema.Struct({ step: FirstStep, at: MomentOrNull })),
}) {}

export const DemoChange = Schema.Struct({
  /** `scripted`, or one of `models`. */
  model: Schema.optionalKey(ModelName),
  /** US dollars a day, for all its agents together. */
  budget: Schema.optionalKey(Dollars),
})
export type DemoChange = typeof DemoChange.Type
