// edge: agents of node:http hold sockets.
/**
 * Connections that may be used again. One is found only by whoever would have been given it anew: the same origin at the
 * same addresses, which are looked up and judged before each request, under the same rules, of the same tool with the same
 * credentials. Whatever of this changes, the old connection is never found again, and closes by itself.
 */
import { createHash } from "node:crypto"
import { Agent as HttpAgent, type AgentOptions } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import type { Headers } from "./Policy.ts"

/** One that nobody uses is closed before most servers would close it under our hands. */
const idleMs = 4000
const mostIdle = 16
/** Different ones that are remembered; the longest unused goes first. */
const mostKept = 100

/** Headers that are another one in each request, or say nothing of who asks. */
const passing = new Set(["accept", "accept-language", "user-agent", "traceparent", "tracestate", "idempotency-key"])

/** Answers with what was checked, whatever is asked. */
const pinned =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_host, options, done) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = all
    if (options.all === true) done(null, all)
    else if (first === undefined) done(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "", 0)
    else done(null, first.address, first.family)
  }

const agentOf = (url: URL, options: AgentOptions): HttpAgent =>
  url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options)

/** For one request: no connection outlives it. */
export const ownAgent = (url: URL, addresses: ReadonlyArray<string>): HttpAgent =>
  agentOf(url, { keepAlive: false, lookup: pinned(addresses) })

const kept = new Map<string, HttpAgent>()

/** What is in use ends by itself; what is idle ends now. */
const letGo = (agent: HttpAgent): void => {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

/** `rules`: what the request was allowed by, and whose it is. */
export const keptAgent = (
  url: URL,
  addresses: ReadonlyArray<string>,
  headers: Headers,
  rules: ReadonlyArray<unknown>,
): HttpAgent => {
  const own = Object.entries(headers).filter(([name]) => !passing.has(name))
  // Digested, since credentials are in it.
  const key = createHash("sha256")
    .update(JSON.stringify([url.origin, addresses.toSorted(), rules, own]))
    .digest("base64")
  const known = kept.get(key)
  kept.delete(key)
  const agent =
    known ?? agentOf(url, { keepAlive: true, timeout: idleMs, maxFreeSockets: mostIdle, lookup: pinned(addresses) })
  kept.set(key, agent)
  if (kept.size > mostKept) {
    const [oldest, old] = kept.entries().next().value!
    kept.delete(oldest)
    letGo(old)
  }
  return agent
}
