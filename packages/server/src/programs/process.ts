/** Runs one process: writes its input at once, reads its output as it arrives, within limits of time and size. */
// edge: streams of a process
import { openProgram, type Program, type ProgramOptions } from "@stoa/tools"
import { Effect } from "effect"

/** In bytes: a program with more output than this is broken. */
const maxOutput = 8 * 1024 * 1024

export type ProcessEnd =
  | { readonly end: "exited"; readonly code: number | null; readonly stderr: string; readonly startable: boolean }
  | { readonly end: "late" }
  | { readonly end: "large" }

const followed = (program: Program, stdin: string | Uint8Array, take: (chunk: Buffer) => void, most: number) =>
  Effect.callback<ProcessEnd>((resume) => {
    let size = 0
    program.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > most) resume(Effect.succeed({ end: "large" }))
      else take(chunk)
    })
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

/** Returns when it and all its child processes have ended. */
export const runProcess = (
  options: ProgramOptions,
  stdin: string | Uint8Array,
  seconds: number,
  take: (chunk: Buffer) => void,
  most: number = maxOutput,
): Effect.Effect<ProcessEnd> =>
  Effect.scoped(
    Effect.flatMap(openProgram(options), (program) =>
      Effect.timeoutOrElse(followed(program, stdin, take, most), {
        duration: `${seconds} seconds`,
        orElse: () => Effect.succeed<ProcessEnd>({ end: "late" }),
      }),
    ),
  )
