import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Agent, AgentChange } from "../runs/Agent.ts"
import { Ambiguous, BadInput, Forbidden, Missing, OwnedByFile, WrongState } from "../Errors.ts"
import { RunId } from "../Ids.ts"
import { Model } from "../runs/Model.ts"
import { pageOfMany } from "../Page.ts"
import { PrincipalRef } from "../access/Principal.ts"
import { Prompt } from "../runs/Prompt.ts"
import { problem } from "../Problem.ts"
import { NewTrigger } from "../runs/Run.ts"

const ref = { agent: PrincipalRef }

/** What an agent has beside its identity. The list of agents is among the principals. */
export class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("get", "/agents/:agent", { params: ref, success: Agent, error: problem(Missing) }),
    HttpApiEndpoint.get("prompt", "/agents/:agent/prompt", { params: ref, success: Prompt, error: problem(Missing) }),
    HttpApiEndpoint.patch("change", "/agents/:agent", {
      params: ref,
      payload: AgentChange,
      success: Agent,
      error: [problem(Missing), problem(OwnedByFile), problem(WrongState), problem(BadInput)],
    }),
    HttpApiEndpoint.post("trigger", "/agents/:agent/trigger", {
      params: ref,
      payload: NewTrigger,
      success: Schema.Struct({ run: RunId }).pipe(HttpApiSchema.status(202)),
      error: [problem(Missing), problem(Ambiguous), problem(WrongState), problem(Forbidden)],
    }),
  )
  .prefix("/api/v1") {}

export class ModelsApi extends HttpApiGroup.make("models")
  .add(HttpApiEndpoint.get("list", "/models", { success: pageOfMany(Model) }))
  .prefix("/api/v1") {}
