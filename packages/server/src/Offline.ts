/** Work on a house that does not run: look it over, copy it, bring a copy back. The folder's lock keeps a running one out. */
// edge: called by the command line, which speaks promises.
import type { Finding } from "@stoa/contract"
import { Effect, Layer, Option } from "effect"
import { doctorReport } from "./Doctor.ts"
import { keysOf, layerRooms, layerStore } from "./House.ts"
import { layerLog } from "./Log.ts"
import { Settings } from "./Settings.ts"
import { Backup, type Contents } from "./store/Backup.ts"
import { Folder } from "./store/Folder.ts"

const inFolder = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { data } = yield* Settings
    const ground = Layer.merge(Folder.layer(data), layerLog("error", process.stderr.isTTY))
    return yield* Effect.provide(work, ground)
  }).pipe(Effect.provide(Settings.layer()), Effect.scoped)

const doctor = (): Promise<{ readonly findings: ReadonlyArray<Finding> }> =>
  inFolder(Effect.flatMap(keysOf, (keys) => Effect.provide(doctorReport, layerRooms(keys)))).pipe(Effect.runPromise)

const backup = (file: string, options: { readonly withKey: boolean }): Promise<Contents> =>
  inFolder(
    Effect.gen(function* () {
      const { secret } = yield* keysOf
      const copies = Effect.flatMap(Backup, ({ make }) => make(file, options.withKey ? { secretKey: secret } : {}))
      return yield* Effect.provide(copies, layerStore)
    }),
  ).pipe(Effect.runPromise)

/** Says in words what was brought back, and what the person must know about the key. */
const restore = (file: string, options: { readonly replace: boolean }): Promise<string> =>
  inFolder(
    Effect.gen(function* () {
      const folder = yield* Folder
      const settings = yield* Settings
      const done = yield* Effect.provide(
        Effect.flatMap(Backup, (copies) => copies.restore(file, options)),
        layerStore,
      )
      const words = [`${done.rows} rows of ${done.madeAt} are back.`]
      if (done.replaced !== undefined) words.push(`What was there before is kept at ${done.replaced}.`)
      if (Option.isNone(done.secretKey))
        words.push(
          "The backup has no secret key: start with the STOA_SECRET_KEY it was made under, or its secrets stay shut.",
        )
      else if (Option.isSome(settings.secretKey))
        words.push("The key in the backup was left alone: STOA_SECRET_KEY is set.")
      else {
        const old = yield* folder.put("secret.key", done.secretKey.value)
        words.push(`Its secret key is in place.${old === undefined ? "" : ` The one before is kept at ${old}.`}`)
      }
      return words.join(" ")
    }),
  ).pipe(Effect.runPromise)

export const offline = { doctor, backup, restore }
