/** The suites that test each seed's contract, for any test runner and any server that offers the seed's tools. */
export { type Engrams, engramsSuite } from "./engrams.ts"
export { type Gateway, gatewaySuite } from "./gateway.ts"
export { mcpToolClient } from "./mcp.ts"
export { type Office, officeSuite } from "./office.ts"
export { type Member, teamSuite, type TeamWorld } from "./team.ts"
export { type ServiceOutcome, type ServiceTool, type ServiceWorld, toolServiceSuite } from "./toolService.ts"
export { type ListedTool, type Outcome, type ToolClient, type SuiteCase, SuiteFailure } from "./suite.ts"
