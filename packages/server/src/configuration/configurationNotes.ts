/**
 * What the configuration file names although it does not exist yet: a secret, a variable, an agent, a program. It may
 * be added later, so this is a warning and not an error. The texts come from the rooms that will need it; the doctor
 * shows the same ones.
 */
import type { Configuration as Declared } from "@stoa/contract"
import { Effect } from "effect"
import { makeToolNotes } from "../calls/catalogue/ToolNotes.ts"
import { Languages } from "../models/Languages.ts"
import { makeProgramNotes } from "../programs/ProgramNotes.ts"
import { makeHouseModelNotes } from "../runs/ModelNotes.ts"
import { makeServerNotes } from "../servers/ServerNotes.ts"

const source = "file"

export const makeConfigurationNotes = Effect.gen(function* () {
  const languages = yield* Languages
  const toolNotes = yield* makeToolNotes
  const serverNotes = yield* makeServerNotes
  const programNotes = yield* makeProgramNotes
  // Of all agents: those that were added at run time use the models of the file, too.
  const modelNotes = yield* makeHouseModelNotes

  /** After it is applied. */
  return Effect.fnUntraced(function* ({ agents = [], models = {} }: Declared) {
    const programs = yield* Effect.forEach(agents, ({ name, thinker }) =>
      thinker === undefined ? Effect.succeed([]) : programNotes({ name, thinker }),
    )
    const declared = (yield* languages.listFor({ all: true })).filter(({ name }) => Object.hasOwn(models, name))
    return [
      ...(yield* toolNotes({ source })),
      ...(yield* serverNotes({ source })),
      ...programs.flat(),
      ...declared.flatMap(({ problem = [] }) => problem),
      ...(yield* modelNotes),
    ]
  })
})
