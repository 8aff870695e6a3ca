/**
 * What MCP servers name that does not exist (yet), so that they cannot be reached: a sentence for each, with the next
 * step. Connects to nothing.
 */
import type { Source } from "@stoa/contract"
import { isProgramHere } from "@stoa/tools"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Secrets } from "../access/secrets/Secrets.ts"
import { makeUnsetPlaceholders, placeholdersOf } from "../access/secrets/UnsetPlaceholders.ts"
import { makeRows, type Server } from "./rows.ts"

export const makeServerNotes = Effect.gen(function* () {
  const rows = makeRows(yield* SqlClient.SqlClient, yield* Secrets)
  const unset = yield* makeUnsetPlaceholders

  const notesOf = Effect.fnUntraced(function* ({ name, spec }: Server) {
    // With another key than the present one it cannot be read; the server itself says so.
    if (spec === undefined) return []
    const { command, env, headers } = spec
    const whose = `The MCP server "${name}"`
    const notes = [...(yield* unset(whose, [...placeholdersOf(command === undefined ? headers : env)]))]
    if (command !== undefined && !(yield* isProgramHere(command, env)))
      notes.push(
        `${whose} is the program "${command}", which is not on this machine; install it, or correct its command.`,
      )
    return notes
  })

  /** Of all servers, or of those of a source. */
  return Effect.fn("ServerNotes")(function* (of: { readonly source?: Source } = {}) {
    const wanted = (yield* rows.all).filter(({ source }) => source === (of.source ?? source))
    return (yield* Effect.forEach(wanted, notesOf)).flat()
  })
})
