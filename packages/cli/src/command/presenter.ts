/** What effect/cli prints. Requested help goes to stdout; help after a mistake goes to stderr and is short. */
// edge: writes to stdout and stderr.
import { Effect, Layer } from "effect"
import { CliConfig, CliOutput, GlobalFlag } from "effect/cli"
import { asTyped } from "../Settings.ts"
import { fittedText } from "./root.ts"

const write = (out: NodeJS.WriteStream, text: string) => Effect.sync(() => void out.write(`${text}\n`))

/** One line that ends, whatever it ended with; effect/cli lists what was meant below. */
const sentence = (message: string): string => {
  const [said = "", meant] = message.split(/\s*Did you mean this\?\s*/)
  const ended = /[.?!]$/.test(said.trim()) ? said.trim() : `${said.trim()}.`
  return meant === undefined ? ended : `${ended} Did you mean ${meant.trim().replaceAll(/\s+/g, " or ")}?`
}

const presenter = CliOutput.layerPresenter({
  present: Effect.fnUntraced(function* (event) {
    const format = yield* CliOutput.Formatter
    if (event._tag === "Version") return yield* write(process.stdout, format.formatVersion(event.name, event.version))
    if (event._tag === "Help")
      return yield* write(
        event.reason === "Requested" ? process.stdout : process.stderr,
        asTyped(format.formatHelpDoc(event.helpDoc)),
      )
    const faults = event.errors.map((error) => sentence(error.message)).join(" ")
    const said = asTyped(`${faults} See "${event.commandPath.join(" ")} --help".`)
    yield* write(process.stderr, fittedText(`stoa: ${said}`, process.stderr))
  }),
})

/** No wizard, because nothing here asks questions, and no log level, because a client logs nothing. */
const config = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

export const layerPresenter = Layer.mergeAll(presenter, config)
