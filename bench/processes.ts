/**
 * The processes a figure needs: a house, and children of our own (`children/`). Each holds an IPC channel to this one and
 * leaves when it closes, so that nothing stays behind, however the bench ends.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ChildName } from "./children/children.ts"

export const root = fileURLToPath(new URL("..", import.meta.url))
const main = fileURLToPath(new URL("main.ts", import.meta.url))
const tmpfs = 0x01021994

/** On a real disk: a commit that is synced to memory says nothing. */
export const temporaryFolder = (): string => {
  const inMemory = statfsSync(tmpdir()).type === tmpfs
  const parent = inMemory ? join(root, "node_modules", ".cache") : tmpdir()
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, "stoa-bench-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

export const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
  })

/** Settings of ours in the caller's shell are not the bench's. */
export const environment = (settings: Record<string, string>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(STOA_|DATABASE_URL$)/.test(name))),
  ...settings,
})

export interface House {
  readonly port: number
  readonly token: string
  readonly pid: number
  readonly stop: () => Promise<void>
  /** Ends it as kill -9 does. */
  readonly kill: () => Promise<void>
  /** What it holds after collecting garbage. Only of a house that was started with `memoryProbe`. */
  readonly memory: () => Promise<NodeJS.MemoryUsage>
  /** How many statements it has given to SQLite on its event loop. Only of one that was started with `statementProbe`. */
  readonly statements: () => Promise<number>
}

export interface HouseOptions {
  readonly nodeOptions?: ReadonlyArray<string>
  readonly config?: object
  /** The address of a Postgres database; a SQLite file in its folder, if not given. */
  readonly database?: string
  /** Settings beside the usual ones. */
  readonly env?: Readonly<Record<string, string>>
  /** From the sources, not from the bundle that people start: for whoever looks at files. */
  readonly sources?: boolean
}

const probe = `process.on("message",(asked)=>{if(asked==="memory"){gc();gc();process.send(process.memoryUsage())}})`
export const memoryProbe = ["--expose-gc", "--import", `data:text/javascript,${encodeURIComponent(probe)}`]
const counting = `import{StatementSync as S}from"node:sqlite";let n=0;for(const k of["run","all","get","iterate"]){const f=S.prototype[k];S.prototype[k]=function(...a){n++;return f.apply(this,a)}}process.on("message",(asked)=>{if(asked==="statements")process.send(n)})`
export const statementProbe = ["--import", `data:text/javascript,${encodeURIComponent(counting)}`]

/** The limits out of the way. */
export const roomy = { limits: [{ principal: "*", resource: "*", count: 10_000_000, seconds: 60 }] }

/** A house with the usual settings, except that its limits are out of the way. */
export const startHouse = async (data: string, options: HouseOptions = {}): Promise<House> => {
  const config = `${data}.config.json`
  writeFileSync(config, JSON.stringify({ ...roomy, ...options.config }))
  const database: Record<string, string> = options.database === undefined ? {} : { DATABASE_URL: options.database }
  const nodeOptions = options.nodeOptions ?? []
  const main = options.sources === true ? "packages/cli/src/main.ts" : "packages/cli/bin/stoa.mjs"
  const child = spawn(process.execPath, [...nodeOptions, join(root, main), "serve"], {
    cwd: data.slice(0, data.lastIndexOf("/")),
    env: environment({
      STOA_DATA: data,
      STOA_PORT: "0",
      STOA_LOG: "error",
      STOA_CONFIG: config,
      ...database,
      ...options.env,
    }),
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  })
  const port = await new Promise<number>((resolve, reject) => {
    let said = ""
    child.stdout!.on("data", (chunk: Buffer) => {
      said += chunk.toString()
      const found = /Stoa is at http:\/\/[^:]+:(\d+)/.exec(said)
      if (found !== null) resolve(Number(found[1]))
    })
    child.once("exit", (code) => reject(new Error(`the house did not start: exit ${code}`)))
  })
  const token = options.env?.["STOA_ADMIN_TOKEN"] ?? readFileSync(join(data, "admin.token"), "utf8").trim()
  const stop = async () => {
    child.kill("SIGTERM")
    await ended(child)
  }
  const kill = async () => {
    child.kill("SIGKILL")
    await ended(child)
  }
  const asked = <A>(question: string): Promise<A> =>
    new Promise((resolve) => {
      child.once("message", (answer) => resolve(answer as A))
      child.send(question)
    })
  const memory = () => asked<NodeJS.MemoryUsage>("memory")
  const statements = () => asked<number>("statements")
  return { port, token, pid: child.pid!, stop, kill, memory, statements }
}

export interface Child {
  readonly pid: number
  /** One question at a time; the answer is the child's next message. */
  readonly ask: <A>(question: object) => Promise<A>
  readonly stop: () => Promise<void>
}

export const startChild = (name: ChildName, nodeOptions: ReadonlyArray<string> = []): Child => {
  const child = fork(main, ["--child", name], { execArgv: [...nodeOptions] })
  const ask = <A>(question: object): Promise<A> =>
    new Promise<A>((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`bench child ${name} ended with ${code}`))
      child.once("exit", gone)
      child.once("message", (answer) => {
        child.off("exit", gone)
        resolve(answer as A)
      })
      child.send(question)
    })
  const stop = async () => {
    if (child.connected) child.disconnect()
    await ended(child)
  }
  return { pid: child.pid!, ask, stop }
}

/** Seconds of processor that a process has used. */
export const processorSeconds = (pid: number): number => {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return Number.NaN
  const fields = readFileSync(file, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export const sleep = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
