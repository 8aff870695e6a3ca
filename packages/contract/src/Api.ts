/** The whole HTTP API. Doors serve it; the SDK and `/openapi.json` are derived from it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { DemoApi } from "./api/house/Demo.ts"
import { EventsApi } from "./api/house/Events.ts"
import { AgentsApi, ModelsApi } from "./api/agents/Agents.ts"
import { AllowListsApi } from "./api/access/AllowLists.ts"
import { AuditApi } from "./api/house/Audit.ts"
import { CallsApi, ResultsApi } from "./api/tools/Calls.ts"
import { ChatSessionsApi } from "./api/spaces/ChatSessions.ts"
import { DecisionsApi } from "./api/tools/Decisions.ts"
import { LimitsApi } from "./api/access/Limits.ts"
import { SecretsApi } from "./api/access/Secrets.ts"
import { DelegationsApi, GrantsApi } from "./api/access/Grants.ts"
import { Authentication, KnownQuery, Decoding } from "./api/guards.ts"
import { HealthApi, HouseApi, MetricsApi } from "./api/house/House.ts"
import { HostsApi } from "./api/tools/Hosts.ts"
import { MCPServersApi } from "./api/tools/MCPServers.ts"
import { MemoryApi } from "./api/spaces/Memory.ts"
import { MessagesApi } from "./api/spaces/Messages.ts"
import { PageApi, SessionApi } from "./api/house/Page.ts"
import { PausesApi } from "./api/access/Pauses.ts"
import { PrincipalsApi } from "./api/access/Principals.ts"
import { DeadLettersApi, RunsApi, WaitsApi } from "./api/agents/Runs.ts"
import { WalletApi } from "./api/access/Wallet.ts"
import { withSummaries } from "./api/summaries.ts"
import { SpacesApi } from "./api/spaces/Spaces.ts"
import { TokensApi } from "./api/access/Tokens.ts"
import { ToolsApi } from "./api/tools/Tools.ts"

export class Api extends HttpApi.make("stoa")
  .add(PrincipalsApi, TokensApi, GrantsApi, DelegationsApi, AllowListsApi, LimitsApi, SecretsApi, AuditApi)
  .add(HouseApi, MetricsApi, EventsApi, SpacesApi, MessagesApi, MCPServersApi)
  .add(ToolsApi, CallsApi, DecisionsApi, PausesApi, HostsApi, MemoryApi, AgentsApi, ModelsApi)
  .add(WaitsApi, DeadLettersApi, RunsApi, ChatSessionsApi, PageApi, DemoApi)
  .middleware(KnownQuery)
  .middleware(Authentication)
  .add(ResultsApi, WalletApi, SessionApi)
  .middleware(Decoding)
  .add(HealthApi)
  .annotate(OpenApi.Transform, withSummaries)
  // An unknown field is a fault. Decoding stops at the first fault; the door looks for the others if the body is small.
  .annotate(HttpApi.PayloadParseOptions, { errors: "first", onExcessProperty: "error" })
  .annotateMerge(
    OpenApi.annotations({ title: "Stoa", version: "1", description: "People, agents and tools in one place." }),
  ) {}
