/** Agents that work for one another: a tree, with mail along its edges. */
import { Schema } from "effect"
import { Moment, PrincipalId } from "../Ids.ts"
import { Name, PrincipalRef } from "../access/identity/Principal.ts"
import { AgentRole } from "./Agent.ts"

/** The kind of a team message: `request` waits for its answer, `response` is one, `multicast` goes to all siblings. */
export const MailKind = Schema.Literals(["request", "response", "notification", "multicast", "error"])
export type MailKind = typeof MailKind.Type

/** Derived from its runs: busy if one works, else waiting if one waits, else idle; terminated if it has left. */
export const AgentState = Schema.Literals(["idle", "busy", "waiting", "terminated"])
export type AgentState = typeof AgentState.Type

/** One agent of the tree. */
export class TeamAgent extends Schema.Class<TeamAgent>("TeamAgent")({
  id: PrincipalId,
  name: Schema.String,
  role: AgentRole,
  state: AgentState,
  parent: Schema.NullOr(PrincipalId),
  children: Schema.Array(PrincipalId),
  /** How many agents are above it. */
  depth: Schema.Int,
  /** Its model, or the program that is started for each turn. */
  thinker: Schema.String,
  /** The program's own session, which its next turn resumes. */
  session: Schema.NullOr(Schema.String),
  /** How many messages are in its inbox. */
  inbox: Schema.Int,
  createdAt: Moment,
}) {}

export class TeamActivity extends Schema.Class<TeamActivity>("TeamActivity")({
  agent: TeamAgent,
  messages: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      from: Schema.String,
      to: Schema.NullOr(Schema.String),
      text: Schema.String,
      at: Moment,
    }),
  ),
  calls: Schema.Array(Schema.Struct({ id: Schema.String, tool: Schema.String, state: Schema.String, at: Moment })),
}) {}

export const NewTeamAgent = Schema.Struct({
  name: Name,
  instructions: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(32_768)),
  role: Schema.optionalKey(AgentRole),
  workspaceSubdir: Schema.optionalKey(Schema.NullOr(Schema.String.check(Schema.isMaxLength(1024)))),
  /** One of the programs its parent was given, by name; by default the parent's own. */
  program: Schema.optionalKey(PrincipalRef),
}).annotate({ identifier: "NewTeamAgent" })
export type NewTeamAgent = typeof NewTeamAgent.Type
