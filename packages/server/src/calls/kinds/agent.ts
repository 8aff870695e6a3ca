/** A sub-agent: its configuration is checked, and its calls are refused until there are durable runs. */
import { ToolExecutionError } from "@stoa/contract"
import type { Kind } from "./Kind.ts"

export const agentKind: Kind<"agent"> = {
  effects: "outside",
  handler: (tool) => () =>
    new ToolExecutionError({
      message: `"${tool.form.name}" is a sub-agent, and this version has no durable runs for it to work in yet. Nothing was started`,
      toolName: tool.form.name,
    }),
  preview: () => null,
}
