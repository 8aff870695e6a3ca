/**
 * Applies the configuration file, completely or not at all. The file owns what it declares and never changes what was
 * made at run time; a name that exists in both refuses the whole file.
 */
// edge: reads one file.
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import {
  type AccessContext,
  type AgentChange,
  approvalFaults,
  ConfigFaulty,
  Configuration as Declared,
  type Issue,
  issuesOf,
  ListedSet,
  NewPrincipal,
  Role,
} from "@stoa/contract"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { unopenable } from "@stoa/tools"
import { inFile, withHint } from "./configurationHints.ts"
import { makeConfigurationNotes } from "./configurationNotes.ts"
import { parse } from "./configurationText.ts"
import { modelFaults } from "./configurationModels.ts"
import { serverFaults, serversOf } from "./configurationServers.ts"
import { Agents } from "../access/identity/Agents.ts"
import { limitFaults } from "../access/limits/Limits.ts"
import { AllowLists, noSuchTool, unknownNames } from "../access/rights/AllowLists.ts"
import { type PrincipalChanges, nameKey, Principals } from "../access/identity/Principals.ts"
import { defaultRoles } from "../access/rights/policy.ts"
import { resourceFaults } from "../access/rights/Resources.ts"
import { Rules } from "../access/rights/Rules.ts"
import { Tools } from "../calls/catalogue/Tools.ts"
import { DeclaredSpaces } from "../spaces/DeclaredSpaces.ts"
import { Languages } from "../models/Languages.ts"
import { Journal } from "../store/journal/Journal.ts"
import { type DeclaredServer, Servers } from "../servers/Servers.ts"

