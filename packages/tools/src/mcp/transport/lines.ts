/**
 * Which request a server's message belongs to, when many share a connection. Over HTTP it came on that request's own
 * stream, which `taggedFetch` has marked; elsewhere nothing says so, and it is clear only if one request is under way.
 * A request whose question is open is waiting itself and asks nothing else. If this was ambiguous once, calls take
 * turns from then on.
 */
import { Semaphore } from "effect"
import type { MCPLine } from "../client/exchange/MCPExchange.ts"

export const lineKey = "stoa/line"
/** The key of the task in a result that became one: the SDK has no such result. */
export const taskKey = "stoa/task"

type Tagged = { readonly _meta?: Readonly<Record<string, unknown>> | undefined } | undefined

/** After this many calls without a message outside their streams, none is expected. */
const firstCalls = 200

export class Lines {
  readonly #open = new Map<string, MCPLine>()
  readonly #asking = new Set<string>()
  readonly turn = Semaphore.makeUnsafe(1)
  /** A question arrived that could belong to several requests. */
  takesTurns = false
  #lingering = firstCalls
  #made = 0

  open(line: MCPLine): string {
    const token = String(++this.#made)
    this.#open.set(token, line)
    return token
  }
  close(token: string): void {
    this.#open.delete(token)
    this.#asking.delete(token)
  }
  asks(token: string, now: boolean): void {
    if (now) this.#asking.add(token)
    else this.#asking.delete(token)
  }

  /** A message arrived on no request's stream. */
  heardBeside(params: unknown): void {
    if ((params as Tagged)?._meta?.[lineKey] === undefined) this.#lingering = Infinity
  }
  /** Whether messages outside a request's stream may still arrive after its answer. */
  lingers(): boolean {
    return this.#lingering-- > 0
  }

  #alone(): MCPLine | undefined {
    const free = [...this.#open].filter(([token]) => !this.#asking.has(token))
    const meant = free.length === 0 ? [...this.#open] : free
    return meant.length === 1 ? meant[0]![1] : undefined
  }

  of(params: unknown): MCPLine | undefined {
    const token = (params as Tagged)?._meta?.[lineKey]
    return typeof token === "string" ? this.#open.get(token) : this.#alone()
  }
}

/** The parameters without our mark. */
export const untagged = (params: unknown): Readonly<Record<string, unknown>> => {
  const { _meta, ...rest } = (params ?? {}) as Readonly<Record<string, unknown>>
  const { [lineKey]: _, ...meta } = (_meta ?? {}) as Readonly<Record<string, unknown>>
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }
}
