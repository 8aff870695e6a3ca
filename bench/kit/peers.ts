/** Programs of others that figures compare with. They live in `peers/`, and are nobody's dependency but the bench's. */
import { fork, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { ended } from "../processes.ts"

export const peers = fileURLToPath(new URL("../peers/", import.meta.url))

const read = <A>(file: string): A => JSON.parse(readFileSync(`${peers}${file}`, "utf8")) as A

const isInstalled = ([name, version]: readonly [string, string]): boolean => {
  const file = `node_modules/${name}/package.json`
  return existsSync(`${peers}${file}`) && read<{ readonly version: string }>(file).version === version
}

export const installPeers = (): void => {
  const { dependencies } = read<{ readonly dependencies: Record<string, string> }>("package.json")
  if (Object.entries(dependencies).every(isInstalled)) return
  console.error("installing the peers of this figure ...")
  const { status } = spawnSync("npm", ["install", "--loglevel=error"], { cwd: peers, stdio: ["ignore", 2, 2] })
  if (status !== 0) throw new Error("the peers could not be installed")
}

export interface Peer {
  readonly port: number
  readonly pid: number
  readonly ask: <A>(question: object) => Promise<A>
  readonly stop: () => Promise<void>
}

/** Starts one of the programs there, which tells its port; each leaves when its IPC channel closes. */
export const startPeer = async (program: string, ...args: ReadonlyArray<string>): Promise<Peer> => {
  const child = fork(`${peers}${program}`, [...args], { cwd: peers, execArgv: [] })
  const hear = <A>(): Promise<A> =>
    new Promise<A>((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`peer ${program} ${args.join(" ")} ended with ${code}`))
      child.once("exit", gone)
      child.once("message", (answer) => {
        child.off("exit", gone)
        resolve(answer as A)
      })
    })
  const { port } = await hear<{ readonly port: number }>()
  const ask = <A>(question: object): Promise<A> => {
    const answer = hear<A>()
    child.send(question)
    return answer
  }
  const stop = async () => {
    if (child.connected) child.disconnect()
    await ended(child)
  }
  return { port, pid: child.pid!, ask, stop }
}
