// edge: a worker thread speaks by messages.
/** Runs one job after the other, each in its own interpreter; the next interpreter is prepared in between. */
import { parentPort, workerData } from "node:worker_threads"
import { interpret, prepare } from "./interpreter.ts"
import type { Job, Report } from "./job.ts"

const { memoryBytes } = workerData as { readonly memoryBytes: number }
const say = (report: Report) => parentPort?.postMessage(report)

let next = prepare(memoryBytes)
const work = async (job: Job) => {
  const interpreter = await next
  say("started")
  say(interpret(interpreter, job))
  next = prepare(memoryBytes)
}
parentPort?.on("message", (job: Job) => void work(job))
