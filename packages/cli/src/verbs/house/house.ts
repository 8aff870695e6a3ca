/** Managing the house: sign in, reload, check, back up and restore. */
// edge: writes the backup file.
import { existsSync } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Failure, refusal } from "../../Failure.ts"
import { nameArgument, switchFlag } from "../../command/flags.ts"
import { backupHere, doctorHere, restoreHere } from "../../local.ts"
import { ask, houseRuns, printBeside, printJson, target, root, show, printNote } from "../../command/root.ts"
import { withCommand } from "../../output/hints.ts"

export const login = Command.make(
  "login",
  {},
  Effect.fn(function* () {
    const { token, url } = yield* target
    const me = yield* ask((stoa) => stoa.principals.me())
    if (token === undefined) return yield* refusal("There is no token to sign in with. Give one with --token.")
    const link = `${url.replace(/\/+$/, "")}/#token=${encodeURIComponent(token)}`
    yield* show({ link, principal: me }, link)
    yield* printNote(`Opens the page as ${me.name}. The link contains the token: keep it safe.`)
  }),
).pipe(Command.withDescription("Print a sign-in link for the page"))

export const reload = Command.make(
  "reload",
  {},
  Effect.fn(function* () {
    const done = yield* ask((stoa) => stoa.house.reload())
    const count = done.added.length + done.changed.length + done.retired.length
    yield* show(done, count === 0 ? `${done.file}: nothing has changed` : `${done.file}: ${said(done)}`)
    // A house of an earlier version has no warnings.
    const warnings = (done.warnings as typeof done.warnings | undefined) ?? []
    yield* Effect.forEach(warnings, (warning) => printNote(withCommand(warning)), { discard: true })
  }),
).pipe(Command.withDescription("Apply the configuration file, all of it or nothing"))

const said = (done: {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly retired: ReadonlyArray<string>
}) =>
  (["added", "changed", "retired"] as const)
    .filter((what) => done[what].length > 0)
    .map((what) => `${what} ${done[what].join(", ")}`)
    .join("; ")

const accept = Flag.Literals("accept", ["clock", "audit"]).pipe(
  Flag.withDescription("Accept this finding after you have looked into it; the house must be running"),
  Flag.optional,
)

export const doctor = Command.make(
  "doctor",
  { accept },
  Effect.fn(function* ({ accept }) {
    const { json } = yield* root
    if (Option.isSome(accept)) yield* ask((stoa) => stoa.house.accept({ check: accept.value }))
    // A house that does not run is checked in its data folder.
    const report = (yield* houseRuns) ? yield* ask((stoa) => stoa.house.doctor()) : yield* doctorHere
    if (json) yield* printJson(report)
    else
      yield* printBeside(
        report.findings.map(({ check, detail, state }) => [`${state.padEnd(4)}  ${check}`, withCommand(detail)]),
      )
    if (report.findings.some(({ state }) => state === "fail"))
      return yield* new Failure({ message: "The house has problems: see above.", exitCode: 1 })
  }),
).pipe(Command.withDescription("Check the house, running or not"))

const file = nameArgument("file", "The backup file", "Give the backup file's name")

export const backup = Command.make(
  "backup",
  {
    file,
    withKey: switchFlag(
      "with-key",
      "Include the secret key (STOA_SECRET_KEY or secret.key of the data folder): whoever has the file can then open the secrets",
    ),
  },
  Effect.fn(function* ({ file, withKey }) {
    if (existsSync(file)) return yield* refusal(`${file} already exists. Give the name of a new file.`)
    if (yield* houseRuns) yield* download(file, withKey)
    else yield* backupHere(file, withKey)
    yield* printNote(
      withKey
        ? `${file} contains everything, including the secret key: keep it as safe as the key.`
        : `${file} contains everything except the secret key: without STOA_SECRET_KEY or secret.key of the data folder, its secrets cannot be opened.`,
    )
    yield* show({ file, secretKey: withKey }, file)
  }),
).pipe(
  Command.withDescription("Copy everything to a file, even while the house runs"),
  Command.withExamples([{ command: "stoa backup house-2026-11-15.db", description: "A copy of today" }]),
)

/** Written beside and renamed: an interrupted download leaves no file that looks complete. */
const download = (file: string, withKey: boolean) =>
  ask(async (stoa) => {
    const part = `${file}.part`
    const unfinished = (cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`The backup could not be finished (${why}), and nothing of it was kept. Try again.`, { cause })
    }
    // Opened first: where no file can be written, the house is not asked for a copy.
    const target = await open(part, "w", 0o600).catch(unfinished)
    try {
      const bytes = await stoa.house.backup({ withKey: withKey ? "true" : "false" })
      await pipeline(bytes, target.createWriteStream({ flush: true })).catch(unfinished)
      await rename(part, file).catch(unfinished)
    } catch (error) {
      await target.close().catch(() => undefined)
      await rm(part, { force: true })
      throw error
    }
  })

export const restore = Command.make(
  "restore",
  {
    file,
    replace: switchFlag("replace", "Replace the existing data; a copy of it is kept"),
  },
  Effect.fn(function* ({ file, replace }) {
    // The folder's lock prevents this while a house runs.
    yield* restoreHere(file, replace)
  }),
).pipe(Command.withDescription("Restore a backup; the house must not be running"))
