/**
 * The environment variables that a configured tool names but may not read: refused when it is configured, not only when
 * it is called (S1-26).
 */
import type { Issue, Placeholder, ToolConfiguration, ToolKind } from "@stoa/contract"
import { housePlaceholders, readTemplate } from "./templates/template.ts"

/** The kinds that fill in values of the house. In the others `${env.NAME}` is ordinary text. */
const filling: ReadonlySet<ToolKind> = new Set<ToolKind>(["http", "webhook", "image"])

/** Its kind reports malformed placeholders. */
const ignored = () => {}

export const unlisted = ({ execution, kind }: ToolConfiguration, listed: ReadonlyArray<string>): ReadonlyArray<Issue> =>
  !filling.has(kind)
    ? []
    : Object.entries(execution).flatMap(([key, value]) => {
        const may = ({ from, name }: Placeholder) => from === "secret" || listed.includes(name)
        const names = housePlaceholders(readTemplate(value, "", ignored)).filter((place) => !may(place))
        return [...new Set(names.map(({ name }) => name))].map((name) => ({
          path: `execution.${key}`,
          message: `tools may not read the environment variable ${name}; list it under "env" in the configuration file`,
        }))
      })
