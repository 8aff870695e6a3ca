/** What effect/cli prints. Requested help goes to stdout; help after a mistake goes to stderr and is short. */
// edge: writes to stdout and stderr.
import { Effect, Layer } from "effect"
import { CliConfig, CliOutput, GlobalFlag } from "effect/cli"
import { asTyped } from "../Settings.ts"

const write = (out: NodeJS.WriteStream, text: string) => Effect.sync(() => void out.write(`${text}\n`))

const presenter = CliOutput.layerPresenter({
  present: Effect.fnUntraced(function* (event) {
    const format = yield* CliOutput.Formatter
    if (event._tag === "Version") return yield* write(process.stdout, format.formatVersion(event.name, event.version))
    if (event._tag === "Help")
      return yield* write(
        event.reason === "Requested" ? process.stdout : process.stderr,
        asTyped(format.formatHelpDoc(event.helpDoc)),
      )
    const faults = event.errors.map((error) => error.message).join("; ")
    yield* write(process.stderr, `stoa: ${asTyped(`${faults}. See "${event.commandPath.join(" ")} --help".`)}`)
  }),
})

/** No wizard, because nothing here asks questions, and no log level, because a client logs nothing. */
const config = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

export const layerPresenter = Layer.mergeAll(presenter, config)
