// `npm run test:clients`: real MCP clients of others against a real house: libraries, the Inspector, Claude Code, the Claude
// Agent SDK and Codex. They are installed by this command alone, have models on loopback, and no way out where the machine
// can take it away. Words given after it choose the checks whose names have them all. The last line is `N passed, N failed`.
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { runAll, startHouse } from "../clients/kit/checks.ts"
import { libraries } from "../clients/checks/libraries.ts"
import { pasted } from "../clients/checks/pasted.ts"
import { programs, noTraffic } from "../clients/checks/programs.ts"
import { withoutNetwork, install, startBlockingProxy, Isolation } from "../clients/kit/isolation.ts"
import { teams } from "../clients/checks/team.ts"
import "./exitWithParent.ts"

const [flag, ...rest] = process.argv.slice(2)
const words = flag === "--apart" ? rest : process.argv.slice(2)

const runChecks = async (): Promise<number> => {
  const proxy = await startBlockingProxy()
  const isolation = new Isolation(proxy.url)
  const context = await startHouse(isolation, proxy)
  const all = [...libraries, ...pasted, ...programs, ...teams, noTraffic].filter(([name]) =>
    words.every((word) => name.includes(word)),
  )
  const failed = await runAll(all, context)
  await context.house.stop()
  await context.home.remove()
  isolation.remove()
  proxy.close()
  console.log(`${all.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

/** The same program again, where there is no network but loopback. */
const runChecksWithoutNetwork = ([command, ...args]: ReadonlyArray<string>): Promise<number> =>
  new Promise((done) => {
    const own = [process.execPath, fileURLToPath(import.meta.url), "--apart", ...words]
    const child = spawn(command!, [...args, ...own], { stdio: ["inherit", "inherit", "inherit", "ipc"] })
    child.once("close", (code) => done(code ?? 1))
  })

if (flag === "--apart") process.exit(await runChecks())
install()
const way = withoutNetwork()
if (way === undefined)
  console.error("This machine cannot take the network away from a program: the proxy alone guards.")
process.exit(way === undefined ? await runChecks() : await runChecksWithoutNetwork(way))
