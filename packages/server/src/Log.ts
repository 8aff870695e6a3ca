/** One line an event on stderr: words for a terminal, JSON for everything else. */
// edge: writes to stderr.
import { Layer, Logger, References } from "effect"
import type { Settings } from "./Settings.ts"

const levels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

const toStderr = <A>(format: Logger.Logger<A, string>) =>
  Logger.make<A, void>((options) => void process.stderr.write(`${format.log(options)}\n`))

export const layerLog = (level: Settings["Service"]["log"], terminal: boolean): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([toStderr(terminal ? Logger.formatLogFmt : Logger.formatJson)]),
    Layer.succeed(References.MinimumLogLevel, levels[level]),
  )
