/**
 * The bridge of `stoa mcp`: JSON-RPC lines on one side, the `/mcp` endpoint of a house on the other. It handles
 * sessions, headers, streams and their resumption; it does not interpret messages.
 */
// edge: requests, streams and timers.
import { randomUUID } from "node:crypto"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { Courier, type Delivery } from "./delivery/courier.ts"
import { HouseAway, type House } from "./house.ts"
import { linesOf, longestLine, writerTo } from "./messages/lines.ts"
import {
  claimOf,
  errorLine,
  type Id,
  isFields,
  isRequest,
  keyed,
  keyOf,
  type Message,
  read,
} from "./messages/message.ts"

/** The most requests under way; more are refused, so that a flood costs the client and not this process. */
const maxRunning = 1024
const maxBytes = 16 * 1024 * 1024
/** After the client has closed its side: less than the two seconds after which clients kill programs. */
const graceMs = 1500

interface Running {
  readonly cancel: AbortController
  readonly bytes: number
  readonly old: boolean
}

const internal = -32603
const invalidRequest = -32600
const parseError = -32700

export interface BridgeOptions {
  readonly house: House
  /** Path of the endpoint, such as /mcp/office. */
  readonly path: string
  readonly input: Readable
  readonly output: Writable
  readonly say: (line: string) => void
}

/** Runs until the client closes its side. */
export const bridge = async ({ house, input, output, path, say }: BridgeOptions): Promise<void> => {
  const write = writerTo(output)
  const courier = new Courier({ house, path, write, say })
  const running = new Map<string, Running>()
  /** Everything that will be answered soon. */
  const pending = new Set<Promise<unknown>>()
  let bytes = 0
  /** Messages to a session, in order: a request is sent after the notifications before it. */
  let said: Promise<unknown> = Promise.resolve()

  const ended = (key: string, it: Running): void => {
    bytes -= it.bytes
    if (running.get(key) === it) running.delete(key)
  }

  const refuse = (id: Id | undefined, cause: unknown): Promise<void> => {
    const message = cause instanceof Error ? cause.message : String(cause)
    if (!(cause instanceof HouseAway)) say(message)
    return write(errorLine(id, internal, message))
  }

  const request = (message: Message & { readonly id: Id; readonly method: string }, size: number): Promise<void> => {
    const { id, method } = message
    if (running.size >= maxRunning || bytes + size > maxBytes)
      return write(errorLine(id, internal, "Too much is on its way already; wait for some answers first."))
    const old = claimOf(message) === undefined
    const key = keyOf(id)
    const it: Running = { cancel: new AbortController(), bytes: size, old }
    running.set(key, it)
    bytes += size
    const delivery: Delivery = { message: keyed(message, randomUUID) as typeof message, signal: it.cancel.signal }
    const before = said
    const sent = (async () => {
      if (old) await before
      await (method === "initialize" && old ? courier.begin(delivery) : courier.deliver(delivery))
    })()
      .catch((cause: unknown) => (it.cancel.signal.aborted ? undefined : refuse(id, cause)))
      .finally(() => ended(key, it))
    if (method !== "subscriptions/listen") {
      pending.add(sent)
      void sent.then(() => pending.delete(sent))
    }
    // Everything of an old client waits for the start of its session.
    if (method === "initialize" && old) said = sent
    return Promise.resolve()
  }

  const tell = (message: Message): void => {
    const requestId = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined
    const cancelled = requestId === undefined ? undefined : running.get(keyOf(requestId as Id))
    // In the new era, hanging up cancels the request, and the notification itself is not sent.
    if (cancelled?.old === false) return cancelled.cancel.abort()
    if (claimOf(message) !== undefined) return
    said = said
      .then(() => courier.tell(message))
      .catch((cause: unknown) => say(cause instanceof Error ? cause.message : String(cause)))
      .finally(() => cancelled?.cancel.abort())
  }

  const take = (line: string | undefined): Promise<void> | void => {
    if (line === undefined)
      return write(
        errorLine(undefined, invalidRequest, `A message has at most ${longestLine} bytes; this line had more.`),
      )
    if (line.trim() === "") return
    const message = read(line)
    if (Array.isArray(message)) {
      const before = said
      const sent = before.then(() => courier.batch(line)).catch((cause: unknown) => refuse(undefined, cause))
      pending.add(sent)
      void sent.then(() => pending.delete(sent))
      return
    }
    if (!isFields(message)) return write(errorLine(undefined, parseError, "This line is not a JSON-RPC message."))
    return isRequest(message) ? request(message, line.length) : tell(message)
  }

  for await (const line of linesOf(input)) await take(line)
  // Requests under way may still be answered, for example if the lines came from a file.
  const answered = said.then(() => Promise.all(pending))
  const enough = new AbortController()
  await Promise.race([answered, sleep(graceMs, undefined, { signal: enough.signal })])
  enough.abort()
  for (const { cancel } of running.values()) cancel.abort()
  await courier.close()
}
