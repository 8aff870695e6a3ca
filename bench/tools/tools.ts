/**
 * Tools: what governing a call costs. A trivial function called through ToolService, against calling it directly and
 * against the tool execution of the AI SDK and of Mastra. The library's own limits are in `targets.ts`.
 */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { Effect, Layer, ManagedRuntime } from "effect"
import { makeRecordMemory, RecordPort, ToolService, ToolServiceLive } from "../../packages/tools/src/index.ts"
import { definition, input } from "../../packages/tools/test/kit.ts"
import { ratio, spread, table } from "../kit/measure.ts"
import { installPeers, peers } from "../kit/peers.ts"

type Way = () => Promise<unknown>
const rounds = 5
const roundMillis = 700

/** Calls one after another for a while: calls a second. */
const rate = async (run: Way): Promise<number> => {
  const started = performance.now()
  let calls = 0
  while (performance.now() - started < roundMillis) {
    for (let n = 0; n < 100; n++) await run()
    calls += 100
  }
  return (calls / (performance.now() - started)) * 1000
}

interface Peers {
  readonly tool: (options: object) => {
    readonly inputSchema: unknown
    readonly execute: (args: unknown, options: object) => unknown
  }
  readonly createTool: (options: object) => { readonly execute: (args: unknown, context: object) => Promise<unknown> }
  readonly z: { readonly object: (shape: object) => unknown; readonly number: () => unknown }
  readonly utils: {
    readonly asSchema: (schema: unknown) => unknown
    readonly safeValidateTypes: (options: object) => Promise<{ readonly success: boolean; readonly value: unknown }>
  }
}

const loadPeers = async (): Promise<Peers> => {
  const here = createRequire(pathToFileURL(`${peers}package.json`))
  const load = (name: string, from = here) => import(pathToFileURL(from.resolve(name)).href) as Promise<never>
  const inAi = createRequire(pathToFileURL(here.resolve("ai")))
  const [{ tool }, { createTool }, { z }, utils] = await Promise.all([
    load("ai"),
    load("@mastra/core/tools"),
    load("zod"),
    load("@ai-sdk/provider-utils", inAi),
  ])
  return { tool, createTool, z, utils }
}

const add = ({ a, b }: { readonly a: number; readonly b: number }) => a + b

const waysOf = async (
  runtime: ManagedRuntime.ManagedRuntime<ToolService, never>,
): Promise<ReadonlyArray<readonly [string, Way]>> => {
  const { createTool, tool, utils, z } = await loadPeers()
  const shape = z.object({ a: z.number(), b: z.number() })
  const sdk = tool({ description: "Add", inputSchema: shape, execute: add })
  const schema = utils.asSchema(sdk.inputSchema)
  const mastra = createTool({
    id: "add",
    description: "Add",
    inputSchema: shape,
    execute: async (args: never) => add(args),
  })
  const tools = await runtime.runPromise(ToolService)
  await runtime.runPromise(tools.register(definition(), (args) => Effect.sync(() => add(args as never))))
  const args = { a: 2, b: 3 }
  const asked = input({ arguments: args })
  return [
    ["the handler alone", async () => add(args)],
    ["ToolService.execute", () => runtime.runPromise(tools.execute(asked))],
    [
      "AI SDK: validate, execute",
      async () => {
        const checked = await utils.safeValidateTypes({ value: args, schema })
        return sdk.execute(checked.value, { toolCallId: "call", messages: [] })
      },
    ],
    ["Mastra: tool.execute", () => mastra.execute(args, {})],
  ]
}

const perSecond = async (): Promise<string> => {
  const runtime = ManagedRuntime.make(Layer.provide(ToolServiceLive, Layer.succeed(RecordPort, makeRecordMemory())))
  const ways = await waysOf(runtime)
  const rates = new Map<string, Array<number>>(ways.map(([name]) => [name, []]))
  for (const [, run] of ways) await rate(run)
  for (let round = 0; round < rounds; round++) for (const [name, run] of ways) rates.get(name)!.push(await rate(run))
  await runtime.dispose()
  const ours = rates.get("ToolService.execute")!
  const rows = ways.map(([name]) => [
    name,
    spread(rates.get(name)!),
    name === "ToolService.execute" ? "1" : ratio(ours, rates.get(name)!),
  ])
  return `${rounds} rounds of ${roundMillis} ms each in turn, one call at a time. Ours judges, validates, records, audits, tells, traces and counts; the peers validate.\n\n${table(["way", "calls/s", "ours to it"], rows)}`
}

export const tools = async (): Promise<string> => {
  installPeers()
  return perSecond()
}
