// edge: prints for the person and sets the exit code.
import { Effect } from "effect"
import { Command } from "effect/cli"
import { serveHere } from "../../local.ts"

export const serve = Command.make(
  "serve",
  {},
  Effect.fn(function* () {
    const code = yield* serveHere((line) => void process.stdout.write(`${line}\n`))
    process.exitCode = code
  }),
).pipe(
  Command.withDescription("Run the house on this machine"),
  Command.withExamples([{ command: "STOA_PORT=4041 stoa serve", description: "On another port" }]),
)
