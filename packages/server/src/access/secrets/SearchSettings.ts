/**
 * The search service of the built-in skills, and its key: the only place that reads them from the environment of the
 * house. The configuration file need not list them under `env`, since no tool gets their values.
 */
import { skillsConfigFromEnv } from "@stoa/tools"
import { Effect, Redacted } from "effect"
import { Settings } from "../../Settings.ts"
import { Confidential } from "./Confidential.ts"

/** The first that is set wins. */
const variables = ["TAVILY_API_KEY", "SERPAPI_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL"]

export const makeSearchSettings = Effect.gen(function* () {
  const { variable } = yield* Settings
  const confidential = yield* Confidential
  const config = skillsConfigFromEnv(Object.fromEntries(variables.map((name) => [name, variable(name)])))
  const { key } = config.search
  if (key !== undefined) confidential.add(Redacted.value(key))
  return config
})
