/**
 * Seed 004's five skills, for agents that have this toolset. Their requests go through the house's egress rules, and
 * they read and write files only in their own folder: the house's keys are beside it.
 */
// edge: makes the folder.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { builtinSkills, CurrentSkillsConfig, CurrentToolsConfig, defaultToolsConfig } from "@stoa/tools"
import { Context, Effect, Redacted } from "effect"
import { EgressRules } from "../access/secrets/EgressRules.ts"
import { makeSearchSettings } from "../access/secrets/SearchSettings.ts"
import type { HouseHandler } from "../calls/road/Handler.ts"
import { Folder } from "../store/Folder.ts"
import type { CatalogueOffer } from "./toolsetTool.ts"

export const skills = Effect.gen(function* () {
  const egress = yield* EgressRules
  const config = yield* makeSearchSettings
  const { key } = config.search
  const workspace = join((yield* Folder).path, "workspace")
  yield* Effect.sync(() => mkdirSync(workspace, { recursive: true, mode: 0o700 }))
  const settings = Context.empty().pipe(
    Context.add(CurrentToolsConfig, {
      ...defaultToolsConfig,
      security: { ...defaultToolsConfig.security, allowedFilePathPrefix: workspace },
    }),
    Context.add(CurrentSkillsConfig, config),
  )
  return builtinSkills.map((skill): CatalogueOffer => {
    const handler: HouseHandler = (args, call) =>
      Effect.suspend(() => {
        if (key !== undefined) call.redactor.add(Redacted.value(key))
        return Effect.provideContext(egress.within(skill.handler(args, call)), settings)
      })
    const definition = { ...skill.definition, executionType: "internal" as const, visibility: "hidden" as const }
    return {
      tool: { ...skill, definition, handler },
      traits: { effects: "outside", reviewed: true, resultSource: "outside" },
    }
  })
})
