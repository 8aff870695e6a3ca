/** What a start does besides composing layers: the keys of the house first, and all that must be true before a door opens. */
import { Effect, Layer, Option, Redacted } from "effect"
import { Tokens } from "../access/identity/Tokens.ts"
import { agreeOnKey } from "../access/secrets/AgreeOnKey.ts"
import { Confidential } from "../access/secrets/Confidential.ts"
import { Configuration } from "../configuration/Configuration.ts"
import { type Keys, version } from "../Doors.ts"
import { Dispatch } from "../runs/working/Dispatch.ts"
import { Settings } from "../Settings.ts"
import { Starting } from "./Starting.ts"
import { Store } from "../store/database/Store.ts"
import { Folder, secretKeyName } from "../store/Folder.ts"
import { causedBy, newCorrelation } from "../store/journal/Correlation.ts"
import { Journal } from "../store/journal/Journal.ts"
import { refuse } from "../store/StartError.ts"
import { Servers } from "../servers/Servers.ts"

export const linkShown = "sign-in-link-shown"

/** Shorter keys work, because houses may have been started with one, and are warned about. */
const shortestKey = 16

export const keysOf = Effect.gen(function* () {
  const settings = yield* Settings
  const folder = yield* Folder
  const confidential = yield* Confidential
  const secret = Option.isSome(settings.secretKey)
    ? settings.secretKey.value
    : (yield* folder.keep(secretKeyName)).value
  confidential.add(Redacted.value(secret))
  if (Redacted.value(secret).length < shortestKey)
    yield* Effect.logWarning(
      `STOA_SECRET_KEY has fewer than ${shortestKey} characters: whoever has a copy of the database can guess it. Take a longer one for a new house, such as \`openssl rand -hex 32\`.`,
    )
  if (Option.isSome(settings.adminToken)) return { secret, admin: settings.adminToken.value, adminIsNew: false }
  const kept = yield* folder.keep("admin.token")
  confidential.add(Redacted.value(kept.value))
  // If the first start failed later, nothing was shown: the next start must show it.
  return { secret, admin: kept.value, adminIsNew: !(yield* folder.isNoted(linkShown)) }
})

/** Before any door opens: the admin token works, and the file is applied. */
export const opening = (keys: Keys) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const settings = yield* Settings
      yield* agreeOnKey
      yield* (yield* Tokens).keepAdmin(keys.admin)
      const applied = yield* Effect.mapError((yield* Configuration).apply, (error) => refuse(error.message, error))
      const changes = applied.added.length + applied.changed.length + applied.retired.length
      if (changes > 0) yield* Effect.logInfo(`${applied.file} applied`, applied)
      if (Option.isSome(settings.anonymous)) {
        const name = settings.anonymous.value
        const { principal } = yield* Effect.mapError((yield* Tokens).standIn(name), () =>
          refuse(
            `STOA_ANONYMOUS names "${name}", and there is no such principal. Start without STOA_ANONYMOUS, add it with "stoa people add ${name}", then start again with it.`,
          ),
        )
        if (principal.roles.includes("admin"))
          yield* Effect.logWarning("STOA_ANONYMOUS is an admin: everybody who can reach this port has all rights")
      }
      const journal = yield* Journal
      const { dialect } = yield* Store
      yield* journal.transact(journal.append({ kind: "house.started", body: { version, store: dialect } }))
      // In the background: no door waits for other people's servers.
      yield* (yield* Servers).open
      yield* (yield* Dispatch).open
      yield* (yield* Starting).over
    }).pipe((start) =>
      Effect.suspend(() => causedBy({ correlationId: newCorrelation(), actor: null, provenance: "house" }, start)),
    ),
  )