export interface AppliedFile {
  readonly file: string
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly retired: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

const decode = Schema.decodeUnknownEffect(Declared, { errors: "all", onExcessProperty: "error" })

/** A house without a file declares nothing. */
const nothing: Declared = {}

/** Faults that the schema cannot detect: duplicate names, unknown tools, unknown roles. */
const faults = (declared: Declared): ReadonlyArray<Issue> => {
  const seen = new Map<string, string>()
  const issues: Array<Issue> = []
  for (const section of ["people", "agents"] as const)
    for (const [place, { name }] of (declared[section] ?? []).entries()) {
      const path = `${section}.${place}.name`
      const first = seen.get(nameKey(name))
      if (first === undefined) seen.set(nameKey(name), path)
      else issues.push({ path, message: `"${name}" is already declared at ${first}` })
    }
  for (const [set, context, tools] of listsOf(declared))
    for (const name of unknownNames(set, tools))
      issues.push({
        path: `allowLists.${set}.${context}.${tools.indexOf(name)}`,
        message: noSuchTool(set, name),
      })
  for (const section of ["policies", "limits"] as const)
    for (const [place, { principal }] of (declared[section] ?? []).entries())
      if (principal.startsWith("role:") && !(Role.literals as ReadonlyArray<string>).includes(principal.slice(5)))
        issues.push({ path: `${section}.${place}.principal`, message: `there is no ${principal.replace(":", " ")}` })
  for (const [place, { approval, effect, resource }] of (declared.policies ?? []).entries()) {
    issues.push(...resourceFaults(resource, `policies.${place}.resource`))
    if (approval === undefined) continue
    const path = `policies.${place}.approval`
    if (effect !== "ask") issues.push({ path, message: `is only allowed if effect is "ask"; it is "${effect}"` })
    issues.push(...approvalFaults(approval, path))
  }
  const rooms = new Set<string>()
  for (const [place, { name }] of (declared.spaces ?? []).entries()) {
    if (rooms.has(nameKey(name))) issues.push({ path: `spaces.${place}.name`, message: `"${name}" is declared twice` })
    rooms.add(nameKey(name))
  }
  const tools = new Set<string>()
  for (const [place, { name }] of (declared.tools ?? []).entries()) {
    if (tools.has(name)) issues.push({ path: `tools.${place}.name`, message: `"${name}" is declared twice` })
    tools.add(name)
  }
  for (const list of ["hosts", "allow"] as const)
    for (const [place, host] of (declared.egress?.[list] ?? []).entries()) {
      const kind = unopenable(host)
      if (kind === undefined) continue
      const message = `"${host}" is a ${kind} address, which tools never reach; take it out of the list`
      issues.push({ path: `egress.${list}.${place}`, message })
    }
  return [...issues, ...limitFaults(declared.limits ?? []), ...serverFaults(declared), ...modelFaults(declared)]
}

const listsOf = (declared: Declared) =>
  Object.entries(declared.allowLists ?? {}).flatMap(([set, lists]) =>
    Object.entries(lists ?? {}).map(([context, tools]) => [set as ListedSet, context as AccessContext, tools] as const),
  )

const principalsOf = (declared: Declared) => [
  ...(declared.people ?? []).map(({ notify: _told, ...one }) => ({ kind: "person" as const, ...one })),
  ...(declared.agents ?? []).map(
    ({ autoWake: _a, limits: _l, mcp: _s, model: _m, parent: _p, persona: _who, role: _r, thinker: _t, ...one }) => ({
      kind: "agent" as const,
      ...one,
    }),
  ),
]

/** The file declares the whole profile of an agent: what it leaves out gets the default. */
const profileOf = (agent: NonNullable<Declared["agents"]>[number]): AgentChange => ({
  persona: agent.persona ?? null,
  model: agent.model ?? null,
  limits: agent.limits ?? {},
  thinker: agent.thinker ?? { kind: "model" },
  role: agent.role ?? "worker",
  autoWake: agent.autoWake ?? true,
  parent: agent.parent ?? null,
})

export class Configuration extends Context.Service<
  Configuration,
  { readonly file: string; readonly apply: Effect.Effect<AppliedFile, ConfigFaulty> }
>()("server/Configuration") {
  static readonly layer = (options: { readonly file: string; readonly mustExist: boolean }) =>
    Layer.effect(
      Configuration,
      Effect.gen(function* () {
        const { file } = options
        const journal = yield* Journal
        const principals = yield* Principals
        const allowLists = yield* AllowLists
        const agents = yield* Agents
        const languages = yield* Languages
        const rules = yield* Rules
        const servers = yield* Servers
        const tools = yield* Tools
        const spaces = yield* DeclaredSpaces
        const notesOn = yield* makeConfigurationNotes
        const faulty = (issues: ReadonlyArray<Issue>) => new ConfigFaulty({ file, issues })

        /** Tools describe their own faults better than a union of all their schemas. */
        const toolFaults = Effect.fnUntraced(function* (value: unknown) {
          const { env, tools: given } = (value ?? {}) as { readonly env?: unknown; readonly tools?: unknown }
          const listed = Array.isArray(env) ? (env as ReadonlyArray<string>) : []
          const issues: Array<Issue> = []
          for (const [place, form] of (Array.isArray(given) ? given : []).entries())
            for (const { message, path } of yield* tools.faults(form, listed))
              issues.push({ path: ["tools", place, path].filter((part) => part !== "").join("."), message })
          return issues
        })

        const load = Effect.gen(function* () {
          const text = yield* Effect.try({
            try: () => readFileSync(file, "utf8"),
            catch: (cause) => faulty([{ path: file, message: `cannot be read: ${(cause as Error).message}` }]),
          })
          const { issues, value } = parse(text)
          if (issues.length > 0) return yield* faulty(issues)
          const unbuilt = yield* toolFaults(value)
          if (unbuilt.length > 0) return yield* faulty(unbuilt)
          const declared = yield* Effect.mapError(decode(value), (error) => faulty(issuesOf(error).map(withHint)))
          const found = faults(declared)
          return found.length > 0 ? yield* faulty(found) : declared
        })

        const absent = Effect.gen(function* () {
          const counts = [
            ["people and agents", (yield* principals.declared).length],
            ["tools", yield* tools.declared],
            ["MCP servers", yield* servers.declared],
            ["spaces", yield* spaces.declared],
            ["models", yield* languages.declared],
            ["rules", yield* rules.declared],
            ["allow lists", (yield* allowLists.list).items.filter(({ source }) => source === "file").length],
          ] as const
          const left = counts.flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`]))
          if (!options.mustExist && left.length === 0) return nothing
          return yield* faulty([
            {
              path: file,
              message:
                left.length > 0
                  ? `there is no such file, but the house still has what it declared (${left.join(", ")}); put it back, or put {} in its place to give them up`
                  : "there is no such file; create it, or unset STOA_CONFIG",
            },
          ])
        })

        const exists = Effect.sync(() => {
          try {
            readFileSync(file)
            return true
          } catch (cause) {
            return (cause as { code?: string }).code !== "ENOENT"
          }
        })

        const applyPrincipals = Effect.fnUntraced(function* (declared: Declared) {
          const before = yield* principals.declared
          const wanted = principalsOf(declared)
          const known = (name: string) => before.find((one) => nameKey(one.name) === nameKey(name))
          const done = { added: [] as Array<string>, changed: [] as Array<string>, retired: [] as Array<string> }
          for (const one of before) {
            const kept = wanted.find((other) => nameKey(other.name) === nameKey(one.name))
            if (kept !== undefined && kept.kind === one.kind) continue
            yield* Effect.orDie(principals.retire(one.id, "file"))
            done.retired.push(one.name)
          }
          for (const { kind, name, ...rest } of wanted) {
            const old = known(name)
            if (old === undefined || old.kind !== kind) {
              yield* principals.add(NewPrincipal.make({ kind, name, ...rest }), "file").pipe(
                Effect.mapError((error) =>
                  faulty([
                    {
                      path: `${kind === "agent" ? "agents" : "people"}: ${name}`,
                      message:
                        error._tag === "NameTaken"
                          ? "somebody made at run time has this name; rename one of the two"
                          : inFile(error),
                    },
                  ]),
                ),
              )
              done.added.push(name)
              continue
            }
            const owner = "owner" in rest && rest.owner !== undefined ? (yield* ownerOf(rest.owner)).id : null
            const changes: PrincipalChanges = {
              name,
              roles: rest.roles ?? defaultRoles[kind],
              toolsets: rest.toolsets ?? ["stoa"],
              wallet: rest.wallet ?? null,
              owner,
            }
            const now = yield* Effect.orDie(principals.change(old.id, changes, { source: "file" }))
            if (now !== old && JSON.stringify(now) !== JSON.stringify(old)) done.changed.push(name)
          }
          return done
        })

        /** After all agents exist: an agent may work for one further down in the file. */
        const applyProfiles = Effect.fnUntraced(function* (declared: Declared) {
          const changed: Array<string> = []
          const wanted = (declared.agents ?? []).map((agent) => ({ name: agent.name, profile: profileOf(agent) }))
          // Parents that the file changes are removed first, so that only the file's own tree can be a cycle.
          for (const { name, profile } of wanted) {
            const before = yield* Effect.orDie(agents.get(name))
            const parent = profile.parent == null ? null : yield* Effect.option(agents.get(profile.parent))
            if (before.parent !== null && (parent === null || !Option.exists(parent, ({ id }) => id === before.parent)))
              yield* Effect.orDie(agents.change(before.id, { parent: null }, "file"))
          }
          for (const [place, { name, profile }] of wanted.entries()) {
            const before = yield* Effect.orDie(agents.get(name))
            const now = yield* Effect.mapError(agents.change(before.id, profile, "file"), (error) =>
              faulty([{ path: `agents.${place}`, message: inFile(error) }]),
            )
            if (now !== before && JSON.stringify(now) !== JSON.stringify(before)) changed.push(name)
          }
          return changed
        })

        const ownerOf = (name: string) =>
          Effect.mapError(principals.get(name), (error) => faulty([{ path: `owner: ${name}`, message: inFile(error) }]))

        const applyLists = Effect.fnUntraced(function* (declared: Declared) {
          const wanted = listsOf(declared)
          const changed: Array<string> = []
          const warnings: Array<string> = []
          for (const before of (yield* allowLists.list).items) {
            const next = wanted.find(([set, context]) => set === before.toolset && context === before.context)
            if (next !== undefined) {
              if (before.source === "house")
                return yield* faulty([
                  {
                    path: `allowLists.${next[0]}.${next[1]}`,
                    message: `this list was set at run time and stays as it is; remove it from this file. To declare it here instead, run "stoa lists reset ${next[0]} ${next[1]}" while the house runs without that line, then add it again`,
                  },
                ])
              const after = yield* Effect.orDie(allowLists.set(next[0], next[1], next[2], "file"))
              if (after.changedAt !== before.changedAt && JSON.stringify(after) !== JSON.stringify(before))
                changed.push(`allowLists.${next[0]}.${next[1]}`)
            } else if (before.source === "file") {
              const { tools: now } = yield* Effect.orDie(allowLists.reset(before.toolset, before.context, "file"))
              const path = `allowLists.${before.toolset}.${before.context}`
              changed.push(path)
              warnings.push(`${path} is no longer declared: its default counts again (${now.join(", ") || "no tool"})`)
            }
          }
          return { changed, warnings }
        })

        const applyServers = Effect.fnUntraced(function* (declared: Declared) {
          const wanted: Array<DeclaredServer> = []
          for (const { agent, ...server } of serversOf(declared)) {
            const owner = agent === undefined ? null : (yield* Effect.orDie(principals.get(agent))).id
            wanted.push({ ...server, owner })
          }
          return yield* Effect.mapError(servers.declare(wanted), (issue) => faulty([issue]))
        })

        const addressesOf = Effect.fnUntraced(function* (declared: Declared) {
          const told = (declared.people ?? []).filter(({ notify }) => notify !== undefined)
          return yield* Effect.forEach(told, ({ name, notify: address }) =>
            Effect.map(Effect.orDie(principals.get(name)), ({ id: person }) => ({ person, address })),
          )
        })

        const applySpaces = Effect.fnUntraced(function* (declared: Declared) {
          const admin = yield* Effect.orDie(principals.get("admin"))
          return yield* Effect.mapError(spaces.declare(declared.spaces ?? [], admin), ({ message, name }) =>
            faulty([{ path: `spaces: ${name}`, message }]),
          )
        })

        const applyTools = (declared: Declared) =>
          Effect.mapError(tools.declare(declared.tools ?? []), ({ name }) =>
            faulty([
              { path: `tools: ${name}`, message: "a tool made at run time has this name; rename one of the two" },
            ]),
          )

        const applyModels = (declared: Declared) =>
          Effect.mapError(languages.declare(declared.models ?? {}, dirname(resolve(file))), ({ name }) =>
            faulty([
              {
                path: `models.${name}`,
                message: "a model of the house's own has this name; rename this one",
              },
            ]),
          )

        const apply = Effect.gen(function* () {
          const isThere = yield* exists
          const declared = isThere ? yield* load : yield* absent
          const written = yield* journal.transact(
            Effect.gen(function* () {
              const done = yield* applyPrincipals(declared)
              for (const name of yield* applyProfiles(declared))
                if (!done.added.includes(name) && !done.changed.includes(name)) done.changed.push(name)
              const lists = yield* applyLists(declared)
              done.changed.push(...lists.changed)
              for (const more of [
                yield* applyServers(declared),
                yield* applyTools(declared),
                yield* applySpaces(declared),
                yield* applyModels(declared),
              ])
                for (const key of ["added", "changed", "retired"] as const) done[key].push(...more[key])
              if (yield* rules.replace("policy", declared.policies ?? [])) done.changed.push("policies")
              if (yield* rules.replace("limit", declared.limits ?? [])) done.changed.push("limits")
              if (yield* rules.replace("env", declared.env ?? [])) done.changed.push("env")
              const egress = declared.egress === undefined ? [] : [declared.egress]
              if (yield* rules.replace("egress", egress)) done.changed.push("egress")
              if (yield* rules.replace("notify", yield* addressesOf(declared))) done.changed.push("people.notify")
              if (done.added.length + done.changed.length + done.retired.length > 0)
                yield* journal.append({ kind: "house.reloaded", body: { file, ...done } })
              // A principal may still be added at run time: a rule for an unknown name is a warning, not an error.
              return { file, ...done, warnings: [...lists.warnings, ...(yield* rules.unknownPrincipals)] }
            }),
          )
          yield* tools.refresh
          const applied = { ...written, warnings: [...written.warnings, ...(yield* notesOn(declared))] }
          for (const warning of applied.warnings) yield* Effect.logWarning(`${file}: ${warning}`)
          // Not logged: a house may start without a file, but whoever reloads expects one.
          const none = `There is no ${resolve(file)}, and a house may run without one: nothing is declared.`
          return isThere ? applied : { ...applied, warnings: [...applied.warnings, none] }
        }).pipe(Effect.withSpan("Configuration.apply"))

        return Configuration.of({ file, apply })
      }),
    )
}
