/** A whole house in a process of its own, killed by callsCrash.test.ts: `node callsProcess.ts FOLDER TOKEN [DATABASE_URL]`. */
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { NodeServer } from "../../src/doors/NodeServer.ts"
import { keysOf, layerHouse } from "../../src/House.ts"
import { layerLog } from "../../src/Log.ts"
import { Settings } from "../../src/Settings.ts"
import { Folder } from "../../src/store/Folder.ts"

const [folder, token, database] = process.argv.slice(2) as [string, string, string | undefined]

const settings = Settings.layer({
  STOA_PORT: "0",
  STOA_DATA: join(folder, "data"),
  STOA_CONFIG: join(folder, "stoa.config.json"),
  STOA_ADMIN_TOKEN: token,
  ...(database === undefined ? {} : { DATABASE_URL: database }),
})
const ground = Layer.merge(Folder.layer(join(folder, "data")), layerLog("error", false)).pipe(
  Layer.provideMerge(settings),
)
const house = Layer.unwrap(Effect.map(keysOf, (keys) => layerHouse(keys))).pipe(Layer.provideMerge(ground))

const running = Effect.gen(function* () {
  const { url } = yield* NodeServer
  console.log(`ready ${url}`)
  return yield* Effect.never
})
await Effect.runPromise(
  Effect.provide(running, house).pipe(
    Effect.catchTag("StartError", (error) => Effect.sync(() => console.log(`refused ${error.message}`))),
  ),
)
