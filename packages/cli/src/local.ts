/** The only file that loads the server: to run it, and to work on its data folder while it is stopped. */
// edge: the server is loaded when it is needed, so that a client command starts fast.
import { Effect } from "effect"
import { type Failure, failureOf } from "./Failure.ts"
import { printNote } from "./command/root.ts"
import { asTyped, embeddedEnvironment } from "./Settings.ts"

const server = Effect.promise(() => import("@stoa/server"))

const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

export const serveHere = (say: (line: string) => void): Effect.Effect<number> =>
  // performance.now() counts from the start of the process, which is the time a person waits.
  Effect.flatMap(server, ({ serve }) => Effect.promise(() => serve({ startedAt: 0, say, asTyped })))

/**
 * An embedded house on the local data folder, until `stop`. Resolves when it ends, or rejects with why it could not
 * start.
 */
export const embedHere = async (stop: AbortSignal, ready: (url: string) => void): Promise<void> => {
  const { embed } = await import("@stoa/server")
  await embed({ environment: embeddedEnvironment(), ready, stop })
}

export const doctorHere = Effect.flatMap(server, ({ offline }) => attempt(() => offline.doctor()))

export const backupHere = (file: string, withKey: boolean): Effect.Effect<void, Failure> =>
  Effect.asVoid(Effect.flatMap(server, ({ offline }) => attempt(() => offline.backup(file, { withKey }))))

export const restoreHere = (file: string, replace: boolean) =>
  Effect.flatMap(server, ({ offline }) => attempt(() => offline.restore(file, { replace }))).pipe(
    Effect.flatMap((words) => printNote(words)),
  )
