import { Schema } from "effect"

/** For this call, for this run, or from now on: each reaches further than the one before. */
export const Reach = Schema.Literals(["once", "run", "always"])
export type Reach = typeof Reach.Type

export const reachesFurther = (one: Reach, other: Reach): boolean =>
  Reach.literals.indexOf(one) > Reach.literals.indexOf(other)
