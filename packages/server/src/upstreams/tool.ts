/** A server's tool as one of the house's: hidden from spaces, run here, never with anything of its caller's but the input. */
import { ToolExecutionError } from "@stoa/contract"
import { type MCPConnection, type MCPTool, mcpToolDefinition, type Tool } from "@stoa/tools"
import { Effect } from "effect"

export interface Behind {
  /** The connection, if this very tool may be called now. */
  readonly connection: () => MCPConnection | undefined
  /** Takes out of what the server says whatever it was told in confidence. */
  readonly hide: (value: unknown) => unknown
}

export const toolOf = (server: string, tool: MCPTool, behind: Behind): Tool => {
  const definition = {
    ...mcpToolDefinition(server, tool),
    visibility: "hidden",
    executionType: "gateway",
  } as const
  const toolName = definition.name
  return {
    definition,
    // The client has checked the part of the result that the schema speaks of.
    checksOutput: true,
    handler: (args, context) =>
      Effect.suspend(() => {
        const connection = behind.connection()
        if (connection === undefined)
          return new ToolExecutionError({
            message: `"${toolName}" cannot be called now: its server is gone or stopped, or the tool waits for review`,
            toolName,
            input: args,
          })
        return connection
          .callTool(tool.name, args, {
            meta: { "stoa/idempotencyKey": context.idempotencyKey },
            onProgress: ({ message, progress, total }) =>
              context.progress({
                progress,
                ...(total === undefined ? {} : { total }),
                ...(message === undefined ? {} : { message }),
              }),
          })
          .pipe(
            Effect.map(behind.hide),
            Effect.mapError(
              (error) =>
                new ToolExecutionError({
                  message: String(behind.hide(error.message)),
                  toolName,
                  input: args,
                  ...(error._tag === "ToolExecutionError" && error.cause !== undefined
                    ? { cause: behind.hide(error.cause) }
                    : {}),
                }),
            ),
          )
      }),
  }
}
