/** The calls of a host inside its process: a limited number at a time, each run once and answered once. */
import { StoaError } from "../StoaError.ts"
import { isFinal, pause, waitAfter } from "../stream/stream.ts"

/** A call as the house sends it. */
export interface HostedCall {
  readonly id: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly principal: string
  readonly space: string | null
}

export interface HostedContext {
  readonly callId: string
  /** Who calls, by id. */
  readonly principal: string
  /** The space it is called in, by id. */
  readonly space: string | null
  /** Aborted when the call was canceled or has expired, or when the host stops. */
  readonly signal: AbortSignal
}

export type HostedHandler<Input = Readonly<Record<string, unknown>>> = (input: Input, context: HostedContext) => unknown

export type HostedResult = { readonly output: unknown } | { readonly error: { readonly message: string } }

interface Options {
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly handlerOf: (tool: string) => HostedHandler<never> | undefined
  readonly submit: (call: string, result: HostedResult) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** How many calls are remembered, to recognise one that is delivered again. */
const maxRemembered = 10_000
const longestWait = 4000

const failed = (message: string): HostedResult => ({ error: { message } })

/** JSON has no undefined, so a missing result is null. */
const resultOf = (output: unknown): HostedResult => {
  const text = JSON.stringify(output)
  return { output: text === undefined ? null : (JSON.parse(text) as unknown) }
}

export const hostWork = ({ concurrency, handlerOf, onError, signal, submit }: Options) => {
  const waiting: Array<HostedCall> = []
  const working = new Map<string, AbortController>()
  const remembered = new Set<string>()
  let stopping = false
  let idle: () => void = () => {}

  const remember = (id: string) => {
    remembered.add(id)
    if (remembered.size <= maxRemembered) return
    for (const one of remembered)
      if (!working.has(one)) {
        remembered.delete(one)
        break
      }
  }

  /** Retries until the house has it: after a restart the house finds the call unchanged. */
  const answer = async (id: string, result: HostedResult): Promise<void> => {
    let sent = result
    for (let failures = 0; !signal.aborted; failures++)
      try {
        await submit(id, sent)
        return
      } catch (cause) {
        if (!isFinal(cause)) {
          await pause(waitAfter(failures, cause, longestWait), signal)
          continue
        }
        const { message, status } = cause as StoaError
        // An invalid result is the function's failure, and its caller should see that.
        if ((status === 400 || status === 413) && "output" in sent) {
          sent = failed(`Its output was not taken: ${message}`)
          continue
        }
        // Settled meanwhile: nobody waits for it any more.
        if (status !== 409 && status !== 404) onError(cause)
        return
      }
  }

  const run = async ({ id, input, principal, space, tool }: HostedCall, controller: AbortController): Promise<void> => {
    const handler = handlerOf(tool)
    const made = async (): Promise<HostedResult> => {
      if (handler === undefined) return failed(`This process no longer offers "${tool}"; nothing was run`)
      const context = { callId: id, principal, space, signal: controller.signal }
      return resultOf(await handler(input as never, context))
    }
    const result = await made().catch((cause: unknown) =>
      failed(cause instanceof Error ? cause.message : String(cause)),
    )
    await answer(id, result)
  }

  const next = (): void => {
    while (working.size < concurrency && waiting.length > 0) {
      const call = waiting.shift()!
      const controller = new AbortController()
      working.set(call.id, controller)
      void run(call, controller).finally(() => {
        working.delete(call.id)
        if (working.size === 0) idle()
        next()
      })
    }
  }

  return {
    take: (call: HostedCall): void => {
      if (remembered.has(call.id)) return
      remember(call.id)
      if (stopping)
        return void answer(call.id, failed(`The process that offers "${call.tool}" is stopping; nothing was run`))
      waiting.push(call)
      next()
    },
    /** It has settled: the function may stop working on it. */
    over: (id: string): void => {
      working.get(id)?.abort()
      const at = waiting.findIndex((call) => call.id === id)
      if (at >= 0) waiting.splice(at, 1)
    },
    stop: async (withinMillis: number): Promise<void> => {
      stopping = true
      const refused = waiting.splice(0)
      const enough = new AbortController()
      const done = new Promise<void>((resolve) => (idle = resolve))
      await Promise.race([
        Promise.all([
          working.size === 0 ? undefined : done,
          ...refused.map((call) =>
            answer(call.id, failed(`The process that offers "${call.tool}" is stopping; nothing was run`)),
          ),
        ]),
        pause(withinMillis, enough.signal),
      ])
      enough.abort()
      for (const controller of working.values()) controller.abort()
    },
  }
}
