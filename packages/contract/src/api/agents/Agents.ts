import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Agent, AgentChange } from "../../runs/Agent.ts"
import {
  Ambiguous,
  BadInput,
  Forbidden,
  Missing,
  NameTaken,
  OwnedByFile,
  TooLarge,
  TooManyRequests,
  WrongState,
} from "../../Errors.ts"
import { RunId } from "../../Ids.ts"
import { Model } from "../../runs/Model.ts"
import { pageOfMany } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { Prompt } from "../../runs/Prompt.ts"
import { problem } from "../../Problem.ts"
import { NewTrigger } from "../../runs/Run.ts"
import { NewTeamAgent, TeamActivity, TeamAgent } from "../../runs/Team.ts"
import { TakesSignature } from "../guards.ts"
import { Message, NewMessage } from "../../spaces/Message.ts"

const ref = { agent: PrincipalRef }
const MessageText = NewMessage.fields.text

/** What an agent has besides its identity. The list of agents is among the principals. */
export class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("tree", "/agents/tree", { success: pageOfMany(TeamAgent) }),
    HttpApiEndpoint.get("inspect", "/agents/:agent/activity", {
      params: ref,
      success: TeamActivity,
      error: [problem(Missing), problem(Forbidden)],
    }),
    HttpApiEndpoint.post("spawn", "/agents/:agent/spawn", {
      params: ref,
      payload: NewTeamAgent,
      success: Agent.pipe(HttpApiSchema.status(201)),
      error: [problem(Missing), problem(WrongState), problem(BadInput), problem(NameTaken), problem(Forbidden)],
    }),
    HttpApiEndpoint.post("say", "/agents/:agent/say", {
      params: ref,
      payload: Schema.Struct({ text: MessageText }),
      success: Message.pipe(HttpApiSchema.status(201)),
      error: [problem(Missing), problem(WrongState), problem(Forbidden), problem(TooLarge)],
    }),
    HttpApiEndpoint.post("stop", "/agents/:agent/stop", {
      params: ref,
      payload: Schema.Struct({ remove: Schema.optionalKey(Schema.Boolean) }),
      success: Schema.Struct({ stopped: Schema.Int }),
      error: [problem(Missing), problem(WrongState), problem(OwnedByFile), problem(Forbidden)],
    }),
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
      error: [
        problem(Missing),
        problem(Ambiguous),
        problem(WrongState),
        problem(Forbidden),
        problem(BadInput),
        problem(TooManyRequests),
      ],
    }).annotate(TakesSignature, true),
  )
  .prefix("/api/v1") {}

export class ModelsApi extends HttpApiGroup.make("models")
  .add(HttpApiEndpoint.get("list", "/models", { success: pageOfMany(Model) }))
  .prefix("/api/v1") {}
