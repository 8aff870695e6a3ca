// `npm run test:clients`: real MCP clients of others against a real house: libraries, the Inspector, Claude Code, the Claude
// Agent SDK and Codex. They are installed by this command alone, have models on loopback, and no way out where the machine
// can take it away. Words given after it choose the checks whose names have them all. The last line is `N passed, N failed`.
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { runAll, startHouse } from "../clients/checks.ts"
import { libraries } from "../clients/libraries.ts"
import { pasted } from "../clients/pasted.ts"
import { programs, silence } from "../clients/programs.ts"
import { apart, install, startTripwire, Surroundings } from "../clients/surroundings.ts"
import { teams } from "../clients/team.ts"
import "./exitWithParent.ts"

const [flag, ...rest] = process.argv.slice(2)
const words = flag === "--apart" ? rest : process.argv.slice(2)

const played = async (): Promise<number> => {
  const tripwire = await startTripwire()
  const around = new Surroundings(tripwire.url)
  const guests = await startHouse(around, tripwire)
  const all = [...libraries, ...pasted, ...programs, ...teams, silence].filter(([name]) =>
    words.every((word) => name.includes(word)),
  )
  const failed = await runAll(all, guests)
  await guests.house.stop()
  await guests.home.remove()
  around.remove()
  tripwire.close()
  console.log(`${all.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

/** The same program again, where there is no network but loopback. */
const playedApart = ([command, ...args]: ReadonlyArray<string>): Promise<number> =>
  new Promise((done) => {
    const own = [process.execPath, fileURLToPath(import.meta.url), "--apart", ...words]
    const child = spawn(command!, [...args, ...own], { stdio: ["inherit", "inherit", "inherit", "ipc"] })
    child.once("close", (code) => done(code ?? 1))
  })

if (flag === "--apart") process.exit(await played())
install()
const way = apart()
if (way === undefined)
  console.error("This machine cannot take the network away from a program: the proxy alone guards.")
process.exit(way === undefined ? await played() : await playedApart(way))
