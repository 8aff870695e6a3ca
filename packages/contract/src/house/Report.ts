/** What `stoa doctor` finds: one line per check, each with what to do. */
import { Schema } from "effect"

export const Finding = Schema.Struct({
  check: Schema.String,
  state: Schema.Literals(["ok", "warn", "fail"]),
  detail: Schema.String,
})
export type Finding = typeof Finding.Type

export class Report extends Schema.Class<Report>("Report")({ findings: Schema.Array(Finding) }) {}

/** Findings that an operator may accept: that the clock is right, or why the audit trail was sealed again. */
export const Acceptable = Schema.Literals(["clock", "audit"])
export type Acceptable = typeof Acceptable.Type
