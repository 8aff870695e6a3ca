/**
 * The MCP content of a tool's result, stored beside its call, so that an MCP client can be shown the tool's own content
 * at any time.
 */
import { Effect, type Schema } from "effect"
import { InputRequired } from "../../servers/InputRequired.ts"
import type { HouseTool } from "./Handler.ts"
import type { CallRow } from "./record/rows.ts"

type JsonObject = Readonly<Record<string, unknown>>

/** The key in a call's meta: true for a result in MCP's shape, or the content of a failed one. */
const note = "mcp"
const longest = 64 * 1024

/** Notes that a result is in MCP's shape, or the tool's own words about a failure: the `cause` of its error. */
export const withMCPNotes = (tool: HouseTool): HouseTool => ({
  ...tool,
  handler: (args, call) =>
    tool.handler(args, call).pipe(
      Effect.tap((result) =>
        Effect.sync(() => {
          if (!(result instanceof InputRequired)) call.meta.set(note, true)
        }),
      ),
      Effect.tapError(({ cause }) =>
        Effect.sync(() => {
          const text = cause === undefined ? undefined : JSON.stringify(cause)
          if (text !== undefined && text.length <= longest) call.meta.set(note, JSON.parse(text) as Schema.Json)
        }),
      ),
    ),
})

const noteOf = ({ meta }: CallRow): unknown => (meta === null ? undefined : (JSON.parse(meta) as JsonObject)[note])

/** Whether a call's output is a result in MCP's own shape. */
export const isMCPResult = (row: CallRow): boolean => noteOf(row) === true

/** What the tool of a failed call returned: a result that is an error, or a refusal. */
export const mcpFailure = (row: CallRow): JsonObject | undefined => {
  const said = row.state === "failed" ? noteOf(row) : undefined
  return typeof said === "object" && said !== null ? (said as JsonObject) : undefined
}
