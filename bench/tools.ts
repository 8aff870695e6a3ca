/**
 * Tools: what governing a call costs. A trivial function called through ToolService, against calling it directly and
 * against the tool execution of the AI SDK and of Mastra; and the seed's targets with a thousand tools.
 */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { Effect, Layer, ManagedRuntime } from "effect"
import {
  defaultToolsConfig,
  identityStandard,
  makeRecordMemory,
  RecordPort,
  Road,
  ToolService,
  ToolServiceLive,
} from "../packages/tools/src/index.ts"
import { definition, input } from "../packages/tools/test/kit.ts"
import { thousand, twentyArguments } from "../packages/tools/test/thousand.ts"
import { middle, number, ratio, spread, table } from "./measure.ts"
import { installPeers, peers } from "./peers.ts"

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

/** The middle of many: these take microseconds, and one look at the clock is as long. */
const micros = (run: () => void): number => {
  const batches = Array.from({ length: 200 }, () => {
    const started = performance.now()
    for (let n = 0; n < 50; n++) run()
    return ((performance.now() - started) / 50) * 1000
  })
  return middle(batches)
}

const targets = (): string => {
  const before = memory()
  const registry = thousand()
  const bytes = memory() - before
  const flat = registry.find("flat")!
  const schema = registry.find("schema")!
  const call = Effect.runSync(Road.begin(input({ toolName: "flat", arguments: twentyArguments })))
  const authorized = Effect.suspend(() =>
    Effect.flatMap(Road.authorize(identityStandard, call.principal, call.tool), (judgement) =>
      Road.judge(defaultToolsConfig, call, judgement),
    ),
  )
  const cold = () => {
    registry.remove("flat")
    Effect.runSync(registry.add(flat))
    registry.formats()
  }
  const figures: ReadonlyArray<readonly [string, number, () => void]> = [
    ["look-up", 1000, () => void registry.find("server-7__tool-997")],
    ["validation of 20 parameters, flat list", 2000, () => void Effect.runSync(Road.validate(flat, call))],
    ["validation of 20 parameters, JSON Schema", 2000, () => void Effect.runSync(Road.validate(schema, call))],
    ["authorization", 5000, () => Effect.runSync(authorized)],
    ["conversion of all, cached", 5000, () => void registry.formats()],
    ["conversion of all, made anew", 5000, cold],
  ]
  const rows = figures.map(([name, target, run]) => {
    const taken = micros(run)
    return [name, number(taken), number(target), `${number(target / taken)} x better`]
  })
  return `With 1,000 tools, middle of 200 batches; ${number(bytes / 1000 / 1000)} kB of memory a registered tool.\n\n${table(["what", "us", "the seed's target, us", "against it"], rows)}`
}

const memory = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

export const tools = async (): Promise<string> => {
  installPeers()
  return `${await perSecond()}\n\n${targets()}`
}
