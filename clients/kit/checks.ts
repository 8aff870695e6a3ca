/** A list of checks, one line each as they end, and the house that they are made against. */
import { strict as assert } from "node:assert"
import { Home, type House } from "../../packages/cli/test/kit/home.ts"
import { stoa, type Isolation, type BlockingProxy } from "./isolation.ts"

export interface CheckContext {
  readonly home: Home
  readonly house: House
  /** Agents, by name. */
  readonly tokens: Readonly<Record<"Pam" | "Jim", string>>
  readonly isolation: Isolation
  readonly proxy: BlockingProxy
}

export type Check = readonly [name: string, check: (context: CheckContext) => Promise<void>]

export const mottoSchema = {
  type: "object",
  properties: { loud: { type: "boolean", description: "In capitals" } },
  additionalProperties: false,
}
const wipeSchema = { type: "object", properties: { folder: { type: "string" } }, required: ["folder"] }

const tools = [
  {
    name: "motto",
    description: "Says the motto of the house",
    inputSchema: mottoSchema,
    executionType: "internal",
    execution: { output: { motto: "festina lente" } },
  },
  {
    name: "wipe",
    description: "Wipes a folder, if a person says yes",
    inputSchema: wipeSchema,
    executionType: "internal",
    execution: { output: { wiped: "{{input.folder}}" } },
    requiresApproval: true,
  },
]

/** A house with two agents, a space and two tools, of which one needs a person. */
export const startHouse = async (isolation: Isolation, proxy: BlockingProxy): Promise<CheckContext> => {
  const home = new Home()
  const agents = ["Pam", "Jim"].map((name) => ({ name, toolsets: ["office", "stoa"] }))
  home.configure({ agents, tools })
  const house = await home.start()
  await house.admin.spaces.add({ name: "general", kind: "public", members: ["Pam", "Jim"] })
  const tokenOf = async (principal: string) => (await house.admin.tokens.add({ principal })).token
  return { home, house, tokens: { Pam: await tokenOf("Pam"), Jim: await tokenOf("Jim") }, isolation, proxy }
}

/** `stoa mcp` as a client's settings would have it. */
export const stdioOf = (token: string, { home, house }: CheckContext) => ({
  command: process.execPath,
  args: [stoa, "mcp"],
  env: { ...home.env, STOA_URL: house.url, STOA_TOKEN: token },
})

/** A person says yes to what waits. */
export const approve = async ({ house }: CheckContext, waiting: unknown): Promise<string> => {
  const { call, decision, state } = waiting as Record<"call" | "decision" | "state", string>
  assert.equal(state, "waiting")
  await house.admin.decisions.answer(decision, { verdict: "approve" })
  const settled = await house.admin.calls.get(call, { wait: 20 })
  assert.equal(settled.state, "done")
  return call
}

/** Runs them one after the other: they share two cores with the programs they start. */
export const runAll = async (checks: ReadonlyArray<Check>, context: CheckContext): Promise<number> => {
  let failed = 0
  for (const [name, check] of checks) {
    const began = performance.now()
    const took = () => `${((performance.now() - began) / 1000).toFixed(1)} s`
    try {
      await check(context)
      console.log(`ok   ${name}  (${took()})`)
    } catch (cause) {
      failed++
      console.log(
        `FAIL ${name}  (${took()})\n     ${String((cause as Error).stack ?? cause).replaceAll("\n", "\n     ")}`,
      )
    }
  }
  return failed
}
