/**
 * The other side of `worker.ts`. One question at a time, askers in turn, each with a share of the thread's time and
 * each answer with a deadline: a thread that does not answer is replaced, and its question is refused.
 */
// edge: a worker thread and timers; what is lost with them is a check, which is simply asked again.
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { brokenSchema, type SchemaFault } from "./faults.ts"
import { TimeShares } from "./timeShares.ts"
import type { ValidationResult, ValidationRequest } from "./worker.ts"

export const threadLimits = {
  /** Compiling and checking within the limits takes milliseconds; a second means an attack. */
  deadlineMillis: 1000,
  /** A thread that starts on a busy machine has done no work yet: its time counts from when it is ready. */
  startMillis: 30_000,
  /** How many questions of one asker may wait. */
  queue: 64,
  /** The longest wait for a turn. */
  turnMillis: 20_000,
  /** Two seconds at once, and then a fifth of every second. */
  share: { burstMillis: 2000, part: 0.2 },
}
type Limits = typeof threadLimits

type Schema = Readonly<Record<string, unknown>>
type Reply = { readonly fault: SchemaFault | undefined } | { readonly unchecked: ReadonlyArray<string> }

interface Asked {
  readonly by: string
  readonly digest: string
  readonly schema: Schema
  /** Absent if only the schema is checked. */
  readonly given: { readonly value: unknown } | undefined
  readonly until: number
  readonly answer: (told: Reply) => void
}

const fault = (expected: string, received: string, says: string): Reply => ({
  fault: { path: "", expected, received, says },
})

export class SchemaThread {
  readonly #limits: Limits
  readonly #shares: TimeShares
  #worker: Worker | undefined
  #ready = false
  /** Schemas this thread has: they are not sent again. */
  readonly #sent = new Set<string>()
  /** The first entry has the next turn. */
  readonly #waiting = new Map<string, Array<Asked>>()
  #current: { readonly id: number; readonly asked: Asked; readonly since: number; timer: NodeJS.Timeout } | undefined
  #wake: NodeJS.Timeout | undefined
  #next = 0

  constructor(limits: Limits = threadLimits) {
    this.#limits = limits
    this.#shares = new TimeShares(limits.share)
  }

  /** Whether a schema can be compiled in time: a fault, or what of it is left unchecked. */
  prepare(by: string, digest: string, schema: Schema): Effect.Effect<Reply> {
    return this.#ask({ by, digest, schema, given: undefined })
  }

  check(by: string, digest: string, schema: Schema, value: unknown): Effect.Effect<SchemaFault | undefined> {
    return Effect.map(this.#ask({ by, digest, schema, given: { value } }), (told) =>
      "fault" in told ? told.fault : undefined,
    )
  }

  #ask(question: Omit<Asked, "until" | "answer">): Effect.Effect<Reply> {
    return Effect.callback((resume) => {
      const { queue, turnMillis } = this.#limits
      const line = this.#waiting.get(question.by) ?? []
      if (line.length >= queue)
        return resume(
          Effect.succeed(
            fault(
              "at most as many checks at once",
              `more than ${queue}`,
              `cannot be checked now: ${queue} checks of yours wait already; call again when they are done`,
            ),
          ),
        )
      const asked: Asked = {
        ...question,
        until: performance.now() + turnMillis,
        answer: (told) => resume(Effect.succeed(told)),
      }
      line.push(asked)
      this.#waiting.set(question.by, line)
      this.#turn()
      return Effect.sync(() => this.#drop(asked))
    })
  }

  #drop(asked: Asked): void {
    const line = this.#waiting.get(asked.by)
    const at = line?.indexOf(asked) ?? -1
    if (at >= 0) line!.splice(at, 1)
    if (line?.length === 0) this.#waiting.delete(asked.by)
  }

  /** Sends the next question: of the asker whose turn it is and who has not used up its share. */
  #turn(): void {
    clearTimeout(this.#wake)
    if (this.#current !== undefined || this.#waiting.size === 0) return
    const now = performance.now()
    let soonest = Infinity
    for (const [by, line] of this.#waiting) {
      while (line.length > 0 && line[0]!.until <= now) {
        const { turnMillis } = this.#limits
        line
          .shift()!
          .answer(
            fault(
              "a check that gets its turn",
              "too many before it",
              `cannot be checked now: it had no turn within ${turnMillis / 1000} s, because checks of yours take long; call again later`,
            ),
          )
      }
      if (line.length === 0) {
        this.#waiting.delete(by)
        continue
      }
      const wait = this.#shares.wait(by, now)
      if (wait === 0) {
        const asked = line.shift()!
        this.#waiting.delete(by)
        if (line.length > 0) this.#waiting.set(by, line)
        return this.#send(asked)
      }
      soonest = Math.min(soonest, wait, line[0]!.until - now)
    }
    // The timer keeps the process alive only until the answer is there.
    if (soonest < Infinity) this.#wake = setTimeout(() => this.#turn(), Math.ceil(soonest))
  }

  #send(asked: Asked): void {
    const thread = this.#thread()
    const id = this.#next++
    const { digest, given, schema } = asked
    this.#current = { id, asked, since: performance.now(), timer: this.#deadline() }
    const question: ValidationRequest = { id, digest, ...given, ...(this.#sent.has(digest) ? {} : { schema }) }
    this.#sent.add(digest)
    thread.postMessage(question)
  }

  #deadline(): NodeJS.Timeout {
    const { deadlineMillis, startMillis } = this.#limits
    return setTimeout(
      () =>
        this.#end(
          fault(
            `a schema and a value that can be checked within ${deadlineMillis} ms`,
            "more work than that",
            `cannot be checked within ${deadlineMillis} ms`,
          ),
        ),
      this.#ready ? deadlineMillis : startMillis,
    )
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      env: {},
      // A thread that runs out of memory may take the process down: memory use is limited before (`branches.ts`).
      resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 4 },
    })
    this.#ready = false
    this.#sent.clear()
    worker.on("message", (answer: ValidationResult | "ready") => {
      if (worker === this.#worker) this.#hear(answer)
    })
    worker.on("error", (cause) => {
      const told = String(cause).slice(0, 200)
      if (worker === this.#worker) this.#end(fault("arguments that can be checked", told, `cannot be checked: ${told}`))
    })
    // Listening would keep the process alive; only an open question may.
    worker.unref()
    this.#worker = worker
    return worker
  }

  #hear(answer: ValidationResult | "ready"): void {
    const current = this.#current
    if (answer === "ready") {
      this.#ready = true
      if (current === undefined) return
      clearTimeout(current.timer)
      this.#current = { ...current, since: performance.now(), timer: this.#deadline() }
    } else if (answer.id === current?.id) {
      if ("lacks" in answer) {
        const { digest, given, schema } = current.asked
        this.#worker!.postMessage({ id: current.id, digest, ...given, schema } satisfies ValidationRequest)
      } else this.#settle("broken" in answer ? { fault: brokenSchema(answer.broken) } : answer)
    }
  }

  /** It did not answer, or broke: the next question gets a new thread. */
  #end(told: Reply): void {
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#settle(told)
  }

  #settle(told: Reply): void {
    const current = this.#current
    this.#current = undefined
    if (current !== undefined) {
      clearTimeout(current.timer)
      const now = performance.now()
      this.#shares.charge(current.asked.by, now - current.since, now)
      current.asked.answer(told)
    }
    this.#turn()
  }
}

/** One for the process: it holds only caches. */
export const schemaThread = new SchemaThread()
