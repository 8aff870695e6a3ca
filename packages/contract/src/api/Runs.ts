import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Ambiguous, Forbidden, Missing, WrongState } from "../Errors.ts"
import { RunId } from "../Ids.ts"
import { pageOfMany, pageQuery } from "../Page.ts"
import { PrincipalRef } from "../Principal.ts"
import { problem } from "../Problem.ts"
import { Run, RunMessage, RunState, RunStep } from "../Run.ts"

const ref = { run: RunId }

/** Agents' work: yours, that of agents you own; an admin sees everybody's. */
export class RunsApi extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("list", "/runs", {
      query: {
        ...pageQuery,
        agent: Schema.optionalKey(PrincipalRef),
        state: Schema.optionalKey(RunState),
        space: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
      },
      success: pageOfMany(Run),
      error: [problem(Missing), problem(Ambiguous), problem(Forbidden)],
    }),
    HttpApiEndpoint.get("get", "/runs/:run", { params: ref, success: Run, error: problem(Missing) }),
    HttpApiEndpoint.get("messages", "/runs/:run/messages", {
      params: ref,
      success: pageOfMany(RunMessage),
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("steps", "/runs/:run/steps", {
      params: ref,
      success: pageOfMany(RunStep),
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("cancel", "/runs/:run/cancel", {
      params: ref,
      success: Run,
      error: [problem(Missing), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}
