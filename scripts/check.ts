// `npm run check [names…]`: one line a check, details only for what fails, exit 1 if anything does.
import { checks, judgeAll, line } from "./checks/all.ts"
import { home } from "./checks/kit.ts"
import "./exitWithParent.ts"

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in checks))
if (unknown.length > 0) {
  console.error(`no check named ${unknown.join(", ")}; there are ${Object.keys(checks).join(", ")}`)
  process.exit(2)
}
const which = Object.fromEntries(Object.entries(checks).filter(([name]) => asked.length === 0 || asked.includes(name)))
const verdicts = await judgeAll(home, (verdict) => console.log(line(verdict)), which)
process.exitCode = verdicts.every((verdict) => verdict.ok) ? 0 : 1
