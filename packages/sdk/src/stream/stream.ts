/** One connection that the house writes to, and what to do when it breaks. */
// edge: reconnecting needs a timer.
import { type Frame, frameParser } from "./frames.ts"
import { type Connection, headersOf, notAHouse, refusalOf } from "../request.ts"
import { StoaError, StoaUnreachable } from "../StoaError.ts"

export interface StreamOptions {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** How long silence may last before the connection counts as dead. The house sends a heartbeat every 20 s. */
  readonly patienceMillis?: number
}

const usualPatience = 45_000

/** Doubling, with jitter: not all clients return to a restarted house at once. */
export const waitAfter = (failures: number, cause: unknown, longest: number): number => {
  const doubled = Math.min(longest, 100 * 2 ** failures) * (0.5 + Math.random() / 2)
  const told = cause instanceof StoaError ? (cause.retryAfter ?? 0) * 1000 : 0
  return Math.max(doubled, told)
}

export const pause = (millis: number, signal: AbortSignal | undefined) =>
  new Promise<void>((done) => {
    if (signal?.aborted === true) return done()
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", finish)
      done()
    }
    const timer = setTimeout(finish, millis)
    signal?.addEventListener("abort", finish)
  })

/** A refusal is final; a busy or starting house is not. */
export const isFinal = (cause: unknown): boolean =>
  cause instanceof StoaError && cause.status < 500 && cause.status !== 429 && cause.status !== 408

/** One connection, until it ends or is silent for too long. */
export async function* stream(connection: Connection, options: StreamOptions): AsyncGenerator<Frame, void, void> {
  const line = new AbortController()
  const hangUp = () => line.abort()
  options.signal?.addEventListener("abort", hangUp)
  let silent = false
  const heard = async <A>(sign: Promise<A>): Promise<A> => {
    const timer = setTimeout(() => {
      silent = true
      line.abort()
    }, options.patienceMillis ?? usualPatience)
    try {
      return await sign
    } catch (cause) {
      throw silent ? new Error("nothing was heard for too long", { cause }) : cause
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    const response = await heard(open(connection, options, line.signal))
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    const frames = frameParser()
    for (;;) {
      const { done, value } = await heard(reader.read())
      if (done) return
      yield* frames(decoder.decode(value, { stream: true }))
    }
  } finally {
    options.signal?.removeEventListener("abort", hangUp)
    line.abort()
  }
}

const open = async (connection: Connection, options: StreamOptions, signal: AbortSignal): Promise<Response> => {
  const url = new URL(connection.url + options.path)
  for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, value)
  const headers = { ...headersOf(connection), accept: "text/event-stream", ...options.headers }
  const response = await connection.fetch(url, { headers, signal }).catch((cause: unknown) => {
    throw new StoaUnreachable(connection.url, cause)
  })
  if (!response.ok) throw await refusalOf(response)
  const type = response.headers.get("content-type") ?? ""
  if (!type.startsWith("text/event-stream") || response.body === null) throw notAHouse(connection, response)
  return response
}

export const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const data = JSON.parse(text) as unknown
    return typeof data === "object" && data !== null && !Array.isArray(data)
      ? (data as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
