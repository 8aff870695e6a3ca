/** What crosses the wire, defined once and safe in a browser. */
export { Api } from "./Api.ts"
export { AgentState, MailKind, NewTeamAgent, TeamActivity, TeamAgent } from "./runs/Team.ts"
export {
  Agent,
  AgentChange,
  AgentLimits,
  type AgentModel,
  AgentRole,
  AgentThinker,
  type ProgramBounds,
  ProgramName,
} from "./runs/Agent.ts"
export { AccessContext, AllowList, AllowListChange } from "./access/rights/AllowList.ts"
export { AuditChain, AuditEntry, AuditResult } from "./access/Audit.ts"
export {
  Call,
  CallError,
  CallOrder,
  CallPreview,
  CallResult,
  CallRun,
  CallState,
  NewCall,
  WaitsOn,
} from "./tools/Call.ts"
export { Caller } from "./access/identity/Caller.ts"
export { Configuration, configurationSchema, EgressSection, type Policy } from "./house/Configuration.ts"
export { Demo, DemoChange, type DemoPartKind, DemoState, FirstStep } from "./house/Demo.ts"
export * from "./Errors.ts"
export {
  AnswerVerdict,
  Approval,
  Decision,
  DecisionKind,
  DecisionLink,
  DecisionState,
  NewAnswer,
} from "./decisions/Decision.ts"
export { extentOf, inputIn, nobodyMayAnswer, questionIn, reachWords } from "./decisions/decisionText.ts"
export { type DiffTextLine, diffTextLines, isDiff } from "./decisions/diffText.ts"
export { Reach, reachesFurther } from "./decisions/Reach.ts"
export { Delta } from "./Delta.ts"
export {
  Event,
  type EventBody,
  type EventKind,
  eventSchemas,
  kinds,
  type NewEvent,
  eventVersion,
  upgradedBody,
} from "./Event.ts"
export { FaceName, faces, inputOf, nameOfEvent, nameOn, wireEventOn, wireMessageOn } from "./Faces.ts"
export { exactLines, quoted, visible, visibleJson, visibleLines, visibleValue } from "./decisions/foreignText.ts"
export {
  actions,
  agentRoles,
  longestDelegationHours,
  personRoles,
  principalKinds,
  type Resource,
  type ResourceKind,
  resourceKinds,
  verdicts,
} from "./access/rightsWords.ts"
export { Provenance } from "./access/Provenance.ts"
export { FoundMessage, largestText, Message, type MessageCall, type NewMessage } from "./spaces/Message.ts"
export { emojiOf, mostReactions, notAnEmoji } from "./spaces/Reaction.ts"
export {
  Member,
  type MemberRole,
  type NewSpace,
  Space,
  type SpaceChange,
  SpaceKind,
  TriggerRule,
} from "./spaces/Space.ts"
export { ChatSession, ChatSessionChange, NewChatSession } from "./spaces/ChatSession.ts"
export { EngramType } from "./memory/Engram.ts"
export { type AgentCost, Figures, type HouseFacts, maxDays, maxPoints, type Need, NeedKind } from "./house/Figures.ts"
export { File } from "./spaces/File.ts"
export {
  Action,
  Delegation,
  type FittingRule,
  type Gate,
  type GateName,
  Grant,
  Judgement,
  NewDelegation,
  NewGrant,
  Verdict,
} from "./access/rights/Grant.ts"
export { Acceptable, type Finding, Report } from "./house/Report.ts"
export { WaitingChange } from "./access/rights/WaitingChange.ts"
export { Host, HostDeclaration, HostedCall, HostedEnd, HostedTool } from "./tools/Host.ts"
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
  messageIdOf,
  principalIdOf,
  MessageRef,
  withoutPrefix,
  Moment,
  PrincipalId,
  RunId,
  SpaceId,
  TimerId,
  TokenId,
  WalletChallengeId,
} from "./Ids.ts"
export { Start } from "./api/house/Page.ts"
export { WalletChallenge, type WalletSignature } from "./access/identity/Wallet.ts"
export * from "./memory/Memory.ts"
export * from "./memory/MemoryFiles.ts"
export * from "./memory/MemoryLine.ts"
export { type HouseKind, houseKindOf, houseKinds, mayUse, type MemoryAct } from "./memory/memoryRights.ts"
export * from "./runs/Prompt.ts"
export { isObject, isTooDeep, type JsonObject, own } from "./json.ts"
export { Limit } from "./access/Limit.ts"
export type { Page, PageQuery } from "./Page.ts"
export { type MCPServerSpec, type NewMCPServer, specOf, type ToolReview } from "./tools/servers/MCPServerSpec.ts"
export { MCPServerFigures } from "./tools/servers/MCPServerFigures.ts"
export { MCPServerLine, MCPServerLook, MCPServerProgram } from "./tools/servers/MCPServerLook.ts"
export { MCPServerState } from "./tools/servers/MCPServerState.ts"
export { MCPServerTool, serverOfTool } from "./tools/servers/MCPServerTool.ts"
export { DeclaredModel, Model, type ModelPrice, type ModelProvider } from "./runs/Model.ts"
export { NewPause, Pause } from "./access/Pause.ts"
export { NewPrincipal, Principal, PrincipalKind, Role, Source } from "./access/identity/Principal.ts"
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
export {
  hasPlaceholder,
  noPlaceholder,
  type Placeholder,
  placeholderAt,
  placeholdersIn,
  placeholderText,
} from "./tools/Placeholder.ts"
export {
  DeadLetter,
  Run,
  RunMessage,
  RunState,
  RunStep,
  RunWait,
  Spend,
  SpendReport,
  StopReason,
  TriggerKind,
} from "./runs/Run.ts"
export { Secret, SecretName, shortestSecret } from "./access/Secret.ts"
export { IssuedToken, NewToken, Token } from "./access/identity/Token.ts"
export { ListedSet, toolNames, ToolsetName } from "./tools/Toolset.ts"
export { toolsetNames } from "./tools/toolsetNames.ts"
export * from "./tools/Tool.ts"
export * from "./tools/ToolConfiguration.ts"
export { definitionOf, formOf, httpMethods, inputSchemaOf, parametersOf, riskOf } from "./tools/toolDefinition.ts"
export {
  Authentication,
  Idempotency,
  KnownQuery,
  Decoding,
  type ResultSignature,
  SmallBody,
  Submitter,
  Submitting,
  TakesSignature,
} from "./api/guards.ts"
export { PrincipalChange } from "./api/access/Principals.ts"
export { ImportReport, type LeftOutTool, ToolView } from "./api/tools/Tools.ts"
