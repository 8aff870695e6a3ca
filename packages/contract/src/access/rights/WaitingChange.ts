/** A change of rights to which a second person must agree by policy (G-38): it is made when they have. */
import { Schema } from "effect"
import { DecisionId } from "../../Ids.ts"

export class WaitingChange extends Schema.Class<WaitingChange>("WaitingChange")({
  state: Schema.Literal("waiting"),
  on: Schema.Struct({ kind: Schema.Literal("decision"), id: DecisionId }),
}) {}
