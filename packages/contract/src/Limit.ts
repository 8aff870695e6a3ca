/** How often a principal may do a thing (G-10). The first rule that fits decides; one rule fits everything. */
import { Schema } from "effect"

export class Limit extends Schema.Class<Limit>("Limit")({
  /** A principal's name, `role:<role>`, or `*`. */
  principal: Schema.String,
  /** `http` for requests, `tools/<name>` for calls; `*` stands for any run of characters. */
  resource: Schema.String,
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 })),
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 })),
}) {}
