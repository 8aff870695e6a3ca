/**
 * One line per event on stderr: text for a terminal, JSON otherwise. Secrets of the house are removed from every line.
 */
// edge: writes to stderr.
import type { Redactor } from "@stoa/tools"
import { Effect, Layer, Logger, Option, Redacted, References } from "effect"
import { Confidential } from "./access/secrets/Confidential.ts"
import { Settings } from "./Settings.ts"

const levels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

/**
 * The secret part of a URL: the password of a database, or the key of a Sentry, which stands where a user does. The user
 * of a database is no secret: often it has the name of the database, which a message must be able to say.
 */
const keyOf = (url: string): string => {
  const { password = "", protocol = "", username = "" } = URL.parse(url) ?? {}
  return password === "" && !protocol.startsWith("postgres") ? username : password
}

/** All redacted settings are secret from the beginning. */
const addSettings = (settings: Settings["Service"], confidential: Redactor) => {
  for (const setting of Object.values(settings)) {
    if (!Option.isOption(setting) || Option.isNone(setting) || !Redacted.isRedacted(setting.value)) continue
    const value = String(Redacted.value(setting.value))
    confidential.add(value.includes("://") ? keyOf(value) : value)
  }
}

export const layerLog = (level: Settings["Service"]["log"], terminal: boolean): Layer.Layer<never> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const confidential = yield* Confidential
      const settings = yield* Effect.serviceOption(Settings)
      if (Option.isSome(settings)) addSettings(settings.value, confidential)
      const format: Logger.Logger<unknown, string> = terminal ? Logger.formatLogFmt : Logger.formatJson
      const toStderr = Logger.make<unknown, void>(
        (options) => void process.stderr.write(`${confidential.line(format.log(options))}\n`),
      )
      return Layer.mergeAll(Logger.layer([toStderr]), Layer.succeed(References.MinimumLogLevel, levels[level]))
    }),
  )
