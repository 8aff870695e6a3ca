/** How often a principal may do a thing (G-10), or how many at once. The first rule that fits decides; one rule fits everything. */
import { Schema } from "effect"

export class Limit extends Schema.Class<Limit>("Limit")({
  /** A principal's name, `role:<role>`, or `*`. */
  principal: Schema.String,
  /**
   * `http` for requests, `kilobytes` for what their bodies hold, `tools/<name>` for calls, `calls/refused` for refused calls that are recorded one by one, `imports` for documents of tools; at once: `waits` for those that stay
   * with a call, `waits/messages` for those that wait to be spoken to. `*` stands for any run of characters.
   */
  resource: Schema.String,
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 })),
  /** 0: so many at once, however long each takes. */
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })),
  /** `owner`: an owner and all agents of theirs are counted together, beside whatever counts each of them. */
  per: Schema.optionalKey(Schema.Literals(["principal", "owner"])),
}) {}
