/** Everything the HTTP door serves: the API of the contract, its description, and the pages. */
import { Api, NoRoute } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { NodeRequest } from "../node/NodeRequest.ts"
import { problemResponse } from "../Problems.ts"
import { eventsHandlers } from "./handlers/Events.ts"
import { agentsHandlers, modelsHandlers } from "./handlers/Agents.ts"
import { allowListsHandlers } from "./handlers/AllowLists.ts"
import { auditHandlers } from "./handlers/Audit.ts"
import { callsHandlers, resultsHandlers } from "./handlers/Calls.ts"
import { chatSessionsHandlers } from "./handlers/ChatSessions.ts"
import { decisionsHandlers } from "./handlers/Decisions.ts"
import { limitsHandlers } from "./handlers/Limits.ts"
import { secretsHandlers } from "./handlers/Secrets.ts"
import { delegationsHandlers, grantsHandlers } from "./handlers/Grants.ts"
import { healthHandlers, houseHandlers, metricsHandlers } from "./handlers/House.ts"
import { hostsHandlers } from "./handlers/Hosts.ts"
import { mcpServersHandlers } from "./handlers/MCPServers.ts"
import { memoryHandlers } from "./handlers/Memory.ts"
import { messagesHandlers } from "./handlers/Messages.ts"
import { pageHandlers, sessionHandlers } from "./handlers/Page.ts"
import { pausesHandlers } from "./handlers/Pauses.ts"
import { principalsHandlers } from "./handlers/Principals.ts"
import { deadLettersHandlers, runsHandlers, waitsHandlers } from "./handlers/Runs.ts"
import { spacesHandlers } from "./handlers/Spaces.ts"
import { tokensHandlers } from "./handlers/Tokens.ts"
import { toolsHandlers } from "./handlers/Tools.ts"
import { walletHandlers } from "./handlers/Wallet.ts"
import { builtPage } from "./builtPage.ts"
import { decisionPage } from "./decisionPage.ts"
import { layerIdempotency } from "./Idempotency.ts"
import { layerReading } from "./Reading.ts"
import { pages } from "./pages.ts"
import { layerSmallBody } from "./SmallBody.ts"
import { layerSubmitting } from "./Submitting.ts"

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
  sessionHandlers,
)

const elsewhere = HttpRouter.add(
  "*",
  "/*",
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const { method, target } = request as NodeRequest
    // A person who opens an address of the page gets the page, which knows its own ways; programs get a problem.
    const isPerson = method === "GET" && (request.headers["accept"] ?? "").includes("text/html")
    if (isPerson && !/^\/(?:api|mcp|assets|d|docs)(?:\/|$)/.test(target.path)) return builtPage(request.cookies)
    return problemResponse(new NoRoute({ method, path: target.path }))
  }),
)

export const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }),
  pages,
  decisionPage,
  elsewhere,
).pipe(Layer.provide(handlers), Layer.provide([layerReading, layerIdempotency, layerSubmitting, layerSmallBody]))
