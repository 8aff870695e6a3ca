/**
 * Functions of this process as tools of the house: `stoa.host()`. The process opens the connection, so that it can run
 * behind a firewall. The connection is restored after breaks and restarts of the house, and a call that is delivered
 * again is not run again.
 */
import type { HostedTool } from "@stoa/contract"
import type { Frame } from "../stream/frames.ts"
import { type HostedCall, type HostedHandler, type HostedResult, hostWork } from "./hostWork.ts"
import { type Connection, newKey } from "../request.ts"
import { StoaError } from "../StoaError.ts"
import { isFinal, objectIn, pause, stream, waitAfter } from "../stream/stream.ts"
import type { Plain } from "../types.ts"

/** The description of a function; its handler is separate. */
export type FunctionOptions = Omit<Plain<HostedTool>, "name" | "inputSchema" | "outputSchema"> & {
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
}

export interface HostOptions {
  /** One name per process of yours: a second process with the same name replaces the first. */
  readonly name?: string
  /** False: only you see and call them, which needs no grant. Otherwise you need `write` on `hosts/NAME`. */
  readonly shared?: boolean
  /** How many calls run at a time; the others wait. */
  readonly concurrency?: number
  readonly onReconnect?: (why: string, waitMillis: number) => void
  /** Called with errors that nobody else gets: a result that was not accepted, a declaration that was refused. */
  readonly onError?: (error: unknown) => void
}

export interface Host {
  readonly name: string
  /** Adds a function, or replaces the one of that name. */
  readonly tool: <Input = Readonly<Record<string, unknown>>>(
    name: string,
    options: FunctionOptions,
    handler: HostedHandler<Input>,
  ) => Host
  /** Removes a function. */
  readonly withdraw: (name: string) => Host
  /** Returns when the house sends calls here; called again, when the house knows the functions added since. */
  readonly start: () => Promise<void>
  /** Accepts nothing new, waits for running calls, and withdraws the functions. */
  readonly stop: (options?: { readonly withinMillis?: number }) => Promise<void>
  /** Settles when it is over: after `stop`, or with the reason why the house sends no more calls. */
  readonly ended: Promise<void>
}

/** What a host requests from the house. */
export interface HostApi {
  readonly declare: (name: string, tools: ReadonlyArray<unknown>, shared: boolean) => Promise<unknown>
  readonly submit: (call: string, result: HostedResult) => Promise<unknown>
  readonly remove: (name: string, instance: string) => Promise<unknown>
}

const usualName = "functions"
/** Well within the time the house gives a process to come back. */
const longestWait = 4000
const usualStop = 10_000

/** Without types, a call with a name alone is easily written. */
export const requireFunction = (tool: string, said: unknown, handler: unknown): void => {
  if (typeof said === "object" && said !== null && typeof handler === "function") return
  const name = JSON.stringify(tool)
  throw new TypeError(
    `tool(${name}) offers a function as a tool and needs a schema and the function: tool(${name}, { description: "Adds two numbers.", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } }, async ({ a, b }) => ({ sum: a + b })). To call a tool, use tools.call(${name}, { input: {} }).`,
  )
}

export const makeHost = (connection: Connection, api: HostApi, options: HostOptions = {}): Host => {
  const { concurrency = 8, name = usualName, onError = () => {}, onReconnect, shared = true } = options
  const instance = newKey()
  const line = new AbortController()
  const tools = new Map<string, { readonly options: FunctionOptions; readonly handler: HostedHandler<never> }>()
  const work = hostWork({
    concurrency,
    signal: line.signal,
    handlerOf: (tool) => tools.get(tool)?.handler,
    submit: api.submit,
    onError,
  })
  let finish: (error?: unknown) => void = () => {}
  const ended = new Promise<void>((done, fail) => {
    finish = (error) => (error === undefined ? done() : fail(error))
  })
  // If nobody awaits it, onError gets it; it must not end the process.
  ended.catch(onError)
  let started: Promise<void> | undefined
  let declaring: Promise<unknown> = Promise.resolve()

  /** One after the other, so that the newest declaration is the last. */
  const declare = (): Promise<unknown> => {
    const put = () =>
      api.declare(
        name,
        [...tools].map(([tool, { options: said }]) => ({ ...said, name: tool })),
        shared,
      )
    declaring = declaring.then(put, put)
    return declaring
  }

  /** A refused tool must not cost the others their connection. */
  const unlessEnded = (cause: unknown): void => {
    if (!(cause instanceof StoaError) || (cause.status !== 400 && cause.status !== 409)) throw cause
    onError(cause)
  }

  const hear = (frame: Frame, ready: () => void): void => {
    const data = objectIn(frame.data)
    if (data === undefined) return
    if (frame.event === "ready") ready()
    else if (frame.event === "call") work.take(data as unknown as HostedCall)
    else if (frame.event === "settled") work.over(String(data["id"]))
    else if (frame.event === "close" && data["reason"] === "replaced")
      throw new HostEnded(`Another process took the place of host "${name}". Give each process a name of its own.`)
    else if (frame.event === "close" && data["reason"] === "removed")
      throw new HostEnded(`Host "${name}" was removed from the house.`)
  }

  /** Keeps the connection until it is stopped or refused. */
  const run = async (ready: () => void): Promise<void> => {
    let failures = 0
    for (let first = true; !line.signal.aborted; first = false) {
      let lost: unknown = new Error("the connection ended")
      try {
        // A house that was restored or set up again does not know us.
        if (!first) await declare().catch(unlessEnded)
        const frames = stream(connection, {
          path: `/api/v1/hosts/${encodeURIComponent(name)}/calls`,
          query: { instance },
          signal: line.signal,
        })
        for await (const frame of frames)
          hear(frame, () => {
            failures = 0
            ready()
          })
      } catch (cause) {
        if (line.signal.aborted) return
        // Withdrawn by our predecessor between our declaration and our connection: declare again.
        const missing = cause instanceof StoaError && cause.status === 404
        if ((isFinal(cause) && !missing) || cause instanceof HostEnded) throw cause
        lost = cause
      }
      if (line.signal.aborted) return
      const wait = waitAfter(failures++, lost, longestWait)
      onReconnect?.(lost instanceof Error ? lost.message : String(lost), wait)
      await pause(wait, line.signal)
    }
  }

  const begin = async (): Promise<void> => {
    await declare()
    await new Promise<void>((ready, fail) => {
      run(ready).then(
        () => finish(),
        (error: unknown) => {
          fail(error)
          finish(error)
        },
      )
    })
  }

  const changed = () => void started?.then(declare).catch(onError)

  const host: Host = {
    name,
    ended,
    tool: (tool, said, handler) => {
      requireFunction(tool, said, handler)
      tools.set(tool, { options: said, handler })
      changed()
      return host
    },
    withdraw: (tool) => {
      tools.delete(tool)
      changed()
      return host
    },
    start: async () => {
      if (started !== undefined) return void (await started.then(declare))
      started = begin()
      // A refused start may be tried again.
      started.catch(() => (started = undefined))
      await started
    },
    stop: async ({ withinMillis = usualStop } = {}) => {
      if (started === undefined) return finish()
      await work.stop(withinMillis)
      await api.remove(name, instance).catch(() => {})
      line.abort()
      await ended.catch(() => {})
    },
  }
  return host
}

/** The house sends this process no more calls. */
class HostEnded extends Error {
  override readonly name = "HostEnded"
}
