/** What came of the team: the lead asked its builder, then its critic, and told the human. */
import assert from "node:assert/strict"
import { connect } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")
const house = connect({ url: STOA_URL, token: STOA_TOKEN })

// #region tree
const { items: tree } = await house.agents.tree()
const team = tree.filter(({ name }) => ["lead", "builder", "critic"].includes(name))
assert(team.length > 0, "This house has no such team. Start it: npx stoa team examples/team/team.json")
assert.deepEqual(
  team.map(({ depth, name, role }) => `${"  ".repeat(depth)}${name}, ${role}`),
  ["lead, worker", "  builder, worker", "  critic, reviewer"],
)
// #endregion

// #region wait
/** The run that the first message woke. It spans the turns of the lead: it waits in between, and holds nothing. */
const ended = async () => {
  const { items } = await house.runs.list({ agent: "lead" })
  return items.find(({ endedAt, trigger }) => endedAt !== null && trigger.summary === "Make a greeting.")
}
let run = await ended()
if (run === undefined)
  // From the beginning: it may end before this program watches.
  for await (const item of house.feed({ after: 0 }))
    if (item.type === "event" && item.event.kind === "run.ended" && (run = await ended()) !== undefined) break
assert.equal(run?.state, "completed", run?.failure)
assert.equal(run.step, 3)
// #endregion

const { messages } = await house.agents.inspect("lead")
const said = messages.filter(({ from }) => from === "lead").map(({ text, to }) => `${to ?? "USER"}: ${text}`)
for (const words of ["builder: Build a greeting.", "critic: Is it good?", "USER: Done. The critic: It is good."])
  assert(said.includes(words), `The lead did not say "${words}"`)
console.log("The lead asked, was answered twice, and is done.")
