/** The whole HTTP API. Doors serve it, the SDK and `/openapi.json` are derived from it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { EventsApi } from "./api/Events.ts"
import { AgentsApi, ModelsApi } from "./api/Agents.ts"
import { AllowListsApi } from "./api/AllowLists.ts"
import { AuditApi } from "./api/Audit.ts"
import { CallsApi, ResultsApi } from "./api/Calls.ts"
import { ChatSessionsApi } from "./api/ChatSessions.ts"
import { DecisionsApi } from "./api/Decisions.ts"
import { LimitsApi } from "./api/Limits.ts"
import { SecretsApi } from "./api/Secrets.ts"
import { DelegationsApi, GrantsApi } from "./api/Grants.ts"
import { Authentication, Reading } from "./api/guards.ts"
import { HealthApi, HouseApi, MetricsApi } from "./api/House.ts"
import { HostsApi } from "./api/Hosts.ts"
import { MCPServersApi } from "./api/MCPServers.ts"
import { MemoryApi } from "./api/Memory.ts"
import { MessagesApi } from "./api/Messages.ts"
import { PageApi, SessionApi } from "./api/Page.ts"
import { PausesApi } from "./api/Pauses.ts"
import { PrincipalsApi } from "./api/Principals.ts"
import { DeadLettersApi, RunsApi, WaitsApi } from "./api/Runs.ts"
import { WalletApi } from "./api/Wallet.ts"
import { withSummaries } from "./api/summaries.ts"
import { SpacesApi } from "./api/Spaces.ts"
import { TokensApi } from "./api/Tokens.ts"
import { ToolsApi } from "./api/Tools.ts"

export class Api extends HttpApi.make("stoa")
  .add(PrincipalsApi, TokensApi, GrantsApi, DelegationsApi, AllowListsApi, LimitsApi, SecretsApi, AuditApi)
  .add(HouseApi, MetricsApi, EventsApi, SpacesApi, MessagesApi, MCPServersApi)
  .add(ToolsApi, CallsApi, DecisionsApi, PausesApi, HostsApi, MemoryApi, AgentsApi, ModelsApi)
  .add(WaitsApi, DeadLettersApi, RunsApi, ChatSessionsApi, PageApi)
  .middleware(Authentication)
  .add(ResultsApi, WalletApi, SessionApi)
  .middleware(Reading)
  .add(HealthApi)
  .annotate(OpenApi.Transform, withSummaries)
  // A misspelt field is a fault. The first one ends the reading: the door looks for the others, where the body is small.
  .annotate(HttpApi.PayloadParseOptions, { errors: "first", onExcessProperty: "error" })
  .annotateMerge(
    OpenApi.annotations({ title: "Stoa", version: "1", description: "People, agents and tools in one place." }),
  ) {}
