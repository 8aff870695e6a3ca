/**
 * The configuration of the built-in skills: which search service with which key, and how large a file may be. Keys are
 * read only here; `skillsConfigFromEnv` maps the usual variable names.
 */
import { Context, Redacted } from "effect"

export type SearchName = "tavily" | "serpapi" | "brave" | "searxng"

export interface SkillsConfig {
  readonly search: {
    readonly provider: SearchName
    /** SearXNG needs none. */
    readonly key: Redacted.Redacted | undefined
    /** Instead of the provider's own address. Named by the operator, so it may be a private host. */
    readonly endpoint: string | undefined
  }
  readonly files: {
    readonly maxReadBytes: number
    readonly maxWriteBytes: number
    /** Names of files and folders that are refused everywhere. A working directory often contains its own keys. */
    readonly forbiddenNames: ReadonlyArray<string>
  }
}

export const defaultSkillsConfig: SkillsConfig = {
  search: { provider: "tavily", key: undefined, endpoint: undefined },
  files: {
    maxReadBytes: 1 << 20,
    maxWriteBytes: 1 << 20,
    forbiddenNames: [".stoa", ".env", ".ssh", ".netrc", ".npmrc"],
  },
}

export const CurrentSkillsConfig = Context.Reference<SkillsConfig>("tools/skills/SkillsConfig", {
  defaultValue: () => defaultSkillsConfig,
})

/** The first that is set wins, in this order. */
const keys: ReadonlyArray<readonly [SearchName, string]> = [
  ["tavily", "TAVILY_API_KEY"],
  ["serpapi", "SERPAPI_API_KEY"],
  ["brave", "BRAVE_API_KEY"],
]

/** TAVILY_API_KEY (seed 004's name), SERPAPI_API_KEY, BRAVE_API_KEY, or SEARXNG_URL. Blank counts as unset. */
export const skillsConfigFromEnv = (env: Readonly<Record<string, string | undefined>>): SkillsConfig => {
  for (const [provider, name] of keys) {
    const key = env[name]?.trim()
    if (key !== undefined && key !== "")
      return { ...defaultSkillsConfig, search: { provider, key: Redacted.make(key), endpoint: undefined } }
  }
  const endpoint = env["SEARXNG_URL"]?.trim()
  return endpoint === undefined || endpoint === ""
    ? defaultSkillsConfig
    : { ...defaultSkillsConfig, search: { provider: "searxng", key: undefined, endpoint } }
}
