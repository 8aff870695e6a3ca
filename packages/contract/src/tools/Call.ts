/** One attempt to use a tool, from receipt to settlement. It settles or it waits for exactly one thing. */
import { Schema } from "effect"
import { CallId, FileId, Moment, MomentOrNull, PrincipalId, SpaceId } from "../Ids.ts"

export const CallState = Schema.Literals([
  "received",
  "waiting",
  "running",
  "done",
  "failed",
  "refused",
  "canceled",
  "expired",
])
export type CallState = typeof CallState.Type

/** By when they were made. */
export const CallOrder = Schema.Literals(["oldest", "newest"])
export type CallOrder = typeof CallOrder.Type

/**
 * JSON that was just parsed from text, or is about to be serialised: there is nothing to check in it, and walking
 * hundreds of thousands of keys would block everybody else.
 */
const Parsed = Schema.Unknown as unknown as Schema.Codec<Schema.Json>
export const ParsedObject = Schema.Unknown.check(
  Schema.makeFilter((it) => (typeof it === "object" && it !== null && !Array.isArray(it)) || "must be an object"),
) as unknown as Schema.Codec<Readonly<Record<string, Schema.Json>>>

/** What a waiting call waits for: a person's verdict, a client's result, a callback from outside, a run, or replies. */
export const WaitsOn = Schema.Struct({
  kind: Schema.Literals(["decision", "client", "callback", "run", "reply"]),
  id: Schema.String,
})
export type WaitsOn = typeof WaitsOn.Type

/** The run a call is part of: the step that asked for it, and its place among the calls of that step. */
export const CallRun = Schema.Struct({ id: Schema.String, step: Schema.Int, place: Schema.Int })
export type CallRun = typeof CallRun.Type

/** Why it did not succeed, in words for the caller: one of the tool errors, by its tag. */
export const CallError = Schema.Struct({ tag: Schema.String, message: Schema.String })
export type CallError = typeof CallError.Type

/** A result that is too large to be carried along is stored as this file (G-30). */
const OutputFile = Schema.Struct({ file: FileId, size: Schema.Int, mediaType: Schema.String })

/** No class: every call is answered with one, and an instance costs as much as all its fields. */
export const Call = Schema.Struct({
  id: CallId,
  tool: Schema.String,
  state: CallState,
  input: Parsed,
  /** Present when done. A large one is `{file,size,mediaType}`, and `outputFile` says so. */
  output: Schema.optionalKey(Parsed),
  outputFile: Schema.optionalKey(OutputFile),
  /** What came with the output but is not part of it: the status and headers of an HTTP answer. */
  meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  error: Schema.optionalKey(CallError),
  /** Present while it waits. */
  on: Schema.optionalKey(WaitsOn),
  /** What its caller should know while it waits, such as that nobody may answer. Not in lists. */
  note: Schema.optionalKey(Schema.String),
  principal: PrincipalId,
  space: Schema.NullOr(SpaceId),
  /** Present if a run made it. */
  run: Schema.optionalKey(CallRun),
  /** The rule that allowed or refused it. */
  rule: Schema.NullOr(Schema.String),
  createdAt: Moment,
  settledAt: MomentOrNull,
}).annotate({ identifier: "Call" })
export type Call = typeof Call.Type

const unsettled: ReadonlyArray<CallState> = ["received", "waiting", "running"]

/** The answer to a call: settled (200), or not yet (202). */
export const SettledCall = Call.check(Schema.makeFilter((call) => !unsettled.includes(call.state)))
export const OpenCall = Call.check(Schema.makeFilter((call) => unsettled.includes(call.state)))

/** How long a caller wants to wait, in seconds. */
const Wait = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 300 }))

export const NewCall = Schema.Struct({
  input: Schema.optionalKey(ParsedObject),
  space: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
  wait: Schema.optionalKey(Wait),
  /** Judge and validate, show what would be sent, and run nothing (G-33). */
  dryRun: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "NewCall" })
export type NewCall = typeof NewCall.Type

/** What a call would do if it were not a dry run. */
export class CallPreview extends Schema.Class<CallPreview>("CallPreview")({
  dryRun: Schema.Literal(true),
  tool: Schema.String,
  input: Schema.Json,
  verdict: Schema.Literals(["allow", "ask"]),
  rule: Schema.String,
  /** Whether a person would be asked first. */
  asks: Schema.Boolean,
  /** What would be sent, without secrets; null if nothing leaves the house. */
  sends: Schema.Json,
}) {}

/** A result from outside: a client's, a hosted function's, or a signed callback's. */
export const CallResult = Schema.Struct({
  output: Schema.optionalKey(Parsed),
  error: Schema.optionalKey(
    Schema.Union([Schema.String, Schema.Struct({ message: Schema.String, tag: Schema.optionalKey(Schema.String) })]),
  ),
})
  .check(Schema.makeFilter((it) => "output" in it !== "error" in it || "must have exactly one of output and error"))
  .annotate({ identifier: "CallResult" })
export type CallResult = typeof CallResult.Type
