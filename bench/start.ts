/** Start to ready: from spawning the process to the first 200 of /readyz, against Node doing nothing. */
import { spawn } from "node:child_process"
import { get } from "node:http"
import { join } from "node:path"
import { ratio, spread, table } from "./kit/measure.ts"
import { ended, environment, freePort, root, sleep, temporaryFolder } from "./processes.ts"

const rounds = 5
const npmRounds = 3
const longestMillis = 30_000

const isReady = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const request = get({ port, host: "127.0.0.1", path: "/readyz", agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on("error", () => resolve(false))
  })

interface Start {
  readonly millis: number
  readonly said: string
}

const timed = async (command: string, args: ReadonlyArray<string>, data: string): Promise<Start> => {
  const port = await freePort()
  const started = performance.now()
  const child = spawn(command, args, {
    cwd: root,
    // npm does not always hand a signal on; its group is ours to end.
    detached: true,
    env: environment({
      STOA_DATA: data,
      STOA_PORT: String(port),
      STOA_LOG: "error",
      STOA_CONFIG: "stoa.config.json",
      STOA_DEMO: "off",
    }),
    stdio: ["ignore", "pipe", "pipe"],
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()))
  while (!(await isReady(port))) {
    const millis = performance.now() - started
    if (child.exitCode !== null || millis > longestMillis) throw new Error(`not ready after ${millis} ms: ${said}`)
    await sleep(3)
  }
  const millis = performance.now() - started
  process.kill(-child.pid!, "SIGTERM")
  await ended(child)
  return { millis, said }
}

const nothing = async (): Promise<number> => {
  const started = performance.now()
  await ended(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }))
  return performance.now() - started
}

export const start = async (): Promise<string> => {
  const folder = temporaryFolder()
  const house = [join(root, "packages/cli/bin/stoa.mjs"), "serve"]
  const fresh: Array<number> = []
  const again: Array<number> = []
  const node: Array<number> = []
  // Once before, so that the disk's cache is the same for all.
  await timed(process.execPath, house, join(folder, "before"))
  for (let round = 0; round < rounds; round++) {
    const data = join(folder, `${round}`)
    node.push(await nothing())
    fresh.push((await timed(process.execPath, house, data)).millis)
    again.push((await timed(process.execPath, house, data)).millis)
  }
  const byNpm: Array<Start> = []
  for (let round = 0; round < npmRounds; round++)
    byNpm.push(await timed("npm", ["start"], join(folder, `npm-${Math.min(1, round)}`)))
  const npm = byNpm.map((one) => one.millis)
  const installed = byNpm.some((one) => /install/.test(one.said))
  return [
    `${rounds} rounds in turn (npm start: ${npmRounds}). Aim 1,500 ms, at most 3,000 ms.`,
    "",
    table(
      ["what", "ms", "to node -e 0"],
      [
        ["node -e 0, to its end", spread(node), "1"],
        ["stoa serve, new folder", spread(fresh), ratio(fresh, node)],
        ["stoa serve, existing folder", spread(again), ratio(again, node)],
        ["npm start, when all is installed", spread(npm), ratio(npm, node)],
      ],
    ),
    "",
    installed ? "npm start INSTALLED SOMETHING." : "npm start installed nothing.",
  ].join("\n")
}
