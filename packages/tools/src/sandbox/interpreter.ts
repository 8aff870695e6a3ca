// edge: a WebAssembly module loads by promise, and its deadline is wall time.
/**
 * One QuickJS for one call, inside a worker. It has its own WebAssembly.Memory, whose maximum is the limit: QuickJS's
 * `setMemoryLimit` does not work in this build. The only host function it can reach is `emit`.
 */
import {
  newQuickJSWASMModule,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  RELEASE_SYNC,
} from "quickjs-emscripten"
import { harness } from "./harness.ts"
import type { Job, Outcome, Reason } from "./job.ts"

const page = 65_536
const leastPages = 256
/** QuickJS's JS_EVAL_FLAG_ASYNC: top-level `await`, and a promise of `{ value }` of the last expression. */
const asynchronous = 1 << 7
/** Extra time to report what went wrong after the deadline. */
const explainMs = 50

export interface Interpreter {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  readonly memory: WebAssembly.Memory
  readonly maxBytes: number
}

export const prepare = async (memoryBytes: number): Promise<Interpreter> => {
  const maximum = Math.max(leastPages, Math.floor(memoryBytes / page))
  const memory = new WebAssembly.Memory({ initial: leastPages, maximum })
  const module = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory: memory }))
  const runtime = module.newRuntime()
  return { runtime, context: runtime.newContext(), memory, maxBytes: maximum * page }
}

/** At most `bytes` of UTF-8, cut between characters. */
const bound = (text: string, bytes: number): string => {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  let end = bytes
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--
  return whole.subarray(0, end).toString()
}

interface Tools {
  readonly settle: QuickJSHandle
  readonly encode: QuickJSHandle
  readonly explain: QuickJSHandle
}

/** Evaluates; code with a `return` outside of any function is evaluated as a function body. */
const evaluate = (context: QuickJSContext, code: string) => {
  const first = context.evalCode(code, "code.js", asynchronous)
  if (first.error === undefined) return first
  const message = context.getProp(first.error, "message")
  const bare = context.typeof(message) === "string" && context.getString(message) === "return not in a function"
  return bare ? context.evalCode(`(async () => {${code}\n})()`, "code.js", asynchronous) : first
}

export const interpret = ({ runtime, context, memory, maxBytes }: Interpreter, job: Job): Outcome => {
  const lines: Array<string> = []
  let left = job.outputBytes
  /** Returns whether there is room for more. */
  const emit = (line: string): boolean => {
    const kept = bound(line, left)
    left -= Buffer.byteLength(kept) + 1
    lines.push(kept)
    if (kept.length === line.length && left > 0) return true
    lines.push(`[the log ends here: ${job.outputBytes} bytes are the most]`)
    return false
  }
  const failed = (reason: Reason, detail: string): Outcome => ({ done: false, reason, detail, logs: lines.join("\n") })
  // A request that does not fit is refused without growing, so having grown at all is the only sign.
  const strained = () => memory.buffer.byteLength > leastPages * page || maxBytes === leastPages * page

  const end = performance.now() + job.timeMs
  let late = false
  runtime.setMaxStackSize(job.stackBytes)
  runtime.setInterruptHandler(() => (late ||= performance.now() > end))

  const run = (): Outcome => {
    const made = context.unwrapResult(context.evalCode(harness, "harness.js"))
    const out = context.newFunction("emit", (line) => (emit(context.getString(line)) ? context.true : context.false))
    const parts = context.unwrapResult(
      context.callFunction(made, context.undefined, out, context.newNumber(job.outputBytes)),
    )
    const tools: Tools = {
      settle: context.getProp(parts, "settle"),
      encode: context.getProp(parts, "encode"),
      explain: context.getProp(parts, "explain"),
    }
    const explain = (error: QuickJSHandle): Outcome => {
      const wasLate = late
      const until = performance.now() + explainMs
      runtime.setInterruptHandler(() => performance.now() > until)
      const told = context.callFunction(tools.explain, context.undefined, error)
      const detail = told.error === undefined ? context.getString(told.value) : ""
      if (wasLate) return failed("time", detail)
      const exhausted = detail.startsWith("InternalError: out of memory") || (strained() && /^(null)?$/.test(detail))
      return failed(exhausted ? "memory" : "error", detail)
    }
    const evaluated = evaluate(context, job.code)
    if (evaluated.error !== undefined) return explain(evaluated.error)
    if (late) {
      const stopped = context.getPromiseState(evaluated.value)
      return stopped.type === "rejected" ? explain(stopped.error) : failed("time", "")
    }
    const settling = context.callFunction(tools.settle, context.undefined, evaluated.value)
    if (settling.error !== undefined) return explain(settling.error)
    // A few at a time: the interpreter checks the clock within a job, not between two.
    while (!late && runtime.hasPendingJob()) {
      const ran = runtime.executePendingJobs(64)
      if (ran.error !== undefined) return explain(ran.error)
      late ||= performance.now() > end
    }
    const state = context.getPromiseState(settling.value)
    if (state.type === "rejected") return explain(state.error)
    if (late) return failed("time", "")
    if (state.type === "pending") return failed(strained() ? "memory" : "pending", "")
    const encoded = context.callFunction(tools.encode, context.undefined, state.value)
    if (encoded.error !== undefined) return explain(encoded.error)
    const is = (name: string) => context.dump(context.getProp(encoded.value, name)) === true
    const text = context.getString(context.getProp(encoded.value, "text"))
    const kept = bound(text, job.outputBytes)
    const truncated = is("cut") || kept.length < text.length
    return { done: true, json: is("json"), text: kept, truncated, logs: lines.join("\n") }
  }

  try {
    return run()
  } catch (fault) {
    // The interpreter may abort or violate its own bounds when memory or the host's stack runs out.
    if (late) return failed("time", "")
    return strained() ? failed("memory", "") : failed("crash", String(fault).slice(0, 500))
  }
}
