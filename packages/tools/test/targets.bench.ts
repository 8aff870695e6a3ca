/** Seed 004's targets with a thousand tools. `npx vitest bench --run` runs them; a target that is missed fails. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { defaultToolsConfig, identityStandard, Road } from "../src/index.ts"
import { input } from "./kit.ts"
import { thousand, twentyArguments } from "./thousand.ts"

const registry = thousand()
const flat = registry.find("flat")!
const schema = registry.find("schema")!
const call = Effect.runSync(Road.begin(input({ toolName: "flat", arguments: twentyArguments })))
const authorized = (it: typeof call) =>
  Effect.flatMap(Road.authorize(identityStandard, it.principal, it.tool), (judgement) =>
    Road.judge(defaultToolsConfig, it, judgement),
  )

describe("targets with 1,000 tools", () => {
  it("S4-105 a look-up takes less than 1 ms", async ({ bench }) => {
    const { latency } = await bench("find, by name and by wire name", () => {
      registry.find("server-7/tool-997")
      registry.find("server-7__tool-997")
    }).run({ time: 500 })
    expect(latency.p99).toBeLessThan(1)
  })

  it("S4-106 validation of a tool with 20 parameters takes less than 2 ms", async ({ bench }) => {
    const list = await bench("validate, flat list", () => void Effect.runSync(Road.validate(flat, call))).run({
      time: 500,
    })
    const whole = await bench("validate, JSON Schema", () => void Effect.runSync(Road.validate(schema, call))).run({
      time: 500,
    })
    expect(list.latency.p99).toBeLessThan(2)
    expect(whole.latency.p99).toBeLessThan(2)
  })

  it("S4-107 authorization takes less than 5 ms", async ({ bench }) => {
    const { latency } = await bench("judge", () => Effect.runSync(authorized(call))).run({ time: 500 })
    expect(latency.p99).toBeLessThan(5)
  })

  it("S4-110 all tools in function-calling form take less than 5 ms, made anew", async ({ bench }) => {
    const cold = await bench("convert 1,000, made anew", () => {
      registry.remove("flat")
      Effect.runSync(registry.add(flat))
      registry.formats()
    }).run({ time: 500 })
    const cached = await bench("convert 1,000, cached", () => void registry.formats()).run({ time: 500 })
    expect(cold.latency.p99).toBeLessThan(5)
    expect(cached.latency.p99).toBeLessThan(0.05)
  })
})
