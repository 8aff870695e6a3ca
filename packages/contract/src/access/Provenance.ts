import { Schema } from "effect"

/** Where content came from (G-15). Only `person` and `house` can raise privileges or choose approvers. */
export const Provenance = Schema.Literals(["person", "agent", "tool", "outside", "house"])
export type Provenance = typeof Provenance.Type
