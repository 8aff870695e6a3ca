/** A host's function as a tool in the catalogue. Running it makes its call wait for the host. */
import {
  defaultVisibility,
  type HostedTool,
  parametersOf,
  riskOf,
  ToolExecutionError,
  type ToolDefinition,
} from "@stoa/contract"
import { digestOf } from "@stoa/tools"
import { Effect } from "effect"
import type { HostRow } from "./rows.ts"
import { type HouseTool, PendingResult } from "../road/Handler.ts"
import type { Traits } from "../catalogue/Traits.ts"

/** The default timeout of a function. */
const usual = 5 * 60_000
/** Putting a call into the waiting state is quick. */
const handing = 30_000

const definitionOf = (tool: HostedTool): ToolDefinition => ({
  name: tool.name,
  description: tool.description,
  parameters: parametersOf(tool.inputSchema),
  riskLevel: riskOf(tool),
  timeoutMs: handing,
  requiresApproval: tool.requiresApproval ?? false,
  source: "function",
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
  ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
  executionType: "external",
  visibility: tool.visibility ?? defaultVisibility.external,
})

export const hostedTool = (
  host: Pick<HostRow, "id" | "name" | "owner" | "shared">,
  tool: HostedTool,
  isThere: () => boolean,
): { readonly tool: HouseTool; readonly traits: Traits } => ({
  tool: {
    definition: definitionOf(tool),
    handler: () =>
      isThere()
        ? Effect.succeed(new PendingResult("callback", tool.timeoutMs ?? usual, host.id))
        : new ToolExecutionError({
            message: `The process that offers "${tool.name}" (host ${host.name}) is not connected, and nothing was run. Start it, then call again`,
            toolName: tool.name,
          }),
    // The result is checked when it arrives.
    checksOutput: true,
  },
  traits: {
    effects: "outside",
    reviewed: false,
    // The same definition from another host is another tool.
    targetDigest: digestOf([host.id, tool.approval ?? null]),
    preview: (input) => ({ host: host.name, tool: tool.name, input: input as never }),
    ...(tool.approval === undefined ? {} : { approval: tool.approval }),
    ...(host.shared ? {} : { owner: host.owner }),
  },
})
