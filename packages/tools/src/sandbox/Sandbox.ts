/**
 * Runs untrusted JavaScript: no network, files, timers, modules or environment; limited memory, time and output.
 * `code-execute` and every later tool that computes use it. A failure tells a model what to change.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import type { Limits, Outcome, Reason } from "./job.ts"
import { makePool } from "./pool.ts"

export interface SandboxOptions extends Limits {
  /** Workers, and thus concurrent calls. */
  readonly size: number
  /** Calls that may wait for a worker. */
  readonly queue: number
  readonly codeBytes: number
}

export const defaultSandboxOptions: SandboxOptions = {
  // Less than code-execute's own 30 s, so that the answer with its line and log comes before the plain timeout.
  timeMs: 29_000,
  memoryBytes: 32 << 20,
  outputBytes: 65_536,
  stackBytes: 256 << 10,
  size: 2,
  queue: 32,
  codeBytes: 262_144,
}

export interface SandboxResult {
  /** JSON-safe: a value that JSON cannot hold, or that was cut, is its text. */
  readonly value: unknown
  readonly logs: string
  readonly truncated: boolean
}

/** The `cause` of a ToolExecutionError of the sandbox. */
export interface SandboxFault {
  readonly reason: Reason
  readonly line: number | undefined
  readonly logs: string
}

export interface SandboxCall {
  /** The tool that a failure is reported for. */
  readonly tool: string
  readonly timeMs?: number
  /** The caller: one caller never gets every worker. By default nobody in particular. */
  readonly by?: string
}

export interface SandboxService {
  readonly run: (code: string, call: SandboxCall) => Effect.Effect<SandboxResult, ToolExecutionError>
}

const mib = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`

const words = (reason: Reason, detail: string, at: string, options: SandboxOptions): string => {
  switch (reason) {
    case "error":
      return `The code failed${at}: ${detail.trim()}`
    case "time":
      return `The code was stopped after ${options.timeMs} ms. Do less, or end the loop.`
    case "memory":
      return `The code used more than its ${mib(options.memoryBytes)} of memory. Keep less at a time.`
    case "pending":
      return "The code waits for a promise that never settles. There are no timers, network or files here."
    case "busy":
      return `The sandbox is busy (${detail}). Try again shortly.`
    case "size":
      return `The code has more than ${options.codeBytes} bytes. Send less.`
    case "crash":
      return `The interpreter gave up on this code (${detail}). Nesting that is too deep does that; write it flatter.`
  }
}

const lineOf = (detail: string): number | undefined => {
  const [, line] = /code\.js:(\d+)/.exec(detail) ?? []
  return line === undefined ? undefined : Number(line)
}

const refuse = (outcome: Extract<Outcome, { done: false }>, tool: string, options: SandboxOptions) => {
  // The interpreter does not know where a loop was interrupted: only an error's line is right.
  const line = outcome.reason === "error" ? lineOf(outcome.detail) : undefined
  const at = line === undefined ? "" : ` at line ${line}`
  const log = outcome.logs === "" ? "" : `\nIt had logged:\n${outcome.logs.slice(-2000)}`
  const cause: SandboxFault = { reason: outcome.reason, line, logs: outcome.logs }
  return new ToolExecutionError({
    message: words(outcome.reason, outcome.detail, at, options) + log,
    toolName: tool,
    cause,
  })
}

const resultOf = (outcome: Extract<Outcome, { done: true }>, { outputBytes }: SandboxOptions): SandboxResult => {
  const { json, logs, text, truncated } = outcome
  if (truncated) return { value: `${text}… [cut: ${outputBytes} bytes are the most]`, logs, truncated }
  return { value: json ? (JSON.parse(text) as unknown) : text, logs, truncated }
}

const make = (given: Partial<SandboxOptions>) => {
  const options = { ...defaultSandboxOptions, ...given }
  const pool = makePool(options)
  const run = Effect.fn("Sandbox.run")(function* (
    code: string,
    { by = "", timeMs = options.timeMs, tool }: SandboxCall,
  ) {
    const { outputBytes, stackBytes } = options
    const outcome: Outcome =
      Buffer.byteLength(code) > options.codeBytes
        ? { done: false, reason: "size", detail: "", logs: "" }
        : yield* pool.run({ code, timeMs, outputBytes, stackBytes }, by)
    if (outcome.done) return resultOf(outcome, options)
    return yield* refuse(outcome, tool, { ...options, timeMs })
  })
  return { pool, service: { run } satisfies SandboxService }
}

/** Without a layer: one pool for the process, created at the first call. Idle workers do not keep the process alive. */
export const Sandbox = Context.Reference<SandboxService>("tools/sandbox/Sandbox", {
  defaultValue: () => make({}).service,
})

/** A sandbox with other limits; started when the layer is built, ended when its scope closes. */
export const sandboxLayer = (options: Partial<SandboxOptions> = {}): Layer.Layer<never> =>
  Layer.effect(
    Sandbox,
    Effect.acquireRelease(
      Effect.sync(() => {
        const made = make(options)
        made.pool.warm()
        return made
      }),
      ({ pool }) => pool.close,
    ).pipe(Effect.map(({ service }) => service)),
  )
