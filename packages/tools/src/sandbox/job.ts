/** The messages between the pool and its workers. Both sides are ours; the code in between is not. */

export interface Limits {
  /** How long the code may run. Waiting for a free worker does not count. */
  readonly timeMs: number
  /** All memory of the code, including its result. 16 MiB is the least QuickJS starts with. */
  readonly memoryBytes: number
  /** For the result, and again for the log. */
  readonly outputBytes: number
  readonly stackBytes: number
}

export interface Job {
  readonly code: string
  readonly timeMs: number
  readonly outputBytes: number
  readonly stackBytes: number
}

/** `pending`: the code waits for something that can never happen here. `crash`: the interpreter itself failed. */
export type Reason = "error" | "time" | "memory" | "pending" | "crash" | "busy" | "size"

export type Outcome =
  | {
      readonly done: true
      readonly json: boolean
      readonly text: string
      readonly truncated: boolean
      readonly logs: string
    }
  | { readonly done: false; readonly reason: Reason; readonly detail: string; readonly logs: string }

/** The time of a call starts when its worker says so: loading a worker is not the code's fault. */
export type Report = "started" | Outcome
