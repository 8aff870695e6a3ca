/**
 * `npm run bench [-- append feed http start idle tools targets spaces calls mcp memory runs journey fair team page hour versus]`: the figures the house is held to, each against a peer in the same run.
 * Prints a table a figure and keeps the last of each in `results.md`. Loads loopback only, bounded in count and time.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { append } from "./append.ts"
import { calls } from "./calls.ts"
import { becomeChild } from "./children/children.ts"
import { fair } from "./doors/fair.ts"
import { feed } from "./doors/feed.ts"
import { hour } from "./page/hour.ts"
import { http } from "./doors/http.ts"
import { idle } from "./idle.ts"
import { journey } from "./journey.ts"
import { mcp } from "./mcp/mcp.ts"
import { memory } from "./memory/memory.ts"
import { load, machine } from "./kit/measure.ts"
import { page } from "./page/page.ts"
import { runs } from "./runs/runs.ts"
import { spaces } from "./spaces.ts"
import { start } from "./start.ts"
import { targets } from "./targets.ts"
import { team } from "./team.ts"
import { tools } from "./tools/tools.ts"
import { versus } from "./versus.ts"

const figures = {
  append: { title: "Durable append", run: append },
  feed: { title: "Feed with 1,000 subscribers", run: feed },
  http: { title: "HTTP through our door", run: http },
  start: { title: "Start to ready", run: start },
  idle: { title: "Idle house", run: idle },
  tools: { title: "A governed tool call", run: tools },
  targets: { title: "Limits of the tool library", run: targets },
  spaces: { title: "Talking in a space", run: spaces },
  calls: { title: "Calls and decisions", run: calls },
  mcp: { title: "MCP", run: mcp },
  memory: { title: "Memory", run: memory },
  runs: { title: "Runs", run: runs },
  journey: { title: "How far a call travels", run: journey },
  fair: { title: "Fairness", run: fair },
  team: { title: "Teams of programs", run: team },
  page: { title: "The page", run: page },
  hour: { title: "The page for an hour", run: hour },
  versus: { title: "Against another checkout", run: versus },
}
type Name = keyof typeof figures
const names = Object.keys(figures) as ReadonlyArray<Name>
/** Run only when they are named. */
const long: ReadonlyArray<Name> = ["hour", "versus"]

const file = new URL("results.md", import.meta.url)

/** A figure that was not run keeps what it had. */
const keep = (found: ReadonlyMap<Name, string>): void => {
  const before = existsSync(file) ? readFileSync(file, "utf8").split(/^## /m).slice(1) : []
  const sections = names.flatMap((name) => {
    const { title } = figures[name]
    const text =
      found.get(name) ??
      before
        .find((one) => one.startsWith(`${title}\n`))
        ?.slice(title.length + 1)
        .trim()
    return text === undefined ? [] : [`## ${title}\n\n${text}\n`]
  })
  const opening =
    "# Figures\n\nThe last run of each, written by `npm run bench`. Middle round, then (lowest..highest).\n"
  writeFileSync(file, [opening, ...sections].join("\n"))
}

const run = async (asked: ReadonlyArray<string>): Promise<number> => {
  const unknown = asked.filter((name) => !(name in figures))
  if (unknown.length > 0) {
    console.error(`no figure named ${unknown.join(", ")}; there are ${names.join(", ")}`)
    return 2
  }
  // Houses start as people start them.
  execFileSync(process.execPath, [fileURLToPath(new URL("../packages/cli/bundle.mjs", import.meta.url))])
  const where = `${new Date().toISOString().slice(0, 10)}, ${machine()}`
  console.log(where)
  const found = new Map<Name, string>()
  for (const name of names.filter((name) => (asked.length === 0 ? !long.includes(name) : asked.includes(name)))) {
    const started = performance.now()
    const before = load()
    console.log(`\n## ${figures[name].title}\n`)
    const text = await figures[name].run()
    const busy = `load ${before} before, ${load()} after`
    console.log(`${text}\n(${Math.round((performance.now() - started) / 1000)} s, ${busy})`)
    found.set(name, `${where}, ${busy}\n\n${text}`)
  }
  keep(found)
  return 0
}

const [first, second] = process.argv.slice(2)
if (first === "--child") await becomeChild(second!)
else {
  // What begins with two dashes is for a figure, such as --sizes=1000,100000.
  const code = await run(process.argv.slice(2).filter((arg) => !arg.startsWith("--")))
  // A figure may have said that a limit is missed.
  process.exitCode = code === 0 ? (process.exitCode ?? 0) : code
}
