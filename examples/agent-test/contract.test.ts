/** The contract of the toolset `office`, held by a house: any other server of the toolset is tested in the same way. */
// #region contract
import { mcpToolClient, officeSuite, startHouse } from "@stoa/sdk/testing"
import { afterAll, expect, it } from "vitest"

const house = await startHouse()
afterAll(() => house.stop())

let made = 0
const agent = async () => {
  const { id } = await house.admin.principals.add({ kind: "agent", name: `agent-${++made}`, toolsets: ["office"] })
  const { token } = await house.admin.tokens.add({ principal: id })
  return { id, party: await mcpToolClient({ url: `${house.url}/mcp/office`, token }) }
}
const space = async (...members: ReadonlyArray<string>) =>
  (await house.admin.spaces.add({ name: `space-${++made}`, kind: "private", members: [...members] })).id

/** Two clients, a space with both as members, and one with only the second. */
const world = async () => {
  const [one, other] = [await agent(), await agent()]
  const [channel, closed] = [await space(one.id, other.id), await space(other.id)]
  return { one: one.party, other: other.party, channel, closed }
}
for (const { title, run } of officeSuite(world)) it(title, () => expect(run()).resolves.toBeUndefined())
// #endregion
