/** A whole house in a process of its own, killed by callsCrash.test.ts: `node callsProcess.ts FOLDER TOKEN [DATABASE_URL [shared]]`. */
import { flushCompileCache } from "node:module"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { NodeServer } from "../../../src/doors/node/NodeServer.ts"
import { layerHouse } from "../../../src/House.ts"
import { keysOf } from "../../../src/start/Opening.ts"
import { layerLog } from "../../../src/Log.ts"
import { Settings } from "../../../src/Settings.ts"
import { LeaseSeconds } from "../../../src/store/leases/Holder.ts"
import { Folder } from "../../../src/store/Folder.ts"

const [folder, token, database, shared] = process.argv.slice(2) as [string, string, string?, string?]

const settings = Settings.layer({
  STOA_PORT: "0",
  STOA_DATA: join(folder, "data"),
  STOA_CONFIG: join(folder, "stoa.config.json"),
  STOA_ADMIN_TOKEN: token,
  STOA_PROGRAMS: "unisolated",
  ...(database === undefined ? {} : { DATABASE_URL: database }),
  // Processes that share a database share its keys.
  ...(shared === undefined ? {} : { STOA_RUNNER: "cluster", STOA_SECRET_KEY: "a-key-that-both-processes-have-got" }),
})
/** A lease that ends soon. */
const sharing = shared === undefined ? Layer.empty : Layer.succeed(LeaseSeconds, 2)
const ground = Layer.merge(Folder.layer(join(folder, "data")), layerLog("error", false)).pipe(
  Layer.provideMerge(settings),
)
const house = Layer.unwrap(Effect.map(keysOf, (keys) => layerHouse(keys))).pipe(
  Layer.provideMerge(ground),
  Layer.provide(sharing),
)

const running = Effect.gen(function* () {
  const { url } = yield* NodeServer
  console.log(`ready ${url}`)
  flushCompileCache()
  return yield* Effect.never
})
await Effect.runPromise(
  Effect.provide(running, house).pipe(
    Effect.catchTag("StartError", (error) => Effect.sync(() => console.log(`refused ${error.message}`))),
  ),
)
