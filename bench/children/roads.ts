/**
 * A whole house in this process, and three ways to the same trivial tool: the governed call with its record, the road of
 * `@stoa/tools` that keeps nothing, and the store's own floor, one committed event and no tool at all.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Caller, type SpaceId } from "@stoa/contract"
import { ToolService, ToolServiceLive } from "@stoa/tools"
import { Effect, Layer, ManagedRuntime } from "effect"
import { Principals } from "../../packages/server/src/access/identity/Principals.ts"
import { Tokens } from "../../packages/server/src/access/identity/Tokens.ts"
import { Calls } from "../../packages/server/src/calls/Calls.ts"
import { layerHouse } from "../../packages/server/src/House.ts"
import { keysOf } from "../../packages/server/src/start/Opening.ts"
import { layerLog } from "../../packages/server/src/Log.ts"
import { Settings } from "../../packages/server/src/Settings.ts"
import { Folder } from "../../packages/server/src/store/Folder.ts"
import { Journal } from "../../packages/server/src/store/journal/Journal.ts"
import { type Delays, delaysOf } from "../kit/measure.ts"
import { hello } from "../mcp/mcpMessages.ts"
import { roomy } from "../processes.ts"
import { serveQuestions } from "./children.ts"

export type Road = "governed" | "road" | "floor"
export type RoadsQuestion =
  | { readonly do: "open"; readonly folder: string; readonly database?: string }
  | { readonly do: "drive"; readonly road: Road; readonly callers: number; readonly millis: number }
  | { readonly do: "close" }
export interface RoadsAnswer extends Delays {
  readonly perSecond: number
}

const layerAt = ({ database, folder }: Extract<RoadsQuestion, { readonly do: "open" }>) => {
  const [data, config] = [join(folder, "data"), join(folder, "config.json")]
  writeFileSync(config, JSON.stringify({ ...roomy, tools: [hello] }))
  const settings = Settings.layer({
    STOA_PORT: "0",
    STOA_DATA: data,
    STOA_CONFIG: config,
    ...(database === undefined ? {} : { DATABASE_URL: database }),
  })
  const ground = Layer.merge(Folder.layer(data), layerLog("none", false)).pipe(Layer.provideMerge(settings))
  return Layer.unwrap(Effect.map(keysOf, layerHouse)).pipe(Layer.provideMerge(ground))
}

const open = async (question: Extract<RoadsQuestion, { readonly do: "open" }>) => {
  const house = ManagedRuntime.make(layerAt(question))
  const bare = ManagedRuntime.make(ToolServiceLive)
  const made = Effect.gen(function* () {
    const { transact } = yield* Journal
    const agent = yield* transact((yield* Principals).add({ kind: "agent", name: "caller" }))
    return yield* (yield* Tokens).callerNow(agent.id, "agent")
  })
  const caller = await house.runPromise(made)
  const [calls, journal, tools] = [
    await house.runPromise(Calls),
    await house.runPromise(Journal),
    await bare.runPromise(ToolService),
  ]
  const { description, execution, inputSchema, name } = hello
  const definition = {
    name,
    description,
    parameters: [],
    inputSchema,
    riskLevel: "low",
    timeoutMs: 30_000,
    requiresApproval: false,
    source: "function",
  } as const
  await bare.runPromise(tools.register(definition, () => Effect.succeed(execution.output)))
  const input = { word: "x" }
  const asked = { toolName: name, arguments: input, agentId: caller.principal.id, sessionId: "" }
  const governed = Effect.provideService(calls.call({ tool: name, input }), Caller, caller)
  // A kind that no reader follows: its cost is the commit and nothing behind it.
  const space = "spc_00000000-0000-4000-8000-000000000000" as SpaceId
  const floor = journal.transact(
    journal.append({ kind: "space.read", body: { space, principal: caller.principal.id, seq: 1 } }),
  )
  const roads: Record<Road, () => Promise<unknown>> = {
    governed: () => house.runPromise(governed),
    road: () => bare.runPromise(tools.execute(asked)),
    floor: () => house.runPromise(floor),
  }
  const close = async () => {
    await bare.dispose()
    await house.dispose()
  }
  return { roads, close }
}

let opened: Awaited<ReturnType<typeof open>> | undefined

/** So many callers, each with the next call as soon as its last is answered. */
const drive = async (once: () => Promise<unknown>, callers: number, millis: number): Promise<RoadsAnswer> => {
  const took: Array<number> = []
  const started = performance.now()
  const one = async () => {
    for (let now = performance.now(); now < started + millis;) {
      await once()
      const then = now
      now = performance.now()
      took.push(now - then)
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { perSecond: took.length / ((performance.now() - started) / 1000), ...delaysOf(took) }
}

serveQuestions(async (question: RoadsQuestion) => {
  if (question.do === "drive") return drive(opened!.roads[question.road], question.callers, question.millis)
  if (question.do === "open") opened = await open(question)
  else await opened!.close()
  return {}
})
