/** Runs the house until it is stopped. The log goes to stderr; the address and the sign-in link go to stdout. */
// edge: signals and process exit.
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { Confidential } from "./access/secrets/Confidential.ts"
import { Configuration } from "./configuration/Configuration.ts"
import { Demo } from "./demo/Demo.ts"
import { NodeServer } from "./doors/node/NodeServer.ts"
import { layerHouse } from "./House.ts"
import { keysOf, linkShown } from "./start/Opening.ts"
import { layerLog } from "./Log.ts"
import { builds } from "./start/builds.ts"
import { Settings } from "./Settings.ts"
import { Starting } from "./start/Starting.ts"
import { Folder } from "./store/Folder.ts"
import { isOfFullDisk } from "./store/database/disk/FullDisk.ts"
import { refuse, type StartError } from "./store/StartError.ts"

const stopAsked = Effect.callback<string>((resume) => {
  const stop = (signal: string) => () => resume(Effect.succeed(signal))
  // Not `once`: terminal, npm and launcher each forward the same Ctrl-C, and the second must not cut the shutdown
  // short.
  process.on("SIGTERM", stop("SIGTERM"))
  process.on("SIGINT", stop("SIGINT"))
  // The launcher that started us on a newer Node is gone.
  if (process.send !== undefined) process.once("disconnect", stop("disconnect"))
})

const reloadOnHangup = Effect.gen(function* () {
  const { apply } = yield* Configuration
  const context = yield* Effect.context<never>()
  const reload = Effect.matchEffect(apply, {
    onSuccess: (applied) => Effect.logInfo("Configuration reloaded", applied),
    onFailure: (error) => Effect.logError(error.message),
  })
  const onHangup = () => void Effect.runForkWith(context)(reload)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", onHangup)),
    () => Effect.sync(() => process.off("SIGHUP", onHangup)),
  )
})

export interface ServeOptions {
  /** When the process began, for the figure "ready in". */
  readonly startedAt: number
  readonly say: (line: string) => void
  /** Commands in a sentence as they are typed where the house was started. */
  readonly asTyped?: (sentence: string) => string
}

/** A house embedded in another program, which stops it. No sign-in link is shown: nobody would see it. */
export interface EmbedOptions {
  readonly environment: Record<string, string | undefined>
  readonly ready: (url: string) => void
  readonly stop: AbortSignal
  /** The clock of the whole house; default: the machine's. */
  readonly clock?: Clock.Clock
}

const aborted = (signal: AbortSignal) =>
  Effect.callback<string>((resume) => {
    const stop = () => resume(Effect.succeed("The program around the house ends"))
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
  })

const running = Effect.fnUntraced(function* (options: ServeOptions | EmbedOptions) {
  const settings = yield* Settings
  const folder = yield* Folder
  const keys = yield* keysOf
  // In parallel with everything else: a first start takes only as long as its longest part.
  if (!("ready" in options)) yield* Effect.forkScoped(builds)
  const program = Effect.gen(function* () {
    const { url } = yield* NodeServer
    const { kept } = yield* Starting
    yield* reloadOnHangup
    // So that `stoa` on this machine finds the house, whatever its port. Removed with the house: a program that takes
    // the port next must not get the admin token.
    const address = join(folder.path, "address")
    yield* Effect.acquireRelease(
      Effect.sync(() => writeFileSync(address, `${url}\n`, { mode: 0o600 })),
      () => Effect.sync(() => rmSync(address, { force: true })),
    )
    // In the background: nobody waits for it. An embedded house has a demo only if its settings say so.
    const said = Option.map(settings.demo, (demo) => demo === "on")
    const wanted = !existsSync(settings.config) && Option.getOrElse(said, () => !("ready" in options))
    yield* Effect.forkScoped((yield* Demo).open({ wanted }))
    if ("ready" in options) {
      options.ready(url)
      return yield* kept
    }
    options.say(
      `Stoa is at ${url}  (ready in ${Math.round(performance.now() - options.startedAt)} ms, data in ${settings.data})`,
    )
    if (keys.adminIsNew) {
      options.say(`Sign in, shown this once: ${url}/#token=${encodeURIComponent(Redacted.value(keys.admin))}`)
      yield* folder.note(linkShown)
    } else options.say("For a sign-in link run: npx stoa login")
    return yield* kept
  })
  // Listens from the beginning: a program that reads the address may stop the house at once, or during a slow start.
  yield* Effect.raceFirst(
    Effect.scoped(Effect.provide(program, layerHouse(keys))),
    Effect.flatMap("stop" in options ? aborted(options.stop) : stopAsked, (signal) =>
      Effect.logInfo(`${signal}: finishing running requests, then closing`),
    ),
  )
})

const whole = Effect.fnUntraced(function* (options: ServeOptions | EmbedOptions) {
  // Files created from here on belong to the owner alone.
  process.umask(0o077)
  const settings = yield* Settings
  const ground = Layer.merge(Folder.layer(settings.data), layerLog(settings.log, process.stderr.isTTY))
  yield* Effect.provide(running(options), ground)
}, Effect.scoped)

/** Returns the exit code: 0 after a clean stop, 2 when something was refused, 1 when something failed. */
export const serve = (options: ServeOptions): Promise<number> =>
  whole(options).pipe(
    Effect.as(0),
    Effect.provide(Settings.layer()),
    Effect.catchCause((cause) =>
      isOfFullDisk(cause)
        ? Effect.fail(
            refuse("The disk of the data folder, or of the database, is full. Make room, and start again.", cause),
          )
        : Effect.failCause(cause),
    ),
    Effect.catchTag("StartError", (error: StartError) =>
      Effect.map(Confidential, (confidential) => {
        process.stderr.write(`stoa: ${confidential.line(options.asTyped?.(error.message) ?? error.message)}\n`)
        return error.exitCode
      }),
    ),
    Effect.runPromise,
  )

/** Returns when it was stopped; fails if it could not start. */
export const embed = (options: EmbedOptions): Promise<void> =>
  whole(options).pipe(
    Effect.provide(Settings.layer(options.environment)),
    options.clock === undefined ? (it) => it : Effect.provideService(Clock.Clock, options.clock),
    Effect.runPromise,
  )
