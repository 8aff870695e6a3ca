/** Work on a house that does not run: look it over, copy it, bring a copy back. The folder's lock keeps a running one out. */
// edge: called by the command line, which speaks promises.
import type { Finding } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { doctorReport } from "./Doctor.ts"
import { keysOf, layerRooms } from "./House.ts"
import { layerLog } from "./Log.ts"
import { Settings } from "./Settings.ts"
import { Folder } from "./store/Folder.ts"

const inFolder = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { data } = yield* Settings
    const ground = Layer.merge(Folder.layer(data), layerLog("error", process.stderr.isTTY))
    return yield* Effect.provide(work, ground)
  }).pipe(Effect.provide(Settings.layer()), Effect.scoped)

const doctor = (): Promise<{ readonly findings: ReadonlyArray<Finding> }> =>
  inFolder(Effect.flatMap(keysOf, (keys) => Effect.provide(doctorReport, layerRooms(keys)))).pipe(Effect.runPromise)

export const offline = { doctor }
