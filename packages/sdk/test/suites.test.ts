/** The suites of the seeds' contracts against a house, and against servers that break one: they must notice. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  engramsSuite,
  gatewaySuite,
  mcpParty,
  type Office,
  officeSuite,
  type Party,
  startHouse,
  type TestHouse,
} from "@stoa/sdk/testing"

let house: TestHouse
beforeAll(async () => {
  house = await startHouse()
})
afterAll(() => house.stop())

let made = 0
const someone = async (toolset: "office" | "gateway" | "engrams", more: object = {}) => {
  const { id } = await house.admin.principals.add({
    kind: "agent",
    name: `${toolset}-${++made}`,
    toolsets: [toolset],
    ...more,
  })
  const { token } = await house.admin.tokens.add({ principal: id })
  return { id, party: await mcpParty({ url: `${house.url}/mcp/${toolset}`, token }) }
}
const space = async (...members: ReadonlyArray<{ readonly id: string }>) =>
  (await house.admin.spaces.add({ name: `space-${++made}`, kind: "private", members: members.map(({ id }) => id) })).id

const pair = async (toolset: "office" | "gateway") => {
  const [one, other] = [await someone(toolset), await someone(toolset)]
  return { one: one.party, other: other.party, shared: await space(one, other), closed: await space(other) }
}
const office = async (): Promise<Office> => {
  const { shared, ...rest } = await pair("office")
  return { ...rest, channel: shared }
}

describe("a house holds each seed's contract", () => {
  for (const { run, title } of officeSuite(office)) it(`office: ${title}`, () => expect(run()).resolves.toBeUndefined())
  for (const { run, title } of gatewaySuite(async () => {
    const { shared, ...rest } = await pair("gateway")
    return { ...rest, space: shared }
  }))
    it(`gateway: ${title}`, () => expect(run()).resolves.toBeUndefined())
  for (const { run, title } of engramsSuite(async () => {
    const [wallet, otherWallet] = [`0xone${++made}`, `0xother${made}`]
    const [one, other] = [await someone("engrams", { wallet }), await someone("engrams", { wallet: otherWallet })]
    return { one: one.party, other: other.party, wallet, otherWallet }
  }))
    it(`engrams: ${title}`, () => expect(run()).resolves.toBeUndefined())
})

/** One tool's answers, changed. */
const broken = (party: Party, tool: string, value: unknown, isError = false): Party => ({
  ...party,
  call: async (name, input) =>
    name === tool ? { isError, value, text: JSON.stringify(value) } : await party.call(name, input),
})

it("a server that breaks the contract is noticed, with what was found", async () => {
  const failing = async (change: (world: Office) => Office) => {
    const failed: Array<string> = []
    for (const { ids, run } of officeSuite(async () => change(await office())))
      await run().catch((error: Error) => failed.push(`${ids.join(" ")}: ${error.message}`))
    return failed
  }
  expect(await failing((world) => world)).toEqual([])
  const odd = await failing((world) => ({ ...world, one: broken(world.one, "do_nothing", { action: "something" }) }))
  expect(odd).toEqual([expect.stringMatching(/^S0-28: .*something/)])
  const open = await failing((world) => ({ ...world, one: broken(world.one, "send_message", { messageId: "m" }) }))
  expect(open.map((one) => one.split(":")[0])).toEqual(expect.arrayContaining(["S0-07 S0-08 S0-15", "S0-16"]))
})
