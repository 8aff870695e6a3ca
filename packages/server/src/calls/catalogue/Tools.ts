/** The configured tools: rows from the configuration file or made at run time, offered to the catalogue. */
import {
  BadInput,
  Caller,
  definitionOf,
  type Issue,
  Missing,
  NameTaken,
  OwnedByFile,
  readTool,
  type Source,
  type ToolConfiguration,
  type ToolForm,
} from "@stoa/contract"
import { digestOf, Registry, CurrentToolsConfig, spellingOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../access/rights/Grants.ts"
import { Environment } from "../../access/secrets/Environment.ts"
import { SharedDatabase } from "../../store/leases/Holder.ts"
import { currentCause } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import type { HandlerCall } from "../road/Handler.ts"
import { Catalogue } from "./Catalogue.ts"
import { nameFault } from "./toolName.ts"
import { Kinds } from "../kinds/Kinds.ts"
import { unlistedPlaceholders } from "../kinds/unlistedPlaceholders.ts"

/** Where a tool is declared. */
export interface Declaration {
  readonly file: string
  readonly key: string
}

interface Row {
  readonly name: string
  readonly form: string
  readonly source: Source
}

/** The first of these names that reads like a different one before it. */
const alikeIn = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Map<string, string>()
  return names.find((name) => {
    const other = seen.get(spellingOf(name))
    seen.set(spellingOf(name), name)
    return other !== undefined && other !== name
  })
}

