/**
 * What configured tools name that does not exist (yet), so that a call would fail: a sentence for each, with the next
 * step. Shown where tools are configured, and by the doctor.
 */
import { readTool, type Source, type ToolConfiguration } from "@stoa/contract"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../access/identity/Principals.ts"
import { makeUnset } from "../../access/secrets/Unset.ts"
import { namedAgent } from "../kinds/agent.ts"
import { placeholdersOfTool } from "../kinds/unlisted.ts"

export const makeToolNotes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const principals = yield* Principals
  const unset = yield* makeUnset

  const notesOf = Effect.fnUntraced(function* (tool: ToolConfiguration) {
    const whose = `The tool "${tool.form.name}"`
    const notes = [...(yield* unset(whose, placeholdersOfTool(tool)))]
    const agent = tool.kind === "agent" ? namedAgent(tool) : undefined
    if (agent === undefined) return notes
    const found = yield* Effect.option(principals.get(agent))
    if (!Option.exists(found, ({ kind, retiredAt }) => kind === "agent" && retiredAt === null))
      notes.push(
        `${whose} works as the agent "${agent}", which does not exist; an admin has to add that agent, or correct agentConfig.agent.`,
      )
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
