/**
 * Which tools of a set a context may see and call: one list for both (S2-05), changed at run time with an audit row
 * (G-38).
 */
import {
  type AccessContext,
  AllowList,
  BadInput,
  ListedSet,
  OwnedByFile,
  type Page,
  serverOfTool,
  type Source,
  toolNames,
  type ToolsetName,
} from "@stoa/contract"
import { nearest } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { json } from "../../store/database/dialect/Columns.ts"
import { currentCause } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { rightsChanged } from "./Rights.ts"

const contexts: ReadonlyArray<AccessContext> = ["agent", "crossroads", "internal"]

/** The six of S2-03; otherwise everything for `agent` and `internal`, and nothing for `crossroads` (X-53). */
const engramsForAgents = toolNames.engrams.filter((name) => name.startsWith("engram_"))
export const defaultTools = (toolset: ListedSet, context: AccessContext): ReadonlyArray<string> =>
  context === "crossroads" ? [] : toolset === "engrams" && context === "agent" ? engramsForAgents : ["*"]

/**
 * Names that are not in a built-in set: a mistake (S2-07). Configured tools and those of MCP servers come and go, so theirs are
 * accepted.
 */
export const unknownNames = (toolset: ListedSet, tools: ReadonlyArray<string>): ReadonlyArray<string> =>
  toolset in toolNames ? tools.filter((tool) => tool !== "*" && !toolNames[toolset as ToolsetName].includes(tool)) : []

export const noSuchTool = (toolset: ListedSet, name: string): string => {
  const meant = nearest(name, toolset in toolNames ? toolNames[toolset as ToolsetName] : [])
  return `there is no tool "${name}" in ${toolset}${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`
}

/** Everything of an MCP server: its tools, resources and prompts. */
export const wholeServer = (server: string): string => `${server}/*`

/** Whether a list of `upstream` contains a whole server. The name of a tool gives only that tool. */
export const listsServer = (tools: ReadonlySet<string>, server: string): boolean =>
  tools.has("*") || tools.has(wholeServer(server))

export const listsTool = (toolset: ListedSet, tools: ReadonlySet<string>, tool: string): boolean =>
  tools.has("*") || tools.has(tool) || (toolset === "upstream" && tools.has(wholeServer(serverOfTool(tool) ?? "")))

const { unknown: _unknown, ...stored } = AllowList.fields
const Row = Schema.Struct({ ...stored, tools: json(AllowList.fields.tools) })
const decode = Schema.decodeUnknownSync(Row)

export class AllowLists extends Context.Service<
  AllowLists,
  {
    readonly get: (toolset: ListedSet, context: AccessContext) => Effect.Effect<AllowList>
    readonly list: Effect.Effect<Page<AllowList>>
    readonly set: (
      toolset: ListedSet,
      context: AccessContext,
      tools: ReadonlyArray<string>,
      by?: Source,
    ) => Effect.Effect<AllowList, BadInput | OwnedByFile, Transaction>
    /** Resets the list to its default. Only the file resets what it declared. */
    readonly reset: (
      toolset: ListedSet,
      context: AccessContext,
      by?: Source,
    ) => Effect.Effect<AllowList, OwnedByFile, Transaction>
    /** Checked when a catalogue is listed, and again when a tool is called. */
    readonly allows: (toolset: ListedSet, context: AccessContext, tool: string) => Effect.Effect<boolean>
  }
>()("server/access/rights/AllowLists") {
  static readonly layer = (configFile: string) =>
    Layer.effect(
      AllowLists,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)

        const get: AllowLists["Service"]["get"] = Effect.fn("AllowLists.get")(function* (toolset, context) {
          const rows = yield* sql`SELECT * FROM allow_lists WHERE toolset = ${toolset} AND context = ${context}`
          if (rows[0] !== undefined) {
            const row = decode(rows[0])
            return new AllowList({ ...row, unknown: unknownNames(toolset, row.tools) })
          }
          const tools = defaultTools(toolset, context)
          return new AllowList({
            toolset,
            context,
            tools,
            unknown: [],
            source: "default",
            changedAt: null,
            changedBy: null,
          })
        }, Effect.orDie)

        const list = Effect.map(
          Effect.forEach(
            ListedSet.literals.flatMap((toolset) => contexts.map((context) => [toolset, context] as const)),
            ([toolset, context]) => get(toolset, context),
          ),
          (items): Page<AllowList> => ({ items, next: null }),
        )

        const owned = ({ context, toolset }: AllowList) =>
          new OwnedByFile({ noun: "allow list", name: `${toolset}/${context}`, file: configFile })

        const record = Effect.fnUntraced(function* (before: AllowList, after: ReadonlyArray<string>) {
          const { context, toolset } = before
          yield* journal.append({
            kind: "allow-list.changed",
            body: { toolset, context, before: before.tools, after },
          })
          yield* changed
        })

        const set: AllowLists["Service"]["set"] = Effect.fn("AllowLists.set")(function* (
          toolset,
          context,
          wanted,
          by = "house",
        ) {
          const tools = [...new Set(wanted)]
          const unknown = unknownNames(toolset, tools)
          if (unknown.length > 0)
            return yield* new BadInput({
              issues: unknown.map((name) => ({
                path: `tools.${wanted.indexOf(name)}`,
                message: noSuchTool(toolset, name),
              })),
            })
          const before = yield* get(toolset, context)
          if (before.source === "file" && by !== "file") return yield* owned(before)
          const same = before.source === by && JSON.stringify(before.tools) === JSON.stringify(tools)
          if (same) return before
          const { actor } = yield* currentCause
          const changedAt = DateTime.formatIso(yield* DateTime.now)
          const row = { toolset, context, tools: JSON.stringify(tools), source: by, changedAt, changedBy: actor }
          yield* Effect.orDie(sql`INSERT INTO allow_lists ${sql.insert(row)}
              ON CONFLICT (toolset, context) DO UPDATE SET tools = excluded.tools, source = excluded.source,
                changed_at = excluded.changed_at, changed_by = excluded.changed_by`)
          yield* record(before, tools)
          return yield* get(toolset, context)
        })

        const reset: AllowLists["Service"]["reset"] = Effect.fn("AllowLists.reset")(function* (
          toolset,
          context,
          by = "house",
        ) {
          const before = yield* get(toolset, context)
          if (before.source === "default") return before
          if (before.source === "file" && by !== "file") return yield* owned(before)
          yield* Effect.orDie(sql`DELETE FROM allow_lists WHERE toolset = ${toolset} AND context = ${context}`)
          yield* record(before, defaultTools(toolset, context))
          return yield* get(toolset, context)
        })

        const allows: AllowLists["Service"]["allows"] = (toolset, context, tool) =>
          Effect.map(get(toolset, context), ({ tools }) => listsTool(toolset, new Set(tools), tool))

        return AllowLists.of({ get, list, set, reset, allows })
      }),
    )
}
