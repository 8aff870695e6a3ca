/**
 * What a tool that speaks MCP said, kept beside its call: so that whoever shows the call to an MCP client does it in the
 * tool's own words, whenever that is.
 */
import type { Tool } from "@stoa/tools"
import { Effect, type Schema } from "effect"
import { Asked } from "../../upstreams/Asked.ts"
import { Meta, serverSaid } from "../kinds/Kind.ts"
import type { CallRow } from "./rows.ts"

type JsonObject = Readonly<Record<string, unknown>>

const longestSaid = 64 * 1024

/** Notes that a result is in MCP's shape, and what a failure was in the tool's own words: the `cause` of its error. */
export const keepingSaid = (tool: Tool): Tool => ({
  ...tool,
  handler: (args, context) =>
    Effect.tap(tool.handler(args, context), (result) =>
      result instanceof Asked ? Effect.void : Effect.map(Meta, (meta) => meta.set(serverSaid, true)),
    ).pipe(
      Effect.tapError(({ cause }) =>
        Effect.map(Meta, (meta) => {
          const text = cause === undefined ? undefined : JSON.stringify(cause)
          if (text !== undefined && text.length <= longestSaid) meta.set(serverSaid, JSON.parse(text) as Schema.Json)
        }),
      ),
    ),
})

const said = ({ meta }: CallRow): unknown => (meta === null ? undefined : (JSON.parse(meta) as JsonObject)[serverSaid])

/** Whether what a call gave is a result in MCP's own shape. */
export const isSaidInMcp = (row: CallRow): boolean => said(row) === true

/** What the tool of a failed call said: a result that is an error, or a refusal. */
export const failureSaid = (row: CallRow): JsonObject | undefined => {
  const words = row.state === "failed" ? said(row) : undefined
  return typeof words === "object" && words !== null ? (words as JsonObject) : undefined
}
