/**
 * A server we start as a process of its own group, and how it ends: stdin closed, a while to go, TERM, KILL (S4-78).
 * A watcher in the same group reads a pipe that only we hold: when it ends, because we closed it or were killed, the
 * watcher ends what is left of the group. So nothing outlives us, grandchildren included.
 */
// edge: processes, signals and their timers
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"

export interface ChildOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
  /** How long each step towards the end may take. */
  readonly graceMs: number
}

// $$ is the process that becomes the server, and by `detached` the leader of the group. The watcher outlives the TERM it
// sends. It holds none of the server's pipes, or the server's end would not be seen.
const watched = `
{ trap "" TERM INT HUP
  cat <&3
  n=0; while [ $n -lt 20 ] && kill -0 $$; do sleep 0.1; n=$((n+1)); done
  kill -TERM -$$
  n=0; while [ $n -lt 20 ] && kill -0 $$; do sleep 0.1; n=$((n+1)); done
  kill -KILL -$$
} </dev/null >/dev/null 2>&1 &
exec 3<&-
exec "$@"`

/** Windows has neither groups nor signals: there, closing stdin and ending the process itself must do. */
const grouped = process.platform !== "win32"

export class Child {
  readonly #process: ChildProcess
  readonly #graceMs: number
  readonly ended: Promise<number | null>
  #said = ""
  #code: number | null = null

  constructor({ args, command, cwd, env, graceMs }: ChildOptions) {
    this.#graceMs = graceMs
    const common = { env, ...(cwd === undefined ? {} : { cwd }), windowsHide: true }
    this.#process = grouped
      ? spawn("/bin/sh", ["-c", watched, "sh", command, ...args], {
          ...common,
          detached: true,
          stdio: ["pipe", "pipe", "pipe", "pipe"],
        })
      : spawn(command, [...args], { ...common, stdio: ["pipe", "pipe", "pipe"] })
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-2000)
    })
    // A pipe that breaks because the process died says nothing that its end does not say.
    for (const pipe of this.#process.stdio) pipe?.on("error", () => {})
    this.ended = new Promise((resolve) => {
      this.#process.once("error", (error) => {
        this.#said += error.message
        resolve(null)
      })
      this.#process.once("exit", (code) => {
        this.#code = code
        // What it wrote last may still be in the pipe; but a grandchild that holds the pipe must not hold us up.
        const late = setTimeout(() => resolve(code), 200)
        this.#process.once("close", () => {
          clearTimeout(late)
          resolve(code)
        })
      })
    })
    void this.ended.then(() => this.#release())
  }

  get pid(): number | undefined {
    return this.#process.pid
  }
  get stdin(): Writable {
    return this.#process.stdin!
  }
  get stdout(): Readable {
    return this.#process.stdout!
  }
  /** A shell's 126 and 127: there is no such program, or it may not be run. */
  get unstartable(): boolean {
    return this.pid === undefined || this.#code === 126 || this.#code === 127
  }
  /** The end of what it wrote to stderr: the best explanation there is when it would not start. */
  get said(): string {
    return this.#said.trim()
  }
  get spawned(): Promise<void> {
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
      // Gone already, which is what was wanted.
    }
  }

  #release(): void {
    for (const pipe of this.#process.stdio) pipe?.destroy()
  }

  async #endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    const ended = await Promise.race([this.ended.then(() => true), late])
    clearTimeout(timer)
    return ended
  }

  async end(): Promise<void> {
    this.#process.stdin?.end()
    if (await this.#endsWithin(this.#graceMs)) return
    this.#signal("SIGTERM")
    if (await this.#endsWithin(this.#graceMs)) return
    this.#signal("SIGKILL")
    await this.#endsWithin(this.#graceMs)
    this.#release()
  }
}
