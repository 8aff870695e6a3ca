/** A whole house in a process of its own, as `stoa serve` would have it: `node houseProcess.ts FOLDER TOKEN DATABASE_URL RUNNER KEY`. */
import { flushCompileCache } from "node:module"
import { join } from "node:path"
import { embed } from "../../../src/serve.ts"

const [folder, token, database, runner, key] = process.argv.slice(2) as [string, string, string, string, string]
const stop = new AbortController()
process.on("SIGTERM", () => stop.abort())
await embed({
  environment: {
    STOA_PORT: "0",
    STOA_DATA: join(folder, "data"),
    STOA_CONFIG: join(folder, "stoa.config.json"),
    STOA_ADMIN_TOKEN: token,
    STOA_SECRET_KEY: key,
    STOA_RUNNER: runner,
    STOA_LOG: "none",
    STOA_PROGRAMS: "unisolated",
    DATABASE_URL: database,
  },
  ready: (url) => {
    console.log(`ready ${url}`)
    flushCompileCache()
  },
  stop: stop.signal,
}).catch((error: Error) => console.log(`refused ${error.message}`))
