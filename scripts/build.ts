// `npm run build`: the packages others install, as JavaScript and .d.ts in packages/*/dist.
import { home } from "./checks/kit.ts"
import "./exitWithParent.ts"
import { build } from "./publish/build.ts"

await build(home, console.log).catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
