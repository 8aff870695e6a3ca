/**
 * Which `${secret.NAME}` and `${env.NAME}` of a configuration have no value yet. They may be set later, so this is a
 * warning and no fault: a sentence for each, with the next step. Opens no secret.
 */
import { type Placeholder, placeholdersIn } from "@stoa/contract"
import { Effect } from "effect"
import { Environment } from "./Environment.ts"
import { Secrets } from "./Secrets.ts"

/** The placeholders of headers, variables of the environment and the like. */
export const placeholdersOf = (texts: Readonly<Record<string, string>> = {}): ReadonlyArray<Placeholder> =>
  Object.values(texts).flatMap((text) => {
    const read = placeholdersIn(text)
    return "fault" in read ? [] : read.parts.filter((part) => typeof part !== "string")
  })

export const makeUnsetPlaceholders = Effect.gen(function* () {
  const secrets = yield* Secrets
  const environment = yield* Environment

  /** `whose`: the subject of the sentences, such as `The tool "weather"`. */
  return Effect.fnUntraced(function* (whose: string, places: ReadonlyArray<Placeholder>) {
    if (places.length === 0) return []
    const names = (from: Placeholder["from"]) => new Set(places.filter((it) => it.from === from).map((it) => it.name))
    const known = new Set<string>((yield* secrets.list).items.map(({ name }) => name))
    const listed = yield* environment.names
    const unset: Array<string> = []
    for (const name of names("secret"))
      if (!known.has(name)) unset.push(`${whose} needs the secret "${name}", which is not set; an admin has to set it.`)
    for (const name of names("env"))
      if (!listed.includes(name))
        unset.push(
          `${whose} may not read the environment variable ${name}; an operator can list it under "env" in the configuration file.`,
        )
      else if ((yield* Effect.exit(environment.read(name)))._tag === "Failure")
        unset.push(
          `${whose} needs the environment variable ${name}, which is not set; set it where the house is started.`,
        )
    return unset
  })
})
