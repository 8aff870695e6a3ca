/**
 * A program that the house starts: an MCP server over stdio, or the program of an agent. It runs in its own process
 * group and is ended as a whole, with everything it has started: stdin closed, a grace time, TERM, KILL (S4-78). A
 * small watcher in another group does this. It reads a pipe that only this process holds, so that it also ends the
 * group when this process is killed.
 */
// edge: processes, signals and their timers
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { Effect, type Scope } from "effect"

export interface ProgramOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** The complete environment: nothing of ours is passed on. `programEnvironment` makes a small one. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
  /** How long each step of ending it may take. */
  readonly graceMs: number
}

/** Windows has neither groups nor signals: there we can only close stdin and end the process itself. */
const grouped = process.platform !== "win32"

// The program starts only after its watcher has: a house killed in between leaves nothing behind.
const waitsForWord = `read -r _ <&3 || exit 0; exec 3<&-; exec "$@"`

// $1 is the group, $2 the tenths of a second of a step. A line on the pipe: its grace time is over. The end of the pipe
// without a line: we were killed, and the program must see the end of its stdin first.
const watches = `
trap "" TERM INT HUP
gone() { n=0; while [ $n -lt "$tenths" ]; do kill -0 "-$group" || exit 0; sleep 0.1; n=$((n+1)); done; }
group=$1 tenths=$2
read -r _ || gone
kill -TERM "-$group"; gone
kill -KILL "-$group"; gone`

/** How many characters of stderr are kept, from the end. */
const keptStderr = 2000
/** Its last output may still be in the pipe; but a grandchild that holds the pipe must not delay us. */
const drainMs = 200

export class Program {
  readonly #process: ChildProcess
  readonly #watcher: ChildProcess | undefined
  readonly #graceMs: number
  /** The program itself has exited, with this code; its children may still run. */
  readonly exited: Promise<number | null>
  #swept: Promise<void> | undefined
  #stderr = ""
  #code: number | null = null

  constructor({ args, command, cwd, env, graceMs }: ProgramOptions) {
    this.#graceMs = graceMs
    const common = { env, ...(cwd === undefined ? {} : { cwd }), windowsHide: true }
    const pipes = ["pipe", "pipe", "pipe"] as const
    this.#process = grouped
      ? spawn("/bin/sh", ["-c", waitsForWord, "sh", command, ...args], {
          ...common,
          detached: true,
          stdio: [...pipes, "pipe"],
        })
      : spawn(command, [...args], { ...common, stdio: [...pipes] })
    this.#watcher = grouped && this.pid !== undefined ? this.#watch(this.pid) : undefined
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptStderr)
    })
    // A pipe that breaks because the process died adds nothing to the exit.
    for (const pipe of this.#process.stdio) pipe?.on("error", () => {})
    this.exited = new Promise((resolve) => {
      this.#process.once("error", (error) => {
        this.#stderr += error.message
        resolve(null)
      })
      this.#process.once("exit", (code) => {
        this.#code = code
        // On a busy machine the time may be over before anything was read: what is in the pipes is read first.
        const late = setTimeout(() => setImmediate(resolve, code), drainMs)
        this.#process.once("close", () => {
          clearTimeout(late)
          resolve(code)
        })
      })
    })
    void this.exited.then(() => this.#sweep())
    const go = this.#process.stdio[3] as Writable | null | undefined
    go?.end("go\n")
  }

  #watch(group: number): ChildProcess {
    const tenths = String(Math.max(1, Math.ceil(this.#graceMs / 100)))
    const watcher = spawn("/bin/sh", ["-c", watches, "sh", String(group), tenths], {
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    })
    watcher.once("error", () => {})
    watcher.stdin.on("error", () => {})
    return watcher
  }

  get pid(): number | undefined {
    return this.#process.pid
  }
  get stdin(): Writable {
    return this.#process.stdin!
  }
  /** Flow-controlled: a program that writes faster than we read has to wait. */
  get stdout(): Readable {
    return this.#process.stdout!
  }
  /** What it says of itself; only the end of it is kept. */
  get errors(): Readable {
    return this.#process.stderr!
  }
  /** The shell's exit codes 126 and 127: the program does not exist, or may not be run. */
  get unstartable(): boolean {
    return this.pid === undefined || this.#code === 126 || this.#code === 127
  }
  /** The end of its stderr: the best explanation if it would not start. */
  get stderr(): string {
    return this.#stderr.trim()
  }
  get started(): Promise<void> {
    return this.pid === undefined
      ? new Promise((_, reject) => {
          this.#process.once("error", reject)
        })
      : Promise.resolve()
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.pid
    if (pid === undefined) return
    try {
      process.kill(grouped ? -pid : pid, signal)
    } catch {
      // Gone already, as intended.
    }
  }

  /** Ends the rest of the group, once, and returns when nothing is left. */
  #sweep(): Promise<void> {
    return (this.#swept ??= this.#endGroup())
  }
  async #endGroup(): Promise<void> {
    const watcher = this.#watcher
    if (watcher !== undefined && watcher.exitCode === null && watcher.signalCode === null) {
      const ended = new Promise<void>((resolve) => {
        watcher.once("exit", () => resolve())
        watcher.once("error", () => resolve())
      })
      watcher.stdin?.end("end\n")
      await ended
    }
    // Even if the watcher is gone.
    this.#signal("SIGKILL")
    await this.#exitsWithin(drainMs)
    for (const pipe of this.#process.stdio) pipe?.destroy()
  }

  /** Closes its stdin, waits for the grace time, then ends it. Returns when it and its children are gone. */
  async end(): Promise<void> {
    this.#process.stdin?.end()
    if (this.pid === undefined) return
    await this.#exitsWithin(this.#graceMs)
    await this.#sweep()
  }

  /** Whether it has exited by the end of its grace time, with all that it said. */
  exitsSoon(): Promise<boolean> {
    return this.#exitsWithin(this.#graceMs)
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    const exited = await Promise.race([this.exited.then(() => true), late])
    clearTimeout(timer)
    return exited
  }
}

/** A program that runs while the scope lives. */
export const openProgram = (options: ProgramOptions): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Program(options)),
    (program) => Effect.promise(() => program.end()),
  )
