/**
 * What configured tools name that does not exist (yet), so that a call would fail: a sentence for each, with the next
 * step. Shown where tools are configured, and by the doctor.
 */
import { Caller, readTool, type Source, type ToolConfiguration } from "@stoa/contract"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../access/identity/Principals.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { makeUnsetPlaceholders } from "../../access/secrets/UnsetPlaceholders.ts"
import { namedAgent } from "../kinds/agent.ts"
import { placeholdersOfTool } from "../kinds/unlistedPlaceholders.ts"
import type { CatalogueTool } from "./Traits.ts"

/** A tool that works as an agent of this name, which is not there: also the failure of a call of it. */
export const agentMissing = (tool: string, agent: string): string =>
  `The tool "${tool}" works as the agent "${agent}", which does not exist; an admin has to add that agent, or correct agentConfig.agent.`

export const makeToolNotes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const principals = yield* Principals
  const unset = yield* makeUnsetPlaceholders

  const notesOf = Effect.fnUntraced(function* (tool: ToolConfiguration) {
    const whose = `The tool "${tool.form.name}"`
    const notes = [...(yield* unset(whose, placeholdersOfTool(tool)))]
    const agent = tool.kind === "agent" ? namedAgent(tool) : undefined
    if (agent === undefined) return notes
    const found = yield* Effect.option(principals.get(agent))
    if (!Option.exists(found, ({ kind, retiredAt }) => kind === "agent" && retiredAt === null))
      notes.push(agentMissing(tool.form.name, agent))
    return notes
  })

  /** Of all configured tools, or of those of a name or a source. */
  return Effect.fn("ToolNotes")(function* (of: { readonly name?: string; readonly source?: Source } = {}) {
    const rows = yield* Effect.orDie(
      sql<{ form: string; source: Source }>`SELECT form, source FROM tools
        ${of.name === undefined ? sql`` : sql`WHERE name = ${of.name}`} ORDER BY name`,
    )
    const wanted = rows.filter(({ source }) => source === (of.source ?? source))
    const notes = yield* Effect.forEach(wanted, ({ form }) => {
      const it = readTool(JSON.parse(form))
      return it.ok ? notesOf(it.tool) : Effect.succeed([])
    })
    return notes.flat()
  })
})

/** Those of one tool of the catalogue: what it lacks is for those who may change it. */
export const makeVisibleToolNotes = Effect.gen(function* () {
  const { judge } = yield* Grants
  const notesOf = yield* makeToolNotes
  return Effect.fnUntraced(function* ({ set, tool: { definition } }: CatalogueTool) {
    if (set !== "configured") return []
    const { verdict } = yield* judge(yield* Caller, "admin", `tools/${definition.name}`)
    return verdict === "allow" ? yield* notesOf({ name: definition.name }) : []
  })
})
