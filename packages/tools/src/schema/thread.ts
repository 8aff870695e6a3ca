/** The other side of `schemaWorker.ts`: asks it, and replaces it when an answer does not come in time. */
// edge: a worker thread and a timer; what is lost with them is a check, which is simply asked again.
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { brokenSchema, type SchemaFault } from "./compile.ts"
import type { Answer, Question } from "./worker.ts"

/** Compiling and checking what is within the caps takes milliseconds; a second is somebody's attack. */
const deadlineMillis = 1000
/** A thread that starts on a busy machine has done no work yet: its time is counted from when it is ready. */
const startMillis = 30_000

interface Asked {
  readonly question: Question
  readonly answer: (fault: SchemaFault | undefined) => void
  timer: NodeJS.Timeout | undefined
}

class SchemaThread {
  #worker: Worker | undefined
  #ready = false
  #next = 0
  readonly #asked = new Map<number, Asked>()

  check(
    digest: string,
    schema: Readonly<Record<string, unknown>>,
    value: unknown,
  ): Effect.Effect<SchemaFault | undefined> {
    return Effect.callback((resume) => {
      const question: Question = { id: this.#next++, digest, schema, value }
      const asked: Asked = { question, answer: (fault) => resume(Effect.succeed(fault)), timer: undefined }
      this.#asked.set(question.id, asked)
      this.#send(asked)
      return Effect.sync(() => this.#forget(question.id))
    })
  }

  #send(asked: Asked): void {
    const thread = this.#thread()
    this.#await(asked)
    thread.postMessage(asked.question)
  }

  /** The timer keeps the process alive until the answer is there, and no longer. */
  #await(asked: Asked): void {
    clearTimeout(asked.timer)
    asked.timer = setTimeout(() => this.#late(asked), this.#ready ? deadlineMillis : startMillis)
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128, stackSizeMb: 4 },
    })
    this.#ready = false
    worker.on("message", (answer: Answer | "ready") => {
      if (worker !== this.#worker) return
      if (answer === "ready") {
        this.#ready = true
        for (const one of this.#asked.values()) this.#await(one)
        return
      }
      const asked = this.#forget(answer.id)
      asked?.answer("broken" in answer ? brokenSchema(answer.broken) : answer.fault)
    })
    worker.on("error", (cause) =>
      this.#replace({
        path: "",
        expected: "arguments that can be checked",
        received: String(cause),
        says: `cannot be checked: ${String(cause)}`,
      }),
    )
    // Listening would keep the process alive; only a question that waits for its answer may.
    worker.unref()
    this.#worker = worker
    return worker
  }

  /** The one that took too long is refused; those that waited behind it are asked again of a new thread. */
  #late(asked: Asked): void {
    this.#forget(asked.question.id)
    asked.answer({
      path: "",
      expected: `arguments that can be checked within ${deadlineMillis} ms`,
      received: "more work than that",
      says: `cannot be checked within ${deadlineMillis} ms`,
    })
    this.#replace(undefined)
  }

  #replace(fault: SchemaFault | undefined): void {
    void this.#worker?.terminate()
    this.#worker = undefined
    for (const asked of this.#asked.values()) {
      clearTimeout(asked.timer)
      if (fault === undefined) this.#send(asked)
      else asked.answer(fault)
    }
    if (fault !== undefined) this.#asked.clear()
  }

  #forget(id: number): Asked | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    clearTimeout(asked?.timer)
    return asked
  }
}

/** One for the process: it holds nothing but caches. */
export const schemaThread = new SchemaThread()
