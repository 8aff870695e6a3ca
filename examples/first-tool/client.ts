/** The first tool: a function of this process, called by an agent, approved by a person, done. */
// #region people
import assert from "node:assert/strict"
import { connect } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")

const house = connect({ url: STOA_URL, token: STOA_TOKEN })
const stamp = Date.now()
// Adds a principal, makes a token for it, and connects as that principal.
const arrive = async (kind: "person" | "agent" | "service", name: string) => {
  const principal = await house.principals.add({ kind, name: `${name} ${stamp}` })
  const { token } = await house.tokens.add({ principal: principal.id })
  return { ...principal, client: connect({ url: STOA_URL, token }) }
}
const janitor = await arrive("service", "janitor")
const agent = await arrive("agent", "clerk")
const pam = await arrive("person", "Pam")
await house.grants.add({ principal: janitor.id, resource: "hosts/*", actions: ["write"] })
// #endregion

// #region offer
const wiped: Array<string> = []
const tool = `wipe_${stamp}`
const host = janitor.client.host({ name: "cleaning" })
host.tool<{ folder: string }>(
  tool,
  {
    description: "Empties a folder, for good.",
    inputSchema: { type: "object", properties: { folder: { type: "string" } }, required: ["folder"] },
    outputSchema: { type: "object", properties: { wiped: { type: "string" } }, required: ["wiped"] },
    riskLevel: "high",
    requiresApproval: true,
    approval: { approver: pam.name },
  },
  ({ folder }) => {
    wiped.push(folder)
    return { wiped: folder }
  },
)
await host.start()
// #endregion

// #region call
const call = await agent.client.tools.call(tool, { input: { folder: "logs" } })
assert("state" in call && call.on !== undefined)
assert.deepEqual([call.state, call.on.kind], ["waiting", "decision"])
// #endregion
assert.deepEqual(wiped, [])

// #region approve
const { items } = await pam.client.decisions.list({ state: "open" })
assert.deepEqual(items[0]?.call?.input, { folder: "logs" })
await pam.client.decisions.answer(call.on.id, { verdict: "approve", note: "they are a year old" })
// #endregion

// #region done
const done = await agent.client.calls.get(call.id, { wait: 30 })
assert.deepEqual([done.state, done.output], ["done", { wiped: "logs" }])
// #endregion

// #region deny
const second = await agent.client.tools.call(tool, { input: { folder: "photos" } })
assert("state" in second && second.on !== undefined)
await pam.client.decisions.answer(second.on.id, { verdict: "deny", note: "not those" })
const refused = await agent.client.calls.get(second.id, { wait: 30 })
assert.deepEqual([refused.state, refused.error?.tag], ["refused", "ToolAuthorizationError"])
// #endregion
// Nobody approves their own call, and what was denied never ran.
assert.deepEqual(wiped, ["logs"])

// #region short
const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
const functions = await janitor.client.tool<{ a: number }>(`plus_one_${stamp}`, schema, ({ a }) => a + 1)
// #endregion
const sum = await agent.client.tools.call(`plus_one_${stamp}`, { input: { a: 1 } })
assert("state" in sum)
assert.deepEqual([sum.state, sum.output], ["done", 2])

await functions.stop()
await host.stop()
for (const one of [janitor, agent, pam]) await house.principals.retire(one.id)
console.log(`${wiped.length} folder was wiped, with ${pam.name}'s approval`)
