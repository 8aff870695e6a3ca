/**
 * The search service of the built-in skills, and its key: the only place that opens them.
 * The configuration file need not list them under `env`, since no tool gets their values.
 */
import { skillsConfigFromEnv } from "@stoa/tools"
import { Effect, Option, Redacted } from "effect"
import { Settings } from "../../Settings.ts"
import { Confidential } from "./Confidential.ts"

export const makeSearchSettings = Effect.gen(function* () {
  const { braveKey, searxngUrl, serpapiKey, tavilyKey } = yield* Settings
  const confidential = yield* Confidential
  const valueOf = (key: Option.Option<Redacted.Redacted>) => Option.getOrUndefined(Option.map(key, Redacted.value))
  const config = skillsConfigFromEnv({
    TAVILY_API_KEY: valueOf(tavilyKey),
    SERPAPI_API_KEY: valueOf(serpapiKey),
    BRAVE_API_KEY: valueOf(braveKey),
    SEARXNG_URL: Option.getOrUndefined(searxngUrl),
  })
  const { key } = config.search
  if (key !== undefined) confidential.add(Redacted.value(key))
  return config
})
