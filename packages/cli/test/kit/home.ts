/** Real processes for tests: a home with a data folder of its own, houses that run in it, and the commands of `stoa`. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect, type Stoa } from "@stoa/sdk"

const main = join(import.meta.dirname, "../../bin/stoa.mjs")
/** What this shell has set for a house of its own must not reach these. They share what Node compiled: it halves a start. */
const clean = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(STOA_|npm_|DATABASE_URL$)/.test(name))),
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../../../node_modules/.cache/compiled"),
}
/** Limits of a test are those of a load test, unless the test is about limits. */
const roomy = { limits: [{ principal: "*", resource: "*", count: 1_000_000, seconds: 60 }] }

export interface ProcessResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A process and what it says. */
export class RunningProcess {
  readonly child: ChildProcess
  readonly ended: Promise<ProcessResult>
  stdout = ""
  stderr = ""
  #closed = false
  readonly #waiting = new Set<() => void>()

  constructor(child: ChildProcess) {
    this.child = child
    const heard = (out: "stdout" | "stderr") => (text: string) => {
      this[out] += text
      this.#wake()
    }
    child.stdout!.setEncoding("utf8").on("data", heard("stdout"))
    child.stderr!.setEncoding("utf8").on("data", heard("stderr"))
    this.ended = new Promise((done) =>
      child.once("close", (code, signal) => {
        this.#closed = true
        this.#wake()
        done({ code, signal, stdout: this.stdout, stderr: this.stderr })
      }),
    )
  }

  #wake(): void {
    for (const look of this.#waiting) look()
  }

  /** Waits until it has said this; an end without it is a failure. */
  said(pattern: RegExp, out: "stdout" | "stderr" = "stdout"): Promise<RegExpExecArray> {
    return new Promise((found, fail) => {
      const look = () => {
        const match = pattern.exec(this[out])
        if (match === null && !this.#closed) return
        this.#waiting.delete(look)
        if (match !== null) found(match)
        else fail(new Error(`ended without saying ${pattern}:\n${this.stdout}${this.stderr}`))
      }
      this.#waiting.add(look)
      look()
    })
  }

  signal(signal: NodeJS.Signals): Promise<ProcessResult> {
    this.child.kill(signal)
    return this.ended
  }
}

export interface RunOptions {
  readonly env?: Record<string, string>
  readonly input?: string
  readonly cwd?: string
}

export interface House {
  readonly url: string
  readonly port: number
  readonly token: string
  readonly admin: Stoa
  readonly process: RunningProcess
  readonly stop: () => Promise<ProcessResult>
  readonly kill: () => Promise<ProcessResult>
}

/** A temporary folder in which houses run and commands are given; nothing of it stays. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), "stoa-home-"))
  readonly data = join(this.folder, "data")
  readonly config = join(this.folder, "stoa.config.json")
  readonly env: Record<string, string>
  readonly #all = new Set<RunningProcess>()

  constructor(env: Record<string, string> = {}) {
    this.env = { STOA_DATA: this.data, STOA_CONFIG: this.config, STOA_PORT: "0", STOA_LOG: "warn", ...env }
    this.configure(roomy)
  }

  configure(config: unknown): void {
    writeFileSync(
      this.config,
      typeof config === "string" ? config : JSON.stringify({ ...roomy, ...(config as object) }),
    )
  }

  /** Any program, in this home's surroundings. */
  program(command: string, args: ReadonlyArray<string>, options: RunOptions = {}): RunningProcess {
    const child = spawn(command, args, {
      cwd: options.cwd ?? this.folder,
      env: { ...clean, ...this.env, ...options.env },
      // A house leaves when this channel closes: however a test ends, none stays behind.
      stdio: args.includes("serve") ? ["pipe", "pipe", "pipe", "ipc"] : ["pipe", "pipe", "pipe"],
    })
    child.stdin!.on("error", () => {}).end(options.input ?? "")
    const running = new RunningProcess(child)
    this.#all.add(running)
    void running.ended.then(() => this.#all.delete(running))
    return running
  }

  spawn(args: ReadonlyArray<string>, options?: RunOptions): RunningProcess {
    return this.program(process.execPath, [main, ...args], options)
  }

  /** One command of `stoa`, to its end. */
  stoa(...args: ReadonlyArray<string>): Promise<ProcessResult> {
    return this.spawn(args).ended
  }

  async start(env: Record<string, string> = {}): Promise<House> {
    return this.waitForHouse(this.spawn(["serve"], { env }))
  }

  /** A house that was started somehow, once it is ready. */
  async waitForHouse(process: RunningProcess): Promise<House> {
    const [, url] = await process.said(/^Stoa is at (\S+)[\s\S]*\n.*\n/)
    const file = join(this.data, "admin.token")
    const token = existsSync(file) ? readFileSync(file, "utf8").trim() : this.env["STOA_ADMIN_TOKEN"]!
    return {
      url: url!,
      port: Number(new URL(url!).port),
      token,
      admin: connect({ url: url!, token }),
      process,
      stop: () => process.signal("SIGTERM"),
      kill: () => process.signal("SIGKILL"),
    }
  }

  /** On the port it had: whoever was connected finds it again. */
  restart(house: House): Promise<House> {
    return this.start({ STOA_PORT: String(house.port) })
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#all].map((running) => running.signal("SIGKILL")))
    rmSync(this.folder, { recursive: true, force: true })
  }
}
