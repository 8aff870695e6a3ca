// edge: worker threads speak in events, and the last wall against code that never ends is a real timer.
/**
 * Worker threads that run foreign code. A call has one to itself; a worker that was late, full or broken is ended,
 * never reused. Two limits enforce the time: the interpreter's own, and ending its thread.
 */
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { FairQueue } from "./fairQueue.ts"
import type { Job, Outcome, Reason, Report } from "./job.ts"

export interface PoolOptions {
  readonly size: number
  /** Calls that may wait for a worker; one more is refused at once. */
  readonly queue: number
  readonly memoryBytes: number
}

/** After this many calls a worker is replaced, so that nothing can accumulate in it. */
const callsPerWorker = 200
const startMs = 20_000
/** Between the inner time limit and the outer one. */
const graceMs = 500

interface Slot {
  readonly worker: Worker
  calls: number
}

const failure = (reason: Reason, detail: string): Outcome => ({ done: false, reason, detail, logs: "" })

export const makePool = ({ memoryBytes, queue, size }: PoolOptions) => {
  const idle: Array<Slot> = []
  const all = new Set<Slot>()
  const turns = new FairQueue(size, queue)
  let closed = false

  const open = (): Slot => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      workerData: { memoryBytes },
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    })
    const slot: Slot = { worker, calls: 0 }
    // An idle worker neither keeps the process alive nor, when it dies, ends it. Reading its stdout or stderr would
    // keep the process alive (Node refs the port for it); they are detached from ours and left unread, since code
    // cannot write there.
    worker.unref()
    worker.on("error", () => drop(slot))
    worker.on("exit", () => drop(slot))
    all.add(slot)
    return slot
  }
  const drop = (slot: Slot) => {
    all.delete(slot)
    const at = idle.indexOf(slot)
    if (at >= 0) idle.splice(at, 1)
  }
  const end = (slot: Slot) => {
    drop(slot)
    return slot.worker.terminate()
  }
  const warm = () => {
    if (!closed && idle.length === 0 && all.size < size) idle.push(open())
  }

  const work = (job: Job) =>
    Effect.callback<Outcome>((resume) => {
      const slot = idle.pop() ?? open()
      const { worker } = slot
      slot.calls++
      let wall = setTimeout(() => finish(failure("crash", "the worker did not start")), startMs)
      const finish = (outcome: Outcome) => {
        release(outcome.done || outcome.reason === "error" || outcome.reason === "pending")
        resume(Effect.succeed(outcome))
      }
      const heard = (report: Report) => {
        if (report !== "started") return finish(report)
        clearTimeout(wall)
        wall = setTimeout(() => finish(failure("time", "")), job.timeMs + graceMs)
      }
      const broke = (fault: unknown) => {
        const full =
          typeof fault === "object" && fault !== null && "code" in fault && fault.code === "ERR_WORKER_OUT_OF_MEMORY"
        finish(failure(full ? "memory" : "crash", String(fault)))
      }
      const gone = (code: number) => finish(failure("crash", `the worker ended with ${code}`))
      const release = (sound: boolean) => {
        clearTimeout(wall)
        worker.off("message", heard).off("error", broke).off("exit", gone)
        if (sound && !closed && slot.calls < callsPerWorker) {
          worker.unref()
          idle.push(slot)
        } else {
          void end(slot)
          warm()
        }
      }
      worker.on("message", heard).on("error", broke).on("exit", gone)
      worker.ref()
      worker.postMessage(job)
      return Effect.sync(() => release(false))
    })

  return {
    warm,
    /** `by`: the caller. Calls of one caller wait for each other before they wait for those of others. */
    run: (job: Job, by: string): Effect.Effect<Outcome> =>
      Effect.suspend(() => {
        if (closed) return Effect.succeed(failure("busy", "the sandbox is closed"))
        const full = turns.full(by)
        return full === undefined ? turns.within(by, work(job)) : Effect.succeed(failure("busy", full))
      }),
    close: Effect.promise(() => {
      closed = true
      return Promise.all([...all].map(end))
    }),
  }
}
