import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Agent, AgentChange } from "../Agent.ts"
import { BadInput, Missing, OwnedByFile, WrongState } from "../Errors.ts"
import { Model } from "../Model.ts"
import { pageOfMany } from "../Page.ts"
import { PrincipalRef } from "../Principal.ts"
import { problem } from "../Problem.ts"

const ref = { agent: PrincipalRef }

/** What an agent has beside its identity. The list of agents is among the principals. */
export class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("get", "/agents/:agent", { params: ref, success: Agent, error: problem(Missing) }),
    HttpApiEndpoint.patch("change", "/agents/:agent", {
      params: ref,
      payload: AgentChange,
      success: Agent,
      error: [problem(Missing), problem(OwnedByFile), problem(WrongState), problem(BadInput)],
    }),
  )
  .prefix("/api/v1") {}

export class ModelsApi extends HttpApiGroup.make("models")
  .add(HttpApiEndpoint.get("list", "/models", { success: pageOfMany(Model) }))
  .prefix("/api/v1") {}
