import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Call } from "../../tools/Call.ts"
import { Ambiguous, BadInput, Forbidden, Missing, TooManyRequests, WrongState } from "../../Errors.ts"
import { RunId } from "../../Ids.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"
import {
  DeadLetter,
  Run,
  RunMessage,
  RunRetry,
  RunState,
  RunStep,
  RunToolResult,
  RunWait,
  SpendReport,
} from "../../runs/Run.ts"
import { createdResponses } from "../guards.ts"

const ref = { run: RunId }

/** Agents' runs: your own, and those of agents you own; an admin sees all. */
export class RunsApi extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("list", "/runs", {
      query: {
        ...pageQuery,
        agent: Schema.optionalKey(PrincipalRef),
        /** `live`: not ended. */
        state: Schema.optionalKey(Schema.Literals([...RunState.literals, "live"])),
        space: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
        /** This outermost run, and all runs that work for it. */
        root: Schema.optionalKey(RunId),
      },
      success: pageOfMany(Run),
      error: [problem(Missing), problem(Ambiguous), problem(Forbidden)],
    }),
    HttpApiEndpoint.get("spend", "/runs/spend", {
      query: {
        days: Schema.optionalKey(
          Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 366 })),
        ),
      },
      success: SpendReport,
    }),
    HttpApiEndpoint.get("get", "/runs/:run", { params: ref, success: Run, error: problem(Missing) }),
    HttpApiEndpoint.get("messages", "/runs/:run/messages", {
      params: ref,
      query: pageQuery,
      success: pageOfMany(RunMessage),
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("steps", "/runs/:run/steps", {
      params: ref,
      query: pageQuery,
      success: pageOfMany(RunStep),
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("retry", "/runs/:run/retry", {
      params: ref,
      // Without a body: from the beginning.
      payload: [RunRetry, Schema.Undefined],
      success: createdResponses(Run),
      error: [problem(Missing), problem(WrongState), problem(Forbidden), problem(TooManyRequests)],
    }),
    HttpApiEndpoint.post("toolResults", "/runs/:run/tool-results", {
      params: ref,
      payload: RunToolResult,
      success: Call,
      error: [problem(Missing), problem(WrongState), problem(BadInput), problem(Forbidden)],
    }),
    HttpApiEndpoint.post("cancel", "/runs/:run/cancel", {
      params: ref,
      success: Run,
      error: [problem(Missing), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}

/** Who waits for whose answer, visible to those who see the runs. */
export class WaitsApi extends HttpApiGroup.make("waits")
  .add(
    HttpApiEndpoint.get("list", "/runs/waits", { success: pageOfMany(RunWait) }),
    HttpApiEndpoint.post("release", "/waits/:wait/release", {
      params: { wait: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)) },
      success: RunWait,
      error: [problem(Missing), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}

const letter = { letter: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)) }

/** Events that could not be handled: an admin retries or dismisses them. */
export class DeadLettersApi extends HttpApiGroup.make("deadLetters")
  .add(
    HttpApiEndpoint.get("list", "/runs/dead-letters", { success: pageOfMany(DeadLetter), error: problem(Forbidden) }),
    HttpApiEndpoint.post("retry", "/dead-letters/:letter/retry", {
      params: letter,
      success: DeadLetter,
      error: [problem(Missing), problem(WrongState), problem(Forbidden)],
    }),
    HttpApiEndpoint.post("dismiss", "/dead-letters/:letter/dismiss", {
      params: letter,
      success: DeadLetter,
      error: [problem(Missing), problem(WrongState), problem(Forbidden)],
    }),
  )
  .prefix("/api/v1") {}
