/** The demo office of a new house, and the first steps of a new user. */
import { Schema } from "effect"
import { ModelName } from "../runs/Model.ts"
import { MomentOrNull, SpaceId } from "../Ids.ts"

/** `none`: never made, `on`: it exists, `removing`: it is being removed, `removed`: it does not come back. */
export const DemoState = Schema.Literals(["none", "on", "removing", "removed"])
export type DemoState = typeof DemoState.Type

/** What a new user does first; each step is ticked once, by events in the house. */
export const FirstStep = Schema.Literals(["signed-in", "decided", "connected", "model"])
export type FirstStep = typeof FirstStep.Type

export const DemoPartKind = Schema.Literals(["agent", "space", "tool", "server", "model"])
export type DemoPartKind = typeof DemoPartKind.Type

const Dollars = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))

export class Demo extends Schema.Class<Demo>("Demo")({
  state: DemoState,
  /** The space it starts in. */
  space: Schema.NullOr(SpaceId),
  /** What its agents use: `scripted`, or a model of the house. */
  model: Schema.String,
  /** What they could use, and for each why it is not ready, if so. */
  models: Schema.Array(
    Schema.Struct({ name: Schema.String, ready: Schema.Boolean, problem: Schema.optionalKey(Schema.String) }),
  ),
  /** US dollars per day: the limit for all its agents together, and what they have spent today. */
  budget: Schema.Struct({ perDay: Schema.Finite, spent: Schema.Finite }),
  /** Everything it made, and that is removed with it. */
  parts: Schema.Array(Schema.Struct({ kind: DemoPartKind, name: Schema.String })),
  /** In the usual order; null: not done yet. */
  steps: Schema.Array(Schema.Struct({ step: FirstStep, at: MomentOrNull })),
}) {}

export const DemoChange = Schema.Struct({
  /** `scripted`, or one of `models`. */
  model: Schema.optionalKey(ModelName),
  /** US dollars per day, for all its agents together. */
  budget: Schema.optionalKey(Dollars),
})
export type DemoChange = typeof DemoChange.Type
