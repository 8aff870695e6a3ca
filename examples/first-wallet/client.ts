/** The first wallet: somebody signs in with it, keeps engrams under it, and talks in a session that lasts. */
// #region sign-in
import assert from "node:assert/strict"
import { generateKeyPairSync, sign } from "node:crypto"
import { connect } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")

// A wallet made for this program: an Ed25519 key, whose public half in base58 is the address.
const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const base58 = (bytes: Buffer): string => {
  let [rest, text] = [BigInt(`0x${bytes.toString("hex")}`), ""]
  for (; rest > 0n; rest /= 58n) text = letters[Number(rest % 58n)]! + text
  return "1".repeat(bytes.findIndex((byte) => byte !== 0)) + text
}

const admin = connect({ url: STOA_URL, token: STOA_TOKEN })
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const wallet = base58(publicKey.export({ format: "der", type: "spki" }).subarray(-32))
const person = await admin.principals.add({
  kind: "person",
  name: `Ann ${Date.now()}`,
  wallet,
  toolsets: ["engrams"],
})

const stranger = connect({ url: STOA_URL })
const challenge = await stranger.wallet.challenge({ wallet })
const signature = sign(null, Buffer.from(challenge.message), privateKey).toString("base64")
const { token } = await stranger.wallet.token({ challenge: challenge.id, signature })
// #endregion
assert.ok(challenge.message.includes(new URL(STOA_URL).host))

// #region call
const call = async (name: string, args: object) => {
  const response = await fetch(`${STOA_URL}/mcp/jsonrpc`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  })
  const { result } = await response.json()
  return JSON.parse(result.content[0].text)
}

const made = await call("engram_create", {
  wallet_address: wallet,
  engram_type: "preference",
  key: "trading.risk_tolerance",
  content: JSON.stringify({ level: "medium" }),
  tags: ["trading"],
})
await call("engram_update", { id: made.id, content: JSON.stringify({ level: "high" }) })
const found = await call("engram_search", { wallet_address: wallet, tags: ["trading"] })
// #endregion
assert.deepEqual([found.count, found.engrams[0].version, found.engrams[0].content], [1, 2, '{"level":"high"}'])
const forged = await call("engram_create", {
  wallet_address: "0x0000000000000000000000000000000000000001",
  engram_type: "preference",
  key: "not.mine",
  content: "1",
})
assert.equal(forged.error.tag, "ToolAuthorizationError")

// #region session
const ann = connect({ url: STOA_URL, token })
const session = await ann.chatSessions.add({ agent: "hecate" })
await ann.chatSessions.post(session.id, { text: "How risky is this trade?" })
const { items } = await ann.chatSessions.list({ agent: "hecate" })
const said = await ann.chatSessions.messages(session.id)
// #endregion
assert.deepEqual([items[0]?.title, items[0]?.messageCount], ["How risky is this trade?", 1])
assert.equal(said.items[0]?.text, "How risky is this trade?")

await ann.chatSessions.remove(session.id)
await admin.principals.retire(person.id)
console.log(`${person.name} signed in with ${wallet} and kept ${found.count} engram`)
