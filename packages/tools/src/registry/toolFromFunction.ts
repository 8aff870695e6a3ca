/** A native function as a tool (S4-79): sync, async or an Effect; a thrown error is its failure. */
import { type ToolDefinition, ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"
import type { CallContext, Tool } from "../Handler.ts"

type Native = (args: Readonly<Record<string, unknown>>, context: CallContext) => unknown

const failed = (tool: string, args: Readonly<Record<string, unknown>>) => (cause: unknown) =>
  cause instanceof ToolExecutionError
    ? cause
    : new ToolExecutionError({
        message: `${tool} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
        toolName: tool,
        input: args,
        cause,
      })

export const toolFromFunction = (
  definition: Omit<ToolDefinition, "source"> & { readonly source?: ToolDefinition["source"] },
  run: Native,
): Tool => ({
  definition: { ...definition, source: definition.source ?? "function" },
  handler: (args, context) => {
    const fail = failed(definition.name, args)
    return Effect.try({ try: () => run(args, context), catch: fail }).pipe(
      Effect.flatMap((made) => {
        if (Effect.isEffect(made)) return Effect.mapError(made as Effect.Effect<unknown, unknown>, fail)
        if (made instanceof Promise) return Effect.tryPromise({ try: () => made, catch: fail })
        return Effect.succeed(made)
      }),
    )
  },
})
