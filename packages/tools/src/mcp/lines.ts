/**
 * Whose request a message of the server belongs to, when many share a connection. Over HTTP it came on that request's own
 * stream, which `taggedFetch` has marked; elsewhere nothing says so, and only a request that is alone can be meant.
 */
import type { MCPLine } from "./MCPExchange.ts"

export const lineKey = "stoa/line"
/** Where the task stands in a result that became one: the SDK knows no such result. */
export const taskKey = "stoa/task"

type Tagged = { readonly _meta?: Readonly<Record<string, unknown>> | undefined } | undefined

export class Lines {
  readonly #open = new Map<string, MCPLine>()
  #made = 0

  open(line: MCPLine): string {
    const token = String(++this.#made)
    this.#open.set(token, line)
    return token
  }
  close(token: string): void {
    this.#open.delete(token)
  }

  of(params: unknown): MCPLine | undefined {
    const token = (params as Tagged)?._meta?.[lineKey]
    if (typeof token === "string") return this.#open.get(token)
    return this.#open.size === 1 ? this.#open.values().next().value : undefined
  }
}

/** The parameters as the server gave them. */
export const untagged = (params: unknown): Readonly<Record<string, unknown>> => {
  const { _meta, ...rest } = (params ?? {}) as Readonly<Record<string, unknown>>
  const { [lineKey]: _, ...meta } = (_meta ?? {}) as Readonly<Record<string, unknown>>
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }
}
