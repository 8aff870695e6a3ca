/** Pauses as admins use them: who may, and what else a pause and its end mean for calls and servers. */
import { Effect } from "effect"
import { Pauses } from "../../access/limits/Pauses.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Readers } from "../../store/journal/readers/Readers.ts"
import { Servers } from "../../servers/Servers.ts"

/** How long a lift waits until its pause has stopped everything. */
const maxWait = "5 seconds"

export const makePausing = Effect.gen(function* () {
  const { require } = yield* Grants
  const pauses = yield* Pauses
  const readers = yield* Readers
  const servers = yield* Servers
  const { transact } = yield* Journal
  const mayPause = require("admin", "pauses/*")

  /** Calls made after a lift must not be stopped by the pause before it, and a server's tools must be there again. */
  const lifted = Effect.fnUntraced(function* (subject: string) {
    yield* Effect.timeoutOption(readers.receipt("calls"), maxWait)
    yield* transact(pauses.lift(subject))
    if (!subject.startsWith("servers/")) return
    yield* servers.follow
    yield* servers.shown(subject.slice("servers/".length))
  })

  return {
    list: Effect.andThen(require("read", "pauses/*"), pauses.list),
    set: (wanted: Parameters<typeof pauses.set>[0]) => Effect.andThen(mayPause, pauses.set(wanted)),
    lift: (subject: string) => Effect.andThen(mayPause, lifted(subject)),
  }
})
