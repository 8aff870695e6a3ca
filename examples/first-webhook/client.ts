/** The first webhook: a service of ours does a tool's work, checks that the house asked, and answers later, signed. */
// #region imports
import assert from "node:assert/strict"
import { createHmac, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { connect } from "@stoa/sdk"

const { STOA_TOKEN, STOA_URL } = process.env
assert(STOA_URL !== undefined && STOA_TOKEN !== undefined, "Set STOA_URL and STOA_TOKEN; README.md says how.")
// #endregion

// #region verify
// Each field with its length in bytes, so that no two lists of fields make the same text.
const mac = (key: string, ...fields: ReadonlyArray<string>) =>
  createHmac("sha256", key)
    .update(fields.map((field) => `${Buffer.byteLength(field)}:${field},`).join(""))
    .digest("hex")

/** Whether our house sent this request within the last five minutes. `body` is the raw text of the request. */
const isFromHouse = ({ headers }: IncomingMessage, key: string, body: string): boolean => {
  const [, seconds, v2] = /^t=([1-9]\d*),v2=([0-9a-f]{64})$/.exec(String(headers["stoa-signature"])) ?? []
  if (seconds === undefined || v2 === undefined) return false
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > 300) return false
  const expected = mac(key, "stoa/webhook-call/2", seconds, String(headers["stoa-call"]), body)
  return timingSafeEqual(Buffer.from(v2), Buffer.from(expected))
}
// #endregion

// #region answer
const answer = async (key: string, callId: string, callback: string, result: object) => {
  const body = JSON.stringify(result)
  const seconds = String(Math.floor(Date.now() / 1000))
  const signature = `t=${seconds},v2=${mac(key, "stoa/webhook-result/2", seconds, callId, body)}`
  const headers = { "content-type": "application/json", "stoa-signature": signature }
  return (await fetch(callback, { method: "POST", headers, body })).status
}
// #endregion

// #region service
interface Job {
  readonly callId: string
  readonly callback: string
  readonly input: { readonly scene: string }
}
let key = ""
const jobs: Array<Job> = []
const take = async (request: IncomingMessage): Promise<number> => {
  const body = await text(request)
  if (!isFromHouse(request, key, body)) return 401
  jobs.push(JSON.parse(body) as Job)
  // The result comes later.
  return 202
}
const service = createServer((request, response) => {
  void take(request).then((status) => response.writeHead(status).end())
}).listen(0, "127.0.0.1")
await once(service, "listening")
const at = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
// #endregion

// #region tool
const house = connect({ url: STOA_URL, token: STOA_TOKEN })
const name = `render_${Date.now()}`
await house.tools.add({
  name,
  description: "Renders a scene",
  inputSchema: { type: "object", properties: { scene: { type: "string" } }, required: ["scene"] },
  outputSchema: { type: "object", properties: { image: { type: "string" } }, required: ["image"] },
  executionType: "external",
  execution: { webhookUrl: `${at}/jobs`, callbackTimeout: 600_000 },
})
key = (await house.tools.signingKey(name)).key
// #endregion

// #region call
const call = await house.tools.call(name, { input: { scene: "harbour" } })
assert("state" in call)
assert(call.state === "waiting", `The call is ${call.state}: ${call.error?.message}`)
// #endregion

assert.deepEqual([call.state, call.on], ["waiting", { kind: "callback", id: call.id }])

// #region result
const [job] = jobs
assert(job !== undefined)
assert.deepEqual([job.callId, job.input], [call.id, { scene: "harbour" }])

// Both sides refuse a wrong signature. A result that does not match the schema leaves the call waiting. Only the first
// valid result counts.
assert.equal((await fetch(`${at}/jobs`, { method: "POST", body: "{}" })).status, 401)
assert.equal(await answer("another key", job.callId, job.callback, { output: { image: "x" } }), 401)
assert.equal(await answer(key, job.callId, job.callback, { output: { picture: "x" } }), 400)
assert.equal(await answer(key, job.callId, job.callback, { output: { image: "harbour.png" } }), 200)
assert.equal(await answer(key, job.callId, job.callback, { output: { image: "another.png" } }), 409)
const done = await house.calls.get(call.id)
assert.deepEqual([done.state, done.output], ["done", { image: "harbour.png" }])
// #endregion

await house.tools.remove(name)
service.close()
console.log(`${jobs.length} job was done, by a service that knows who asked`)
