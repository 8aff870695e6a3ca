// edge: agents of node:http hold sockets.
/**
 * Connections that may be reused. One is reused only by a request that would get an identical new one: the same origin
 * at the same addresses, which are looked up and judged before each request, under the same rules, of the same tool
 * with the same credentials. If any of this changes, the old connection is never found again, and closes by itself.
 */
import { createHash } from "node:crypto"
import { Agent as HttpAgent, type AgentOptions } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import type { Headers } from "./Policy.ts"

/** An idle connection is closed before most servers would close it while we use it. */
const idleMs = 4000
const maxIdle = 16
/** The most remembered agents; the longest unused goes first. */
const maxAgents = 100

/** Headers that differ in each request, or do not identify the sender. */
const ignoredHeaders = new Set([
  "accept",
  "accept-language",
  "user-agent",
  "traceparent",
  "tracestate",
  "idempotency-key",
])

/** Returns the checked addresses, whatever name is looked up. */
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
export const singleUseAgent = (url: URL, addresses: ReadonlyArray<string>): HttpAgent =>
  agentOf(url, { keepAlive: false, lookup: pinned(addresses) })

const agents = new Map<string, HttpAgent>()

/** Connections in use end by themselves; idle ones end now. */
const closeIdle = (agent: HttpAgent): void => {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

/** `rules`: what allowed the request, and whose it is. */
export const reusableAgent = (
  url: URL,
  addresses: ReadonlyArray<string>,
  headers: Headers,
  rules: ReadonlyArray<unknown>,
): HttpAgent => {
  const identifying = Object.entries(headers).filter(([name]) => !ignoredHeaders.has(name))
  // Hashed, because it contains credentials.
  const key = createHash("sha256")
    .update(JSON.stringify([url.origin, addresses.toSorted(), rules, identifying]))
    .digest("base64")
  const known = agents.get(key)
  agents.delete(key)
  const agent =
    known ?? agentOf(url, { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle, lookup: pinned(addresses) })
  agents.set(key, agent)
  if (agents.size > maxAgents) {
    const [oldest, old] = agents.entries().next().value!
    agents.delete(oldest)
    closeIdle(old)
  }
  return agent
}
