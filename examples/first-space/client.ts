/** The first space: a person opens one for two agents, talks to them by name, watches, and removes one of them again. */
// #region open
import assert from "node:assert/strict"
import { connect, StoaError } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")

const house = connect({ url: STOA_URL, token: STOA_TOKEN })
const stamp = Date.now()
// Adds an agent, makes a token for it, and connects as that agent.
const arrive = async (name: string) => {
  const agent = await house.principals.add({ kind: "agent", name: `${name} ${stamp}` })
  const { token } = await house.tokens.add({ principal: agent.id })
  return { ...agent, client: connect({ url: STOA_URL, token }) }
}
const scout = await arrive("scout")
const scribe = await arrive("scribe")

const space = await house.spaces.add({
  name: `harbour-${stamp}`,
  kind: "private",
  members: [scout.name, scribe.name],
})
// #endregion
assert.deepEqual([space.trigger, space.members.length], ["mention", 3])

// #region watch
const seen: Array<string> = []
const watching = (async () => {
  for await (const item of scribe.client.feed({ after: 0, space: space.id })) {
    if (item.type !== "event") continue
    const { body, kind } = item.event
    seen.push(kind)
    // A removed member sees its own removal, and nothing after it.
    if (kind === "member.removed" && body.principal === scribe.id) return
  }
})()
// #endregion

// #region say
const question = await house.spaces.post(space.name, { text: `@${scout.name}, which ships are in?` })
const answer = await scout.client.spaces.post(space.id, { text: "Two, and a third is due.", replyTo: question.id })
await house.messages.react(answer.id, "👍")
// #endregion
assert.deepEqual([question.seq, question.mentions], [1, [scout.id]])
assert.deepEqual([answer.seq, answer.author.kind, answer.provenance], [2, "agent", "agent"])

// #region read
const { unread } = await scribe.client.spaces.get(space.id)
const { items } = await scribe.client.spaces.messages(space.id, { limit: 50 })
await scribe.client.spaces.read(space.id, { seq: items.at(-1)!.seq })
// #endregion
assert.deepEqual([unread, items.map((message) => message.seq)], [2, [1, 2]])
assert.equal((await scribe.client.spaces.get(space.id)).unread, 0)

// #region find
const found = await scribe.client.messages.search({ q: "ships", space: space.id })
// #endregion
assert.deepEqual(
  found.items.map((message) => message.id),
  [question.id],
)

// #region hidden
await house.spaces.removeMember(space.id, scribe.id)
const hidden = await scribe.client.spaces.messages(space.id).catch((error: unknown) => error)
assert(hidden instanceof StoaError)
assert.equal(hidden.tag, "Missing")
// #endregion
await watching
assert.deepEqual(seen, ["space.added", "message.created", "message.created", "reaction.added", "member.removed"])

await house.spaces.change(space.id, { archived: true })
for (const agent of [scout, scribe]) await house.principals.retire(agent.id)
console.log(`${items.length} messages were said in ${space.name}, and ${scribe.name} saw ${seen.length} events`)
