/** Commands on a house that is not running: check, back up, restore. The folder's lock keeps a running house out. */
// edge: called by the command line, which speaks promises.
import { existsSync, rmSync } from "node:fs"
import { type Finding, Report } from "@stoa/contract"
import { Effect, Layer, Option, Redacted } from "effect"
import { doctorReport } from "./Doctor.ts"
import { layerLook, layerStore } from "../House.ts"
import { layerLog } from "../Log.ts"
import { Settings } from "../Settings.ts"
import { Backup, type Contents } from "../store/backup/Backup.ts"
import { Folder, secretKeyName } from "../store/Folder.ts"
import { refuse } from "../store/StartError.ts"

const inFolder = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    process.umask(0o077)
    const { data } = yield* Settings
    const ground = Layer.merge(Folder.layer(data), layerLog("error", process.stderr.isTTY))
    return yield* Effect.provide(work, ground)
  }).pipe(Effect.provide(Settings.layer()), Effect.scoped)

/** Read-only: creates no key, migrates nothing, runs no reader. */
const doctor = (): Promise<{ readonly findings: ReadonlyArray<Finding> }> =>
  inFolder(
    Effect.gen(function* () {
      const folder = yield* Folder
      const settings = yield* Settings
      if (Option.isNone(settings.database) && !existsSync(folder.database))
        return yield* refuse(`There is no house in ${folder.path} yet. Start one with "npm start", or set STOA_DATA.`)
      const kept = yield* folder.find(secretKeyName)
      const secret = Option.getOrUndefined(settings.secretKey) ?? kept
      const report = yield* Effect.provide(doctorReport, layerLook(secret ?? Redacted.make("")))
      return secret === undefined ? new Report({ findings: [...report.findings, keyless(folder.secretKey)] }) : report
    }),
  ).pipe(Effect.runPromise)

const keyless = (file: string): Finding => ({
  check: "secret key",
  state: "warn",
  detail: `there is none: STOA_SECRET_KEY is not set, and there is no ${file}. Set the variable or restore the file before the next start; otherwise the house makes a new key and cannot decrypt the stored secrets`,
})

const backup = (file: string, options: { readonly withKey: boolean }): Promise<Contents> =>
  inFolder(
    Effect.gen(function* () {
      const folder = yield* Folder
      const { secretKey } = yield* Settings
      const secret = Option.getOrUndefined(secretKey) ?? (yield* folder.find(secretKeyName))
      if (options.withKey && secret === undefined)
        return yield* refuse(
          `There is no secret key to include: STOA_SECRET_KEY is not set, and there is no ${folder.secretKey}. Set the variable, restore the file, or make the backup without --with-key.`,
        )
      const copies = Effect.flatMap(Backup, ({ make }) =>
        make(file, options.withKey && secret !== undefined ? { secretKey: secret } : {}),
      )
      return yield* Effect.provide(copies, layerStore)
    }),
  ).pipe(Effect.runPromise)

/** Opening a missing database creates it; a failed restore must not leave one behind. */
const removeDatabase = (file: string) =>
  Effect.sync(() => {
    for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true })
  })

/** Returns a text that says what was restored, and what the operator must know about the key. */
const restore = (file: string, options: { readonly replace: boolean }): Promise<string> =>
  inFolder(
    Effect.gen(function* () {
      const folder = yield* Folder
      const settings = yield* Settings
      const isNew = Option.isNone(settings.database) && !existsSync(folder.database)
      const done = yield* Effect.provide(
        Effect.flatMap(Backup, (copies) => copies.restore(file, options)),
        layerStore,
      ).pipe(Effect.onError(() => (isNew ? removeDatabase(folder.database) : Effect.void)))
      const words = [`${done.rows} rows of ${done.madeAt} are restored.`]
      if (done.replaced !== undefined) words.push(`What was there before is kept at ${done.replaced}.`)
      if (Option.isNone(done.secretKey))
        words.push(
          `The backup has no secret key: before the next start, set STOA_SECRET_KEY to the key it was made under, or put that key into ${folder.secretKey}. Otherwise its secrets cannot be decrypted.`,
        )
      else if (Option.isSome(settings.secretKey))
        words.push(
          `The key in the backup was left alone: STOA_SECRET_KEY is set, and is used. If the secrets need the key of the backup, unset STOA_SECRET_KEY and restore again: it is put into ${folder.secretKey}.`,
        )
      else {
        const old = yield* folder.put(secretKeyName, done.secretKey.value)
        words.push(
          `Its secret key is in place, in ${folder.secretKey}.${old === undefined ? "" : ` The one before is kept at ${old}.`}`,
        )
      }
      return words.join(" ")
    }),
  ).pipe(Effect.runPromise)

export const offline = { doctor, backup, restore }
