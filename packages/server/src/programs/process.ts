/** Runs one process: writes its input at once, reads its output as it arrives, within limits of time and size. */
// edge: streams of a process, and its priority
import { writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { openProgram, type Program, type ProgramOptions } from "@stoa/tools"
import { Effect } from "effect"

/** In bytes: a program with more output than this is broken. */
const maxOutput = 8 * 1024 * 1024

export type ProcessEnd =
  | { readonly end: "exited"; readonly code: number | null; readonly stderr: string; readonly startable: boolean }
  | { readonly end: "late" }
  | { readonly end: "large" }
  /** It used too much of the machine, as the sentence says. */
  | { readonly end: "over"; readonly what: string }

export interface ProcessOptions extends ProgramOptions {
  /** Ends with a sentence when the process has used too much. */
  readonly watch?: (pid: number) => Effect.Effect<string>
  /** The house is served first, by the processor and when memory runs out. */
  readonly yields?: true
}

const followed = (program: Program, stdin: string | Uint8Array, take: (chunk: Buffer) => void, most: number) =>
  Effect.callback<ProcessEnd>((resume) => {
    let size = 0
    const isLarge = (chunk: Buffer | string): boolean => {
      size += chunk.length
      if (size > most) resume(Effect.succeed({ end: "large" }))
      return size > most
    }
    program.stdout.on("data", (chunk: Buffer) => {
      if (!isLarge(chunk)) take(chunk)
    })
    program.errors.on("data", isLarge)
    void program.exited.then((code) =>
      resume(
        Effect.succeed({
          end: "exited",
          code,
          stderr: program.stderr,
          startable: !program.unstartable,
        } satisfies ProcessEnd),
      ),
    )
    program.stdin.end(stdin)
  })

const niceness = 10
/** Its children inherit both. */
const giveWay = (pid: number): void => {
  try {
    setPriority(pid, niceness)
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/oom_score_adj`, "1000")
  } catch {
    // It has ended already, or this machine does not allow it.
  }
}

/** Returns when it and all its child processes have ended. */
export const runProcess = (
  { watch, yields, ...options }: ProcessOptions,
  stdin: string | Uint8Array,
  seconds: number,
  take: (chunk: Buffer) => void,
  most: number = maxOutput,
): Effect.Effect<ProcessEnd> =>
  Effect.scoped(
    Effect.flatMap(openProgram(options), (program) => {
      const { pid } = program
      if (yields === true && pid !== undefined) giveWay(pid)
      const ended = followed(program, stdin, take, most)
      const watched =
        watch === undefined || pid === undefined
          ? ended
          : Effect.raceFirst(
              ended,
              Effect.map(watch(pid), (what): ProcessEnd => ({ end: "over", what })),
            )
      return Effect.timeoutOrElse(watched, {
        duration: `${seconds} seconds`,
        orElse: () => Effect.succeed<ProcessEnd>({ end: "late" }),
      })
    }),
  )
