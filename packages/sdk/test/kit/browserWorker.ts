/**
 * A thread made as poor as a page on plain http: nothing of Node, no randomUUID, a fetch that must be the window's own, and
 * streams that cannot be iterated. Uses both clients there and posts what it saw.
 */
import { parentPort, workerData } from "node:worker_threads"

const { token, url } = workerData as { readonly url: string; readonly token: string }
const port = parentPort!
const fetchOfNode = globalThis.fetch
const poor = globalThis as Record<string, unknown>

/** Node's own fetch needs these; whoever else looks finds nothing. */
const hide = (holder: object, name: string | symbol) => {
  const value = (holder as Record<string | symbol, unknown>)[name]
  const asksNode = () => /[ (]node:/.test(new Error("who asks?").stack!.split("\n")[3]!)
  Object.defineProperty(holder, name, { get: () => (asksNode() ? value : undefined) })
}
const ofNode = ["process", "Buffer", "global", "setImmediate", "clearImmediate", "require", "module"]
for (const name of ofNode) hide(globalThis, name)
hide(Object.getPrototypeOf(crypto) as object, "randomUUID")
hide(ReadableStream.prototype, Symbol.asyncIterator)
poor["fetch"] = function (this: unknown, ...args: Parameters<typeof fetch>) {
  if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation")
  return fetchOfNode(...args)
}

const { connect, StoaClient } = await import("@stoa/sdk")
const { Effect, Redacted, Stream } = await import("effect")

const stoa = connect({ url, token })
const made = await stoa.principals.add({ kind: "agent", name: "Browser" })
const names: Array<string> = []
for await (const item of stoa.feed({ after: 0 })) {
  if (item.type !== "delta") names.push(item.type === "event" ? item.name : "reload")
  if (item.type === "event" && item.event.kind === "principal.added" && item.event.body.name === "Browser") break
}
const effect = await Effect.runPromise(
  Effect.provide(
    Effect.flatMap(StoaClient, (client) =>
      Effect.all([
        client.principals.add({ payload: { kind: "agent", name: "Effectful" } }),
        Stream.runCollect(Stream.take(client.feed({ after: 0 }), 1)),
      ]),
    ),
    StoaClient.layer({ url, token: Redacted.make(token) }),
  ),
)
port.postMessage({
  globals: ofNode.filter((name) => poor[name] !== undefined),
  made: made.name,
  names,
  effect: effect[0].name,
  first: effect[1].length,
})
