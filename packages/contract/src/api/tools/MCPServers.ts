import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, Missing, NameTaken, OwnedByFile, TooManyRequests, WrongState } from "../../Errors.ts"
import { MCPServerRef, NewMCPServer } from "../../tools/servers/MCPServerSpec.ts"
import { MCPServerFigures } from "../../tools/servers/MCPServerFigures.ts"
import { MCPServerLine, MCPServerLook } from "../../tools/servers/MCPServerLook.ts"
import { MCPServerState } from "../../tools/servers/MCPServerState.ts"
import { MCPServerTool } from "../../tools/servers/MCPServerTool.ts"
import { pageOfMany } from "../../Page.ts"
import { problem } from "../../Problem.ts"
import { createdResponses } from "../guards.ts"

const server = { server: MCPServerRef }

const Digest = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128)).annotateKey({
  messageMissingKey: "say what was looked at: the digest under `held` of GET /mcp-servers/:server/tools, in the query",
})

export class MCPServersApi extends HttpApiGroup.make("mcpServers")
  .add(
    HttpApiEndpoint.get("list", "/mcp-servers", { success: pageOfMany(MCPServerState) }),
    HttpApiEndpoint.get("get", "/mcp-servers/:server", {
      params: server,
      success: MCPServerState,
      error: problem(Missing),
    }),
    // Connecting takes seconds and writes what it finds, so it cannot be in the one transaction of the usual guard: the
    // room itself stores the key of the request.
    HttpApiEndpoint.post("add", "/mcp-servers", {
      payload: NewMCPServer,
      success: createdResponses(MCPServerState),
      error: [problem(NameTaken), problem(BadInput), problem(WrongState)],
    }),
    // Connects to an address for ten seconds at most, and stores nothing. A program is only shown; it is run when the
    // request is sent again with the digest of what was shown.
    HttpApiEndpoint.post("look", "/mcp-servers/look", {
      query: { confirm: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))) },
      payload: NewMCPServer,
      success: MCPServerLook,
      error: [problem(BadInput), problem(TooManyRequests)],
    }),
    HttpApiEndpoint.delete("remove", "/mcp-servers/:server", {
      params: server,
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(OwnedByFile)],
    }),
    HttpApiEndpoint.get("tools", "/mcp-servers/:server/tools", {
      params: server,
      success: pageOfMany(MCPServerTool),
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("log", "/mcp-servers/:server/log", {
      params: server,
      success: pageOfMany(MCPServerLine),
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("figures", "/mcp-servers/:server/figures", {
      params: server,
      success: MCPServerFigures,
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("accept", "/mcp-servers/:server/tools/:tool/accept", {
      params: { ...server, tool: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256)) },
      // The definition that was reviewed: later changes are not accepted with it.
      query: { digest: Digest },
      success: MCPServerState,
      error: [problem(Missing), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}
