/**
 * How often a principal may do something (G-10), or how many at once. The first matching rule decides; one rule matches
 * everything.
 */
import { Schema } from "effect"

export class Limit extends Schema.Class<Limit>("Limit")({
  /** A principal's name, `role:<role>`, or `*`. */
  principal: Schema.String,
  /**
   * `http` for requests, `kilobytes` for their bodies, `tools/<name>` for calls, `calls/refused` for refused calls that
   * are recorded individually, `imports` for documents of tools, `wakes` for agents that it wakes, `spend/cents` and
   * `spend/tokens` for what that costs by the day; at once: `waits` for requests that wait for a call, `waits/messages`
   * for those that wait for messages; `stored` for MiB in memory, which only this name means. `*` matches any
   * characters.
   */
  resource: Schema.String,
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000_000 })),
  /** 0: this many at once, however long each takes. */
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })),
  /** `owner`: an owner and all its agents are counted together, in addition to the limits of each. */
  per: Schema.optionalKey(Schema.Literals(["principal", "owner"])),
}) {}
