/** A real child process for tests that kill: its lines as they come, and no process left when the scope ends. */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { join, relative } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Deferred, Effect, Queue } from "effect"

/** What Node compiled is shared by all of them: it halves a start. Whoever is to be killed writes it down once it is ready. */
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(process.env["TEST_PROGRAMS"]!, "compiled"),
}

/** As it was bundled for this run (test/global-setup.ts), or its source. */
const fileOf = (program: URL): string => {
  const file = fileURLToPath(program)
  const bundled = join(process.env["TEST_PROGRAMS"]!, `${relative(tests, file).replace(/\.ts$/, "")}.mjs`)
  return existsSync(bundled) ? bundled : file
}
const tests = join(import.meta.dirname, "../..")

export const spawned = (program: URL, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const child = spawn(process.execPath, [fileOf(program), ...args], {
        stdio: ["pipe", "pipe", "pipe"],
        env,
      })
      const lines = yield* Queue.unbounded<string>()
      const exited = yield* Deferred.make<number | null>()
      let errors = ""
      createInterface(child.stdout).on("line", (line) => Queue.offerUnsafe(lines, line))
      child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
      child.on("close", (code) => {
        Queue.offerUnsafe(lines, `exited with ${code}: ${errors}`)
        Deferred.doneUnsafe(exited, Effect.succeed(code))
      })
      return {
        pid: child.pid!,
        line: Queue.take(lines),
        /** What was said and not yet taken. */
        rest: Queue.clear(lines),
        say: (line: string) => Effect.sync(() => void child.stdin.write(`${line}\n`)),
        exit: Deferred.await(exited),
        kill: Effect.andThen(
          Effect.sync(() => child.kill("SIGKILL")),
          Deferred.await(exited),
        ),
      }
    }),
    (child) => child.kill,
  )
