import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Call, CallOrder, CallResult, CallState } from "../../tools/Call.ts"
import { BadInput, Forbidden, Missing, TooManyRequests, Unauthenticated, WrongState } from "../../Errors.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { problem } from "../../Problem.ts"
import { KnownQuery, Submitting } from "../guards.ts"

const ref = { call: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)) }

const Seconds = Schema.FiniteFromString.check(Schema.isBetween({ minimum: 0, maximum: 300 }))

export class CallsApi extends HttpApiGroup.make("calls")
  .add(
    HttpApiEndpoint.get("list", "/calls", {
      query: {
        ...pageQuery,
        state: Schema.optionalKey(CallState),
        tool: Schema.optionalKey(Schema.String),
        /** Oldest first by default. A cursor continues in the order it was made in. */
        order: Schema.optionalKey(CallOrder),
      },
      success: pageOfMany(Call),
    }),
    HttpApiEndpoint.get("get", "/calls/:call", {
      params: ref,
      query: { wait: Schema.optionalKey(Seconds) },
      success: Call,
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("cancel", "/calls/:call/cancel", {
      params: ref,
      success: Call,
      error: [problem(Missing), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}

/** Separate from the others: a signed callback has no token, and its signature is checked here instead. */
export class ResultsApi extends HttpApiGroup.make("results")
  .add(
    HttpApiEndpoint.post("submit", "/calls/:call/result", {
      params: ref,
      payload: CallResult,
      success: Call,
      error: [
        problem(Missing),
        problem(WrongState),
        problem(BadInput),
        problem(Forbidden),
        problem(Unauthenticated),
        problem(TooManyRequests),
      ],
    })
      .middleware(KnownQuery)
      .middleware(Submitting),
  )
  .prefix("/api/v1") {}
