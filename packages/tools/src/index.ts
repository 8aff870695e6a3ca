/** The governed tool library: definitions, registry, validation, the road of a call, and ToolService over them. */
export {
  type FunctionCallingTool,
  FunctionCallingToolSchema,
  inputSchemaOf,
  type JsonSchema,
  MCPConnectionError,
  type MCPRequest,
  MCPRequestSchema,
  type MCPResponse,
  MCPResponseSchema,
  type MCPServer,
  MCPServerSchema,
  ToolAuthorizationError,
  type ToolDefinition,
  ToolDefinitionSchema,
  ToolExecutionError,
  type ToolInput,
  ToolInputSchema,
  ToolNotFoundError,
  type ToolOutput,
  ToolOutputSchema,
  type ToolParameter,
  ToolParameterSchema,
  ToolTimeoutError,
  ToolValidationError,
} from "@stoa/contract"
export { toolFromFunction } from "./registry/toolFromFunction.ts"
export type { OpenAITool } from "./registry/functionCalling.ts"
export type { CallContext, Progress, Tool, ToolHandler } from "./Handler.ts"
export { validateToolInput } from "./schema/validateInput.ts"
export { MCPClient } from "./mcp/client/MCPClient.ts"
export type { MCPCallOptions, MCPConnection } from "./mcp/client/MCPConnection.ts"
export {
  type MCPExchange,
  type MCPLine,
  type MCPQuestion,
  MCPRefused,
  type MCPReply,
  MCPNoAnswer,
} from "./mcp/client/exchange/MCPExchange.ts"
export {
  discoverMCPServers,
  discoverMCPServersIn,
  type MCPDiscoveredServer,
  type MCPDiscovery,
  type MCPServersFound,
  readMCPServers,
} from "./mcp/client/MCPDiscovery.ts"
export { maxMessageBytes as maxMCPMessageBytes } from "./mcp/transport/boundedFetch.ts"
export { WholeResponse } from "./mcp/transport/WholeResponse.ts"
export { defaultMCPPorts, type MCPAuthorization, type MCPEvent, MCPPorts } from "./mcp/session/MCPPorts.ts"
export type { MCPServerConfig } from "./mcp/MCPServerConfig.ts"
export { defaultMCPSettings, MCPSettings } from "./mcp/MCPSettings.ts"
export {
  isMCPIconList,
  faultOfMCPResult,
  type MCPDroppedItem,
  repairMCPCompletion,
} from "./mcp/client/tools/MCPResult.ts"
export type { MCPTool } from "./mcp/client/tools/MCPTool.ts"
export { type MCPToolCall, mcpToolFailure, mcpToolResult } from "./mcp/client/tools/MCPToolCall.ts"
export { mcpTool, mcpToolDefinition } from "./mcp/client/tools/MCPToolDefinition.ts"
export { MCPUnreachable, PlainFailure } from "./mcp/client/MCPUnreachable.ts"
export {
  type Answer,
  auditListeners,
  AuditPort,
  type AuditRecord,
  type Call,
  type CallRecord,
  costListeners,
  CostsPort,
  type CostRecord,
  type Decisions,
  decisionsRefuse,
  DecisionsPort,
  eventListeners,
  EventsPort,
  type Failure,
  type Identity,
  identityStandard,
  IdentityPort,
  type OpenResult,
  type Question,
  type CallSettlement,
  type ToolEvent,
} from "./road/Ports.ts"
export { makeRecordMemory, RecordPort } from "./road/RecordMemory.ts"
export { type RegisteredTool, Registry, type ToolFilter } from "./registry/Registry.ts"
export { programEnvironment } from "./program/environment.ts"
export { isProgramHere } from "./program/lookup.ts"
export { openProgram, Program, type ProgramOptions } from "./program/Program.ts"
export * as Road from "./road/road.ts"
export { isTooDeep } from "./schema/plain.ts"
export { digestOf } from "./schema/schemaGuard.ts"
export { faultsIn, faultText, type SchemaFault } from "./schema/faults.ts"
export { checkValue, validateWithSchema } from "./schema/validateSchema.ts"
export { type AddressKind, addressKind, isPublicAddress } from "./egress/Address.ts"
export {
  checkHost,
  CurrentEgressPolicy,
  Egress,
  type EgressFault,
  type EgressRequest,
  type EgressResponse,
  type EgressService,
} from "./egress/Egress.ts"
export { defaultEgressPolicy, type EgressPolicy, type EgressReason, unopenable } from "./egress/Policy.ts"
export { Resolver, type ResolverService } from "./egress/Resolver.ts"
export {
  defaultSandboxOptions,
  Sandbox,
  type SandboxCall,
  type SandboxFault,
  sandboxLayer,
  type SandboxOptions,
  type SandboxResult,
  type SandboxService,
} from "./sandbox/Sandbox.ts"
export { runInTime } from "./sandbox/Timeout.ts"
export { builtinSkills } from "./skills/builtin.ts"
export { CurrentSearchProvider, providerOf, type SearchProvider, type SearchResult } from "./skills/Search.ts"
export {
  CurrentSkillsConfig,
  defaultSkillsConfig,
  type SearchName,
  type SkillsConfig,
  skillsConfigFromEnv,
} from "./skills/SkillsConfig.ts"
export { ToolService, ToolServiceBuiltin, ToolServiceLive, ToolServiceStrict } from "./ToolService.ts"
export { CurrentToolsConfig, defaultToolsConfig } from "./ToolsConfig.ts"
export {
  fileReadHandler,
  fileReadTool,
  makeMCPClient,
  makeSandbox,
  makeToolRegistry,
  ToolsConfig,
  webSearchHandler,
  webSearchTool,
} from "./seedNames.ts"
export { fromWireName, toWireName } from "./names/WireName.ts"
export { nearest } from "./names/nearest.ts"
export { isLongEnough, Redactor } from "./secrets/Redactor.ts"
export { spellingOf } from "./names/spelling.ts"
