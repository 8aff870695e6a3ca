/**
 * Seed 004's five skills, for agents that have this toolset. Their requests go through the house's egress rules, and
 * they read and write files only in their own folder: the house's keys are beside it.
 */
// edge: makes the folder.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import {
  builtinSkills,
  CurrentSkillsConfig,
  CurrentToolsConfig,
  defaultToolsConfig,
  skillsConfigFromEnv,
  type Tool,
} from "@stoa/tools"
import { Context, Effect } from "effect"
import { EgressRules } from "../access/secrets/EgressRules.ts"
import { Settings } from "../Settings.ts"
import { Folder } from "../store/Folder.ts"
import type { CatalogueOffer } from "./toolsetTool.ts"

/** The search services, by the variables of their keys. */
const keys = ["TAVILY_API_KEY", "SERPAPI_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL"]

export const skills = Effect.gen(function* () {
  const egress = yield* EgressRules
  const { variable } = yield* Settings
  const workspace = join((yield* Folder).path, "workspace")
  yield* Effect.sync(() => mkdirSync(workspace, { recursive: true, mode: 0o700 }))
  const settings = Context.empty().pipe(
    Context.add(CurrentToolsConfig, {
      ...defaultToolsConfig,
      security: { ...defaultToolsConfig.security, allowedFilePathPrefix: workspace },
    }),
    Context.add(
      CurrentSkillsConfig,
      skillsConfigFromEnv(Object.fromEntries(keys.map((name) => [name, variable(name)]))),
    ),
  )
  return builtinSkills.map((skill): CatalogueOffer => {
    const handler: Tool["handler"] = (args, context) =>
      Effect.provideContext(egress.within(skill.handler(args, context)), settings)
    const definition = { ...skill.definition, executionType: "internal" as const, visibility: "hidden" as const }
    return {
      tool: { ...skill, definition, handler },
      traits: { effects: "outside", reviewed: true, resultSource: "outside" },
    }
  })
})
