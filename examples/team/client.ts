/** What came of the team: the lead asked its builder, then its critic, and told the human. */
import assert from "node:assert/strict"
import { connect } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")
const house = connect({ url: STOA_URL, token: STOA_TOKEN })

// #region tree
const { items: tree } = await house.agents.tree()
const team = tree.filter(({ name }) => ["lead", "builder", "critic"].includes(name))
assert.deepEqual(
  team.map(({ depth, name, role }) => `${"  ".repeat(depth)}${name}, ${role}`),
  ["lead, worker", "  builder, worker", "  critic, reviewer"],
)
// #endregion

// #region wait
/** The lead's run spans its turns: it waits in between, and holds nothing. */
const done = async () => (await house.runs.list({ agent: "lead", state: "completed" })).items[0]
let run = await done()
// From the beginning: it may be done before this program asks.
for await (const _ of house.feed({ after: 0 })) if ((run ??= await done()) !== undefined) break
assert.equal(run!.step, 3)
// #endregion

const { messages } = await house.agents.inspect("lead")
const said = messages.filter(({ from }) => from === "lead").map(({ text, to }) => `${to ?? "USER"}: ${text}`)
assert.deepEqual(said.slice(-3), [
  "builder: Build a greeting.",
  "critic: Is it good?",
  "USER: Done. The critic: It is good.",
])
console.log("The lead asked, was answered twice, and is done.")
