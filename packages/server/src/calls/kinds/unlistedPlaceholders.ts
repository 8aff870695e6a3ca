/**
 * The values of the house that a configured tool names. Environment variables that it may not read are refused when it
 * is configured, not only when it is called (S1-26).
 */
import type { Issue, Placeholder, ToolConfiguration, ToolKind } from "@stoa/contract"
import { housePlaceholders, readTemplate } from "./templates/template.ts"

/** The kinds that fill in values of the house. In the others `${env.NAME}` is ordinary text. */
const filling: ReadonlySet<ToolKind> = new Set<ToolKind>(["http", "webhook", "image"])

/** Its kind reports malformed placeholders. */
const ignored = () => {}

/** Everything of the house that a call fills in or signs with. */
export const placeholdersOfTool = (tool: ToolConfiguration): ReadonlyArray<Placeholder> => {
  if (!filling.has(tool.kind)) return []
  const filled = housePlaceholders(readTemplate(tool.execution, "", ignored))
  const signing = tool.kind === "webhook" ? tool.execution.signingSecret : undefined
  return signing === undefined ? filled : [...filled, { from: "secret", name: signing }]
}

export const unlistedPlaceholders = (
  { execution, kind }: ToolConfiguration,
  listed: ReadonlyArray<string>,
): ReadonlyArray<Issue> =>
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
