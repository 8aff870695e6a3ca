/** A process that owns a data folder until it is killed. Started by folder.test.ts. */
import { Effect } from "effect"
import { Folder } from "../../src/store/Folder.ts"

const owning = Effect.gen(function* () {
  const { path } = yield* Folder
  console.log(`owns ${path}`)
  return yield* Effect.never
})

const keepAlive = setInterval(() => {}, 60_000)
await Effect.runPromise(
  Effect.provide(owning, Folder.layer(process.argv[2]!)).pipe(
    Effect.catchTag("StartError", (error) => Effect.sync(() => console.log(error.message))),
  ),
)
clearInterval(keepAlive)
