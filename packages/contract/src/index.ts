/** What crosses the wire, in one definition that is safe in a browser. */
export { Api } from "./Api.ts"
export { Agent, AgentChange, AgentLimits, type AgentModel, AgentThinker } from "./Agent.ts"
export { AccessContext, AllowList, AllowListChange } from "./AllowList.ts"
export { AuditEntry, AuditResult } from "./Audit.ts"
export { Call, CallError, CallPreview, CallResult, CallRun, CallState, NewCall, WaitsOn } from "./Call.ts"
export { Caller } from "./Caller.ts"
export { Configuration, configurationSchema, EgressSection, type Policy } from "./Configuration.ts"
export * from "./Errors.ts"
export {
  AnswerVerdict,
  Approval,
  Decision,
  DecisionKind,
  DecisionLink,
  DecisionState,
  NewAnswer,
  Reach,
} from "./Decision.ts"
export { inputIn, questionIn } from "./decisionText.ts"
export {
  Delta,
  Event,
  type EventBody,
  type EventKind,
  eventSchemas,
  FaceName,
  faces,
  inputOf,
  kinds,
  nameOfEvent,
  nameOn,
  type NewEvent,
  eventVersion,
  upgradedBody,
} from "./Event.ts"
export { quoted, visible, visibleJson, visibleLines, visibleValue } from "./foreignText.ts"
export { Provenance } from "./Provenance.ts"
export { Emoji, FoundMessage, largestText, Message, type MessageCall, type NewMessage } from "./Message.ts"
export { Member, type MemberRole, type NewSpace, Space, type SpaceChange, SpaceKind, Trigger } from "./Space.ts"
export { ChatSession, ChatSessionChange, NewChatSession } from "./ChatSession.ts"
export { EngramType } from "./Engram.ts"
export { File } from "./File.ts"
export { Action, Delegation, Grant, Judgement, NewDelegation, NewGrant, Verdict } from "./Grant.ts"
export { Acceptable, type Finding, Report } from "./Report.ts"
export { WaitingChange } from "./WaitingChange.ts"
export { Host, HostDeclaration, HostedCall, HostedEnd, HostedTool } from "./Host.ts"
export {
  ApprovalId,
  CallId,
  ChatSessionId,
  CorrelationId,
  Cursor,
  DecisionId,
  DelegationId,
  FileId,
  GrantId,
  HostId,
  IdempotencyKey,
  MemoryId,
  MessageId,
  Moment,
  PrincipalId,
  RunId,
  SpaceId,
  TimerId,
  TokenId,
  WalletChallengeId,
} from "./Ids.ts"
export { Start } from "./api/Page.ts"
export { WalletChallenge, type WalletSignature } from "./Wallet.ts"
export * from "./Memory.ts"
export * from "./MemoryLine.ts"
export * from "./Prompt.ts"
export { isObject, isTooDeep, type JsonObject, own } from "./json.ts"
export { Limit } from "./Limit.ts"
export type { Page, PageQuery } from "./Page.ts"
export { type MCPServerSpec, type NewMCPServer, specOf, type ToolReview } from "./MCPServerSpec.ts"
export { MCPServerState } from "./MCPServerState.ts"
export { MCPServerTool } from "./MCPServerTool.ts"
export { DeclaredModel, Model, type ModelPrice, type ModelProvider } from "./Model.ts"
export { NewPause, Pause } from "./Pause.ts"
export { NewPrincipal, Principal, PrincipalKind, Role, Source } from "./Principal.ts"
export {
  bodyOf,
  contentType as problemType,
  firstIssues,
  type Issue,
  issuesOf,
  pageOf,
  problem,
  statusOf,
} from "./Problem.ts"
export { noPlaceholder, type Placeholder, placeholderAt, placeholdersIn, placeholderText } from "./Placeholder.ts"
export { Run, RunMessage, RunState, RunStep, RunWait, StopReason, TriggerKind } from "./Run.ts"
export { Secret, SecretName, shortestSecret } from "./Secret.ts"
export { IssuedToken, NewToken, Token } from "./Token.ts"
export { ListedSet, toolNames, ToolsetName } from "./Toolset.ts"
export * from "./Tool.ts"
export * from "./ToolConfiguration.ts"
export { definitionOf, formOf, inputSchemaOf, parametersOf } from "./toolDefinition.ts"
export { Authentication, Idempotency, Reading, Submitter, Submitting } from "./api/guards.ts"
export { PrincipalChange } from "./api/Principals.ts"
export { ImportReport, ToolView } from "./api/Tools.ts"