export class Tools extends Context.Service<
  Tools,
  {
    /**
     * Everything wrong with it, by path; empty if it could be added. `env`: the variables it may read, if not the
     * current ones.
     */
    readonly faults: (form: unknown, env?: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Issue>>
    readonly add: (form: unknown) => Effect.Effect<ToolForm, BadInput | NameTaken>
    /** Adds all of them or none. */
    readonly addAll: (forms: ReadonlyArray<unknown>) => Effect.Effect<void, BadInput | NameTaken>
    /** Changes it, or adds it if there is none. `form`: without a name, it gets this one. */
    readonly put: (
      name: string,
      form: Readonly<Record<string, unknown>>,
    ) => Effect.Effect<ToolForm, BadInput | NameTaken | OwnedByFile>
    readonly remove: (name: string) => Effect.Effect<void, Missing | OwnedByFile>
    readonly get: (name: string) => Effect.Effect<ToolForm, Missing>
    /** The file that declares a tool and its key there, if it is declared; only for those who may change tools. */
    readonly declarations: Effect.Effect<(name: string) => Declaration | undefined, never, Caller>
    /** Writes what the file declares, in the file's transaction; `refresh` puts it into force afterwards. */
    readonly declare: (
      forms: ReadonlyArray<ToolForm>,
    ) => Effect.Effect<
      { readonly added: Array<string>; readonly changed: Array<string>; readonly retired: Array<string> },
      NameTaken,
      Transaction
    >
    /** How many the file declares. */
    readonly declared: Effect.Effect<number>
    /** Makes the catalogue match the rows. */
    readonly refresh: Effect.Effect<void>
  }
>()("server/calls/catalogue/Tools") {
  static readonly layer = (configFile: string) =>
    Layer.effect(
      Tools,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const catalogue = yield* Catalogue
        const kinds = yield* Kinds
        const environment = yield* Environment
        const grants = yield* Grants
        const config = yield* CurrentToolsConfig
        const scope = yield* Effect.scope
        const offered = new Map<string, { readonly form: string; readonly source: Source }>()

        /** Reads it completely and compiles its schemas, so that faults are reported now and not at a call. */
        const read = Effect.fnUntraced(function* (value: unknown, env?: ReadonlyArray<string>) {
          const it = readTool(value)
          if (!it.ok) return it
          const { name } = it.tool.form
          const issues: Array<Issue> = []
          const taken = nameFault(catalogue, name)
          if (taken !== undefined) issues.push({ path: "name", message: taken })
          const { tool } = kinds.make(it.tool)
          const fault = yield* Effect.match(
            new Registry<HandlerCall>(config).add(tool, { reviewed: false, by: (yield* currentCause).actor ?? "" }),
            {
              onSuccess: () => undefined,
              onFailure: (error): Issue => ({
                path: error.parameter === "definition" ? "" : error.parameter,
                message: `must be ${error.expected}, but is ${error.received}`,
              }),
            },
          )
          if (fault !== undefined) issues.push(fault)
          issues.push(...kinds.faults(it.tool), ...unlistedPlaceholders(it.tool, env ?? (yield* environment.names)))
          return issues.length > 0 ? ({ ok: false, issues } as const) : it
        })

        const orBad = Effect.fnUntraced(function* (value: unknown) {
          const it = yield* read(value)
          return it.ok ? it.tool : yield* new BadInput({ issues: it.issues })
        })

        const rows = Effect.orDie(sql<Row>`SELECT name, form, source FROM tools ORDER BY created_at, name`)
        const rowOf = Effect.fnUntraced(function* (name: string) {
          const [row] = yield* Effect.orDie(sql<Row>`SELECT name, form, source FROM tools WHERE name = ${name}`)
          return row ?? (yield* new Missing({ noun: "configured tool", ref: name }))
        })

        const digest = (tool: ToolConfiguration) => digestOf(definitionOf(tool))

        const insert = Effect.fnUntraced(function* (tool: ToolConfiguration, source: Source) {
          const { form } = tool
          const createdAt = DateTime.formatIso(yield* DateTime.now)
          const row = { name: form.name, form: JSON.stringify(form), source, createdAt }
          const made = yield* Effect.orDie(
            sql`INSERT INTO tools ${sql.insert(row)} ON CONFLICT (name) DO NOTHING RETURNING name`,
          )
          // A name that a host offers to everybody is taken just like a configured one.
          const hosted = yield* Effect.orDie(
            sql`SELECT host FROM hosted_tools WHERE scope = ${""} AND name = ${form.name}`,
          )
          if (made.length === 0 || hosted.length > 0) return yield* new NameTaken({ noun: "tool", name: form.name })
          yield* journal.append({ kind: "tool.added", body: { tool: form.name, digest: digest(tool) } })
        })

        const update = Effect.fnUntraced(function* (tool: ToolConfiguration) {
          const { form } = tool
          yield* Effect.orDie(sql`UPDATE tools SET form = ${JSON.stringify(form)} WHERE name = ${form.name}`)
          yield* journal.append({ kind: "tool.changed", body: { tool: form.name, digest: digest(tool) } })
        })

        const drop = Effect.fnUntraced(function* (name: string) {
          yield* Effect.orDie(sql`DELETE FROM tools WHERE name = ${name}`)
          yield* journal.append({ kind: "tool.removed", body: { tool: name } })
        })

        const offer = Effect.fnUntraced(function* (row: Row) {
          const it = readTool(JSON.parse(row.form))
          if (!it.ok) return yield* Effect.logError(`Tool ${row.name} can no longer be read and is left out`, it.issues)
          const { tool, traits } = kinds.make(it.tool)
          yield* catalogue
            .offer("configured", tool, traits)
            .pipe(Effect.catch((error) => Effect.logError(`Tool ${row.name} is left out: ${error.message}`)))
        })

        // Names added in a transaction that may still be open: only that transaction sees the rows.
        const uncommitted = new Set<string>()
        // One refresh at a time, so that the catalogue shows the rows read last.
        const one = Semaphore.makeUnsafe(1)
        const reread = Effect.gen(function* () {
          const all = yield* rows
          const now = new Map(all.map((row) => [row.name, row]))
          for (const name of offered.keys())
            if (!now.has(name) && !uncommitted.has(name)) {
              offered.delete(name)
              yield* catalogue.withdraw("configured", name)
            }
          for (const row of all) {
            const known = offered.get(row.name)
            if (known?.form !== row.form) yield* offer(row)
            offered.set(row.name, row)
          }
        })
        // Uninterruptible: if the request ended halfway, a tool would be missing for everybody.
        const refresh = Effect.uninterruptible(one.withPermit(reread))

        const owned = Effect.fnUntraced(function* (name: string) {
          const row = yield* rowOf(name)
          if (row.source === "file") return yield* new OwnedByFile({ noun: "tool", name, file: configFile })
        })

        // Committed changes are in force before the request is answered.
        const commit = <A, E, R>(write: Effect.Effect<A, E, R>) =>
          Effect.uninterruptible(Effect.tap(journal.transact(write), () => refresh))
        /**
         * The same for new tools, which may be part of a larger transaction: a refresh by another request must not
         * withdraw them.
         */
        const commitNew = <A, E, R>(names: ReadonlyArray<string>, write: Effect.Effect<A, E, R>) => {
          const settle = Effect.suspend(() => {
            names.forEach((name) => uncommitted.delete(name))
            return refresh
          })
          return Effect.gen(function* () {
            const made = yield* journal.transact(write)
            names.forEach((name) => uncommitted.add(name))
            yield* refresh
            yield* sql.afterCommit(settle)
            // A rollback is not reported; no transaction stays open that long.
            const later = Effect.updateContext(settle, (context: Context.Context<never>) =>
              Context.omit(sql.transactionService)(context),
            )
            if (names.some((name) => uncommitted.has(name)))
              yield* Effect.forkIn(Effect.andThen(Effect.sleep("1 minute"), later), scope)
            return made
          }).pipe(Effect.uninterruptible)
        }

        const add: Tools["Service"]["add"] = Effect.fn("Tools.add")(function* (value) {
          const tool = yield* orBad(value)
          yield* commitNew([tool.form.name], insert(tool, "house"))
          return tool.form
        })

        const addAll: Tools["Service"]["addAll"] = Effect.fn("Tools.addAll")(function* (values) {
          const all = yield* Effect.forEach(values, orBad)
          const twice = alikeIn(all.map(({ form }) => form.name))
          if (twice !== undefined) return yield* new NameTaken({ noun: "tool", name: twice })
          yield* commitNew(
            all.map(({ form }) => form.name),
            Effect.forEach(all, (tool) => insert(tool, "house"), { discard: true }),
          )
        })

        const change = Effect.fn("Tools.change")(function* (name: string, value: unknown) {
          yield* owned(name)
          const tool = yield* orBad(value)
          yield* commit(update(tool))
          return tool.form
        })

        const put: Tools["Service"]["put"] = Effect.fn("Tools.put")(function* (name, given) {
          // The caller's right is about this name. Another one would be a tool that nobody asked the caller about.
          if (typeof given["name"] === "string" && given["name"] !== name)
            return yield* new BadInput({
              issues: [
                {
                  path: "name",
                  message: `is "${given["name"]}", but this is the tool "${name}"; a tool cannot be renamed`,
                },
              ],
            })
          const form = { ...given, name: given["name"] ?? name }
          return yield* Effect.catchTag(change(name, form), "Missing", () => add(form))
        })

        const remove: Tools["Service"]["remove"] = Effect.fn("Tools.remove")(function* (name) {
          yield* owned(name)
          yield* commit(drop(name))
        })

        const declare: Tools["Service"]["declare"] = Effect.fn("Tools.declare")(function* (forms) {
          const done = { added: [] as Array<string>, changed: [] as Array<string>, retired: [] as Array<string> }
          const twice = alikeIn(forms.map((form) => form.name))
          if (twice !== undefined) return yield* new NameTaken({ noun: "tool", name: twice })
          const before = (yield* rows).filter((row) => row.source === "file")
          for (const { name } of before)
            if (!forms.some((form) => form.name === name)) {
              yield* drop(name)
              done.retired.push(`tools/${name}`)
            }
          for (const form of forms) {
            const it = readTool(form)
            if (!it.ok) continue
            const known = before.find((row) => row.name === form.name)
            if (known === undefined) {
              yield* insert(it.tool, "file")
              done.added.push(`tools/${form.name}`)
            } else if (known.form !== JSON.stringify(form)) {
              yield* update(it.tool)
              done.changed.push(`tools/${form.name}`)
            }
          }
          return done
        })

        const declarations = Effect.gen(function* () {
          const { verdict } = yield* grants.judge(yield* Caller, "admin", "tools/*")
          return (name: string): Declaration | undefined =>
            verdict === "allow" && offered.get(name)?.source === "file" ? { file: configFile, key: "tools" } : undefined
        })

        const isShared = yield* SharedDatabase
        // Offers what another process has changed here too.
        yield* journal.follow({
          name: "following configured tools",
          kinds: ["tool.added", "tool.changed", "tool.removed"],
          wanted: () => isShared,
          hear: () => refresh,
        })
        yield* refresh
        return Tools.of({
          faults: Effect.fnUntraced(function* (value, env) {
            const it = yield* read(value, env)
            return it.ok ? [] : it.issues
          }),
          add,
          addAll,
          put,
          remove,
          get: Effect.fn("Tools.get")(function* (name) {
            return JSON.parse((yield* rowOf(name)).form) as ToolForm
          }),
          declarations,
          declare,
          declared: Effect.map(rows, (all) => all.filter((row) => row.source === "file").length),
          refresh,
        })
      }),
    )
}
