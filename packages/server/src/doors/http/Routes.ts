/** Everything the HTTP door serves: the API of the contract, its description, and the pages. */
import { Api, NoRoute } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { NodeRequest } from "../node/NodeRequest.ts"
import { problemResponse } from "../Problems.ts"
import { demoHandlers } from "./handlers/house/Demo.ts"
import { eventsHandlers } from "./handlers/house/Events.ts"
import { agentsHandlers, modelsHandlers } from "./handlers/agents/Agents.ts"
import { allowListsHandlers } from "./handlers/access/AllowLists.ts"
import { auditHandlers } from "./handlers/house/Audit.ts"
import { callsHandlers, resultsHandlers } from "./handlers/tools/Calls.ts"
import { chatSessionsHandlers } from "./handlers/spaces/ChatSessions.ts"
import { decisionsHandlers } from "./handlers/tools/Decisions.ts"
import { limitsHandlers } from "./handlers/access/Limits.ts"
import { secretsHandlers } from "./handlers/access/Secrets.ts"
import { delegationsHandlers, grantsHandlers } from "./handlers/access/Grants.ts"
import { healthHandlers, houseHandlers, metricsHandlers } from "./handlers/house/House.ts"
import { hostsHandlers } from "./handlers/tools/Hosts.ts"
import { mcpServersHandlers } from "./handlers/tools/MCPServers.ts"
import { memoryHandlers } from "./handlers/spaces/Memory.ts"
import { messagesHandlers } from "./handlers/spaces/Messages.ts"
import { pageHandlers, sessionHandlers } from "./handlers/house/Page.ts"
import { pausesHandlers } from "./handlers/access/Pauses.ts"
import { principalsHandlers } from "./handlers/access/Principals.ts"
import { deadLettersHandlers, runsHandlers, waitsHandlers } from "./handlers/agents/Runs.ts"
import { spacesHandlers } from "./handlers/spaces/Spaces.ts"
import { tokensHandlers } from "./handlers/access/Tokens.ts"
import { toolsHandlers } from "./handlers/tools/Tools.ts"
import { walletHandlers } from "./handlers/access/Wallet.ts"
import { builtPage } from "./pages/builtPage.ts"
import { decisionPage } from "./pages/decisionPage.ts"
import { layerIdempotency } from "./guards/Idempotency.ts"
import { layerKnownQuery } from "./guards/KnownQuery.ts"
import { layerDecoding } from "./guards/Decoding.ts"
import { ownCards } from "./pages/cards/ownCards.ts"
import { pages } from "./pages/pages.ts"
import { layerSmallBody } from "./guards/SmallBody.ts"
import { layerSubmitting } from "./guards/Submitting.ts"

const handlers = Layer.mergeAll(
  principalsHandlers,
  tokensHandlers,
  grantsHandlers,
  delegationsHandlers,
  allowListsHandlers,
  limitsHandlers,
  secretsHandlers,
  auditHandlers,
  houseHandlers,
  metricsHandlers,
  healthHandlers,
  eventsHandlers,
  spacesHandlers,
  messagesHandlers,
  memoryHandlers,
  chatSessionsHandlers,
  walletHandlers,
  toolsHandlers,
  callsHandlers,
  resultsHandlers,
  decisionsHandlers,
  pausesHandlers,
  mcpServersHandlers,
  hostsHandlers,
  agentsHandlers,
  modelsHandlers,
  runsHandlers,
  waitsHandlers,
  deadLettersHandlers,
  pageHandlers,
  demoHandlers,
  sessionHandlers,
)

const elsewhere = HttpRouter.add(
  "*",
  "/*",
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const { method, target } = request as NodeRequest
    // A person who opens an address of the page gets the page, which has its own router; programs get a problem.
    const isPerson = method === "GET" && (request.headers["accept"] ?? "").includes("text/html")
    if (isPerson && !/^\/(?:api|mcp|assets|cards|d|docs)(?:\/|$)/.test(target.path)) return builtPage(request.cookies)
    return problemResponse(new NoRoute({ method, path: target.path }))
  }),
)

export const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }),
  pages,
  decisionPage,
  ownCards,
  elsewhere,
).pipe(
  Layer.provide(handlers),
  Layer.provide([layerKnownQuery, layerDecoding, layerIdempotency, layerSubmitting, layerSmallBody]),
)
