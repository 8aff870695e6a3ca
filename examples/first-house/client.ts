/** The first house: an admin adds an agent and gives it a token; the agent works, is refused, and loses its token again. */
// #region connect
import assert from "node:assert/strict"
import { connect, StoaError } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")

const house = connect({ url: STOA_URL, token: STOA_TOKEN })
const me = await house.principals.me()
// #endregion
assert.equal(me.kind, "person")

// #region agent
const name = `scout ${Date.now()}`
const agent = await house.principals.add({ kind: "agent", name, toolsets: ["stoa"] })
const issued = await house.tokens.add({ principal: agent.id, label: "first house" })
const scout = connect({ url: STOA_URL, token: issued.token })
// #endregion
assert.deepEqual(agent.roles, ["agent-standard"])
assert.equal((await scout.principals.me()).id, agent.id)

// #region watch
const seen: Array<string> = []
const watching = (async () => {
  // Everything so far, then new events as they happen. After a broken connection the SDK resumes where it was.
  for await (const item of house.feed({ after: 0 })) {
    if (item.type !== "event") continue
    const { body, kind } = item.event
    seen.push(kind)
    if (kind === "token.revoked" && body.token === issued.id) return
  }
})()
// #endregion

// #region refused
const refused = await scout.secrets.list().catch((error: unknown) => error)
assert(refused instanceof StoaError)
assert.equal(refused.tag, "Forbidden")
// #endregion
const judged = await scout.grants.judge({ action: "execute", resource: "tools/web-search" })
assert.deepEqual(judged, { verdict: "allow", rule: "role:agent-standard" })

// The same create, sent twice under one key, happens once.
const twice = { kind: "agent", name: `${name} twice` } as const
const first = await house.principals.add(twice, { idempotencyKey: name })
const second = await house.principals.add(twice, { idempotencyKey: name })
assert.equal(second.id, first.id)

// #region revoke
await house.tokens.revoke(issued.id)
const shut = await scout.principals.me().catch((error: unknown) => error)
assert(shut instanceof StoaError)
assert.equal(shut.tag, "Unauthenticated")
// #endregion

await watching
for (const kind of ["principal.added", "token.issued", "access.denied", "token.revoked"])
  assert(seen.includes(kind), `the feed did not show ${kind}`)

await house.principals.retire(agent.id)
await house.principals.retire(first.id)
console.log(`${me.name} saw ${seen.length} events; ${name} came, worked and left`)
