/** code-execute: JavaScript in the sandbox. There is no shell in it, so there are no commands to block. */
import type { ToolDefinition } from "@stoa/contract"
import { Effect } from "effect"
import type { Tool } from "../Handler.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { choice, text } from "./argument.ts"

const name = "code-execute"

const definition: ToolDefinition = {
  name,
  description:
    "Run JavaScript and get the value of its last expression (or of a top-level return; await works) and what it logged. Pure computation: there is no shell, network, file, module, timer or environment in it; 32 MiB of memory, 29 s, 64 KiB of output.",
  parameters: [
    { name: "code", type: "string", description: "The JavaScript to run", required: true },
    {
      name: "language",
      type: "string",
      description: "The language of the code",
      required: false,
      default: "javascript",
      enum: ["javascript"],
    },
  ],
  category: "code",
  riskLevel: "critical",
  timeoutMs: 30_000,
  requiresApproval: true,
  source: "builtin",
}

export const codeExecute: Tool = {
  definition,
  handler: Effect.fn("code-execute")(function* (args, { principal }) {
    const code = yield* text(name, args, "code")
    yield* choice(name, args, "language", ["javascript"], "javascript")
    const { logs, truncated, value } = yield* (yield* Sandbox).run(code, { tool: name, by: principal })
    return { result: value, logs, ...(truncated ? { truncated } : {}) }
  }),
}
