import { Schema } from "effect"

/** Where content came from (G-15). What is not `person` or `house` never raises privileges and never chooses approvers. */
export const Provenance = Schema.Literals(["person", "agent", "tool", "outside", "house"])
export type Provenance = typeof Provenance.Type
