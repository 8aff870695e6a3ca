/**
 * The data folder: the only place the house writes to. One process owns it at a time; the operating system holds the
 * lock, so that a kill -9 frees it, and a file beside it names the owner.
 */
// edge: file system work at start-up, before anything else runs.
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Context, Effect, Layer, Redacted } from "effect"
import { refuse, StartError } from "./StartError.ts"

const marker = "stoa.folder"
/** Encrypts the secrets, unless STOA_SECRET_KEY is set. */
export const secretKeyName = "secret.key"

const describe = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const open = (path: string): void => {
  fs.mkdirSync(path, { recursive: true, mode: 0o700 })
  const entries = fs.readdirSync(path)
  if (!entries.includes(marker)) {
    if (entries.length > 0)
      throw refuse(
        `${path} has files in it but is not a Stoa data folder. Set STOA_DATA to an empty or new folder; nothing was touched.`,
      )
    // A folder that existed before may be open to other users; the database in it must not be.
    fs.chmodSync(path, 0o700)
    fs.writeFileSync(join(path, marker), "This folder belongs to Stoa. Its format is Stoa's own.\n", { mode: 0o600 })
  }
  fs.accessSync(path, fs.constants.R_OK | fs.constants.W_OK)
}

const busy = 5
/** A lock that nothing references would be garbage-collected, which would free the folder while its owner is alive. */
const held = new Set<DatabaseSync>()
/** An open transaction on a small database is an exclusive lock that every platform releases when the process dies. */
const lock = (path: string): DatabaseSync => {
  const db = new DatabaseSync(join(path, "lock"), { timeout: 0 })
  try {
    db.exec("PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE")
  } catch (cause) {
    db.close()
    if ((cause as { readonly errcode?: number }).errcode !== busy) throw cause
    throw new StartError({
      message: `Another Stoa (process ${owner(path)}) already runs on ${path}. Stop it first, or set STOA_DATA to another folder.`,
      exitCode: 2,
      taken: true,
    })
  }
  fs.writeFileSync(join(path, "pid"), `${process.pid}\n`, { mode: 0o600 })
  held.add(db)
  return db
}

const owner = (path: string): string => {
  try {
    return fs.readFileSync(join(path, "pid"), "utf8").trim()
  } catch {
    return "unknown"
  }
}

export class Folder extends Context.Service<
  Folder,
  {
    readonly path: string
    readonly database: string
    /** The file of the secret key, whether it exists or not. */
    readonly secretKey: string
    /** A secret that is created once and stored beside the data with mode 600. `made`: this start created it. */
    readonly keep: (
      name: string,
    ) => Effect.Effect<{ readonly value: Redacted.Redacted; readonly made: boolean }, StartError>
    /** The secret of that name, if there is one. Creates nothing. */
    readonly find: (name: string) => Effect.Effect<Redacted.Redacted | undefined, StartError>
    /** Remembers that something has happened once, such as that the sign-in link was shown. */
    readonly note: (name: string) => Effect.Effect<void, StartError>
    readonly isNoted: (name: string) => Effect.Effect<boolean, StartError>
    /**
     * Stores a secret, as a restore does. A different one that was there is kept beside it, under the returned name.
     */
    readonly put: (name: string, value: Redacted.Redacted) => Effect.Effect<string | undefined, StartError>
  }
>()("server/store/Folder") {
  static readonly layer = (path: string): Layer.Layer<Folder, StartError> =>
    Layer.effect(
      Folder,
      Effect.gen(function* () {
        yield* attempt(path, () => open(path))
        yield* Effect.acquireRelease(
          attempt(path, () => lock(path)),
          (db) =>
            Effect.sync(() => {
              fs.rmSync(join(path, "pid"), { force: true })
              held.delete(db)
              db.close()
            }),
        )
        return Folder.of({
          path,
          database: join(path, "stoa.db"),
          secretKey: join(path, secretKeyName),
          keep: (name) => attempt(path, () => keep(path, name)),
          find: (name) => attempt(path, () => find(join(path, name))),
          note: (name) => attempt(path, () => fs.writeFileSync(join(path, name), "", { mode: 0o600 })),
          isNoted: (name) => attempt(path, () => fs.existsSync(join(path, name))),
          put: (name, value) => attempt(path, () => put(path, name, value)),
        })
      }),
    )
}

/** Atomic: a crash between creating and filling the file would leave an empty secret. */
const write = (file: string, secret: string): void => {
  fs.writeFileSync(`${file}.new`, secret, { mode: 0o600, flush: true })
  fs.renameSync(`${file}.new`, file)
}

/** Never starts with a dash: `--token` would take it for another flag. */
const newSecret = (): string => {
  const made = randomBytes(32).toString("base64url")
  return made.startsWith("-") ? newSecret() : made
}

const keep = (path: string, name: string) => {
  const file = join(path, name)
  const made = !fs.existsSync(file)
  if (made) write(file, newSecret())
  const value = fs.readFileSync(file, "utf8").trim()
  if (value.length < 16)
    throw refuse(
      `${file} is empty or cut short. Put the right one back from a backup, or remove it to have a new one made.`,
    )
  return { value: Redacted.make(value), made }
}

const find = (file: string): Redacted.Redacted | undefined =>
  fs.existsSync(file) ? Redacted.make(fs.readFileSync(file, "utf8").trim()) : undefined

const put = (path: string, name: string, value: Redacted.Redacted): string | undefined => {
  const file = join(path, name)
  const there = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : undefined
  if (there === Redacted.value(value)) return undefined
  const aside = there === undefined ? undefined : `${file}.before-${Date.now()}`
  if (aside !== undefined) fs.renameSync(file, aside)
  write(file, Redacted.value(value))
  return aside
}

const attempt = <A>(path: string, step: () => A): Effect.Effect<A, StartError> =>
  Effect.try({
    try: step,
    catch: (cause) =>
      (cause as { _tag?: string })._tag === "StartError"
        ? (cause as StartError)
        : refuse(
            `The data folder ${path} cannot be used: ${describe(cause)}. Check its owner and permissions, or set STOA_DATA.`,
            cause,
          ),
  })
