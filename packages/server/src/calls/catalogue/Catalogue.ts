/**
 * All tools, and which of them a caller has: the intersection of its toolsets, the allow list of its context and its
 * grants, checked when tools are listed and again when one is called. Every source of tools (configuration, MCP
 * servers, hosts, toolsets) offers them here; nothing here knows a tool by its name.
 */
import type {
  Action,
  Caller,
  Judgement,
  ListedSet,
  PrincipalId,
  ToolsetName,
  ToolValidationError,
} from "@stoa/contract"
import { Forbidden } from "@stoa/contract"
import { CurrentToolsConfig, type RegisteredTool, Registry, Road } from "@stoa/tools"
import { Context, Effect, Layer } from "effect"
import { Pauses } from "../../access/limits/Pauses.ts"
import { wholeServer } from "../../access/rights/AllowLists.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { Servers } from "../../servers/Servers.ts"
import {
  type Admission,
  isBrought,
  isEverywhereIn,
  isListed,
  isToolset,
  listOf,
  makeAdmission,
  type SetName,
  type ToolGroup,
} from "./admission.ts"
import type { HandlerCall, HouseTool } from "../road/Handler.ts"
import { type CatalogueTool, type Traits, visibilityOf } from "./Traits.ts"
import { makeServerSync } from "./serverSync.ts"

export { isAdmitted, listOf, type SetName } from "./admission.ts"

/** Which tools are shown: everything the caller has, one set, or one MCP server. */
export type ToolScope =
  | { readonly kind: "all" }
  /** `anyway`: regardless of the principal's toolsets (X-59). */
  | { readonly kind: "set"; readonly set: SetName; readonly anyway?: true }
  | { readonly kind: "server"; readonly server: string }

export const everything: ToolScope = { kind: "all" }

const optionsOf = ({ reviewed, targetDigest }: Traits | { targetDigest?: never; reviewed?: never } = {}) => ({
  ...(targetDigest === undefined ? {} : { behind: targetDigest }),
  reviewed: reviewed === true,
  // Every source has compiled its schemas already; that is not repeated at start.
  known: true,
})

/** A tool there is for a caller, and whether its toolsets and lists include it. */
export interface KnownTool {
  readonly tool: RegisteredTool<HandlerCall>
  readonly traits: Traits
  readonly set: SetName
  readonly admission: Admission
}

export class Catalogue extends Context.Service<
  Catalogue,
  {
    readonly offer: (set: SetName, tool: HouseTool, traits: Traits) => Effect.Effect<void, ToolValidationError>
    /** For callers who have all of these toolsets, it replaces their tools of its name (X-01). */
    readonly unite: (
      sets: ReadonlyArray<ToolsetName>,
      tool: HouseTool,
      traits: Traits,
    ) => Effect.Effect<void, ToolValidationError>
    readonly withdraw: (set: SetName, name: string, owner?: PrincipalId) => Effect.Effect<void>
    /** A caller's view of a scope: the tools it can find and the tools it is shown. Grants are judged separately. */
    readonly view: (caller: Caller["Service"], scope: ToolScope) => Effect.Effect<CallerTools>
    /** The tools the caller may call, in a stable order. */
    readonly list: (caller: Caller["Service"], scope: ToolScope) => Effect.Effect<ReadonlyArray<Callable>>
    /** Those of these names that the caller would be refused in this scope, listed there or not. */
    readonly closed: (
      caller: Caller["Service"],
      scope: ToolScope,
      names: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyArray<string>>
    /** Every tool there is for a caller, even if its toolsets and lists exclude it. */
    readonly every: (caller: Caller["Service"]) => Effect.Effect<ReadonlyArray<KnownTool>>
    /** Fails if the scope is a toolset that the caller does not have. */
    readonly require: (caller: Caller["Service"], scope: ToolScope) => Effect.Effect<void, Forbidden>
    /** Another tool whose name reads like this one: among everybody's tools and, if an owner is given, the owner's. */
    readonly alike: (name: string, owner?: PrincipalId) => string | undefined
    /** Whether it exists now: a tool of this set by its name, or `<server>/*` for a server, connected or not. */
    readonly serves: (set: ListedSet, name: string) => Effect.Effect<boolean>
    /** The names of tools that work on their caller's memory. */
    readonly memoryTools: () => ReadonlyArray<string>
    /** May the caller run it? Only grants are considered. */
    readonly judge: (caller: Caller["Service"], name: string) => Effect.Effect<Judgement>
    /** The same, and what grants were asked about: the tool, or the caller's own calls, which some tools only show. */
    readonly judgeAbout: (caller: Caller["Service"], name: string) => Effect.Effect<ToolJudgement>
    /** Rises whenever a tool is added, removed or changed. */
    readonly version: () => number
    /** Called after each change, while its Effect scope lives. */
    readonly onChange: (hear: () => void) => () => void
  }
>()("server/calls/catalogue/Catalogue") {
  static readonly layer = Layer.effect(
    Catalogue,
    Effect.gen(function* () {
      const admissionTo = yield* makeAdmission
      const grants = yield* Grants
      const pauses = yield* Pauses
      const servers = yield* Servers
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const config = yield* CurrentToolsConfig
      const groups = new Map<string, ToolGroup>()
      const listeners = new Set<() => void>()
      let version = 0

      const changed = () => {
        version++
        for (const hear of listeners) hear()
      }

      // Each server has a limit of its own, so one server's tools do not crowd out another's.
      const boundless = { ...config, registry: { ...config.registry, maxTools: Infinity } }
      const groupKey = (set: SetName, owner: PrincipalId | undefined) => `${set} ${owner ?? ""}`
      const groupOf = (set: SetName, owner: PrincipalId | undefined): ToolGroup => {
        const key = groupKey(set, owner)
        const known = groups.get(key)
        if (known !== undefined) return known
        const made: ToolGroup = {
          set,
          sets: [set],
          owner,
          registry: new Registry<HandlerCall>(set === "upstream" ? boundless : config),
          traits: new Map(),
        }
        groups.set(key, made)
        return made
      }

      const offer: Catalogue["Service"]["offer"] = Effect.fnUntraced(function* (set, tool, traits) {
        const group = groupOf(set, traits.owner)
        const { name } = tool.definition
        const before = group.registry.find(name)
        // A tool offered again replaces itself; if the new one is refused, the old one stays.
        if (before?.definition.name === name) group.registry.remove(name)
        yield* group.registry
          .add(tool, optionsOf(traits))
          .pipe(
            Effect.tapError(() =>
              before === undefined
                ? Effect.void
                : Effect.ignore(group.registry.add(before, optionsOf(group.traits.get(name)))),
            ),
          )
        group.traits.set(name, traits)
        changed()
      }, Effect.uninterruptible)

      const united: Array<ToolGroup> = []
      const unite: Catalogue["Service"]["unite"] = Effect.fnUntraced(function* (sets, tool, traits) {
        const registry = new Registry<HandlerCall>(config)
        yield* registry.add(tool, optionsOf(traits))
        const { name } = tool.definition
        united.push({ set: sets[0]!, sets, owner: undefined, registry, traits: new Map([[name, traits]]) })
        united.sort((a, b) => b.sets.length - a.sets.length)
        changed()
      })

      const withdraw: Catalogue["Service"]["withdraw"] = (set, name, owner) =>
        Effect.sync(() => {
          const group = groups.get(groupKey(set, owner))
          if (group === undefined || !group.registry.remove(name)) return
          group.traits.delete(name)
          changed()
        })

      /** The groups a scope may show, in lookup order: this house's own tools first, then toolsets. */
      const open = ({ principal }: Caller["Service"], scope: ToolScope): ReadonlyArray<ToolGroup> => {
        const mine = [...groups.values()].filter((one) => one.owner === undefined || one.owner === principal.id)
        const of = (set: SetName) => mine.filter((one) => one.set === set)
        switch (scope.kind) {
          case "set":
            return of(scope.set)
          case "server":
            return of("upstream")
          case "all":
            return [
              ...of("configured"),
              ...of("upstream"),
              ...united,
              ...principal.toolsets.flatMap((set) => of(set)),
              ...mine.filter((one) => isBrought(one.set)),
            ]
        }
      }

      const upToDate = yield* makeServerSync(servers, {
        offer: (tool, traits) => offer("upstream", tool, traits),
        withdraw: (name, owner) => withdraw("upstream", name, owner),
      })
      // Listeners are told about changes of servers' tools too, even if nobody asks for a list.
      yield* servers.onChange(() => runFork(upToDate.sync))

      // A caller is one object as long as its token and rights are valid, so its views are cached with it.
      type Views = Map<string, { readonly version: number; readonly view: Effect.Effect<CallerTools> }>
      const views = new WeakMap<Caller["Service"], Views>()
      const nameOf = (scope: ToolScope): string =>
        scope.kind === "all"
          ? ""
          : scope.kind === "server"
            ? `server ${scope.server}`
            : `${scope.set} ${scope.anyway === true}`

      const lookAnew = Effect.fnUntraced(function* (caller: Caller["Service"], scope: ToolScope) {
        yield* upToDate.sync
        const kept: Views = views.get(caller) ?? new Map()
        const seenAt = version
        const view = yield* look(caller, scope)
        views.set(caller, kept.set(nameOf(scope), { version: seenAt, view: Effect.succeed(view) }))
        return view
      })
      // Runs for every call: a cached view is returned without a fiber.
      const view: Catalogue["Service"]["view"] = (caller, scope) => {
        const known = upToDate.is() ? views.get(caller)?.get(nameOf(scope)) : undefined
        return known?.version === version ? known.view : lookAnew(caller, scope)
      }

      const look = Effect.fnUntraced(function* (caller: Caller["Service"], scope: ToolScope) {
        const anyway = scope.kind === "set" && scope.anyway === true
        const on: Array<{ readonly group: ToolGroup; readonly admits: (name: string) => Admission }> = []
        for (const group of open(caller, scope)) on.push({ group, admits: yield* admissionTo(group, caller, anyway) })
        const listed = (group: ToolGroup, tool: RegisteredTool<HandlerCall>): CatalogueTool => {
          const set = listOf(group.set)
          const traits = group.traits.get(tool.definition.name)!
          return { ...traits, tool, set, visibility: visibilityOf(set, tool, traits, caller.principal) }
        }
        const shows = ({ admits, group }: (typeof on)[number], name: string): boolean =>
          isListed(admits(name)) && (scope.kind !== "server" || group.traits.get(name)?.server === scope.server)
        /** A tool that is not on this scope but can be called all the same. */
        const unlisted = (name: string): CatalogueTool | undefined => {
          for (const group of groups.values())
            if (isEverywhereIn(group, name)) return listed(group, group.registry.find(name)!)
          return undefined
        }
        const found = new Map<string, CatalogueTool>()
        const lookUp = (name: string): CatalogueTool | undefined => {
          for (const each of on) {
            const tool = each.group.registry.find(name)
            if (tool === undefined || !shows(each, tool.definition.name)) continue
            const one = listed(each.group, tool)
            // A view is rebuilt after every change, so what was found in it stays valid.
            found.set(name, one)
            return one
          }
          return unlisted(scope.kind === "server" ? name.slice(`${scope.server}/`.length) : name)
        }
        const seen: CallerTools = {
          find: (name) => found.get(name) ?? lookUp(name),
          names: () => seen.all().map((one) => one.tool.definition.name),
          all: () => {
            const names = new Set<string>()
            const every: Array<CatalogueTool> = []
            for (const each of on)
              for (const name of each.group.registry.names())
                if (shows(each, name) && !names.has(name)) {
                  names.add(name)
                  every.push(listed(each.group, each.group.registry.find(name)!))
                }
            return every
          },
        }
        return seen
      })

      const serves: Catalogue["Service"]["serves"] = Effect.fnUntraced(function* (set, name) {
        yield* upToDate.sync
        if (set === "upstream" && name.endsWith("/*"))
          return (yield* servers.list).items.some((server) => wholeServer(server.name) === name)
        return [...groups.values()].some(
          (group) => listOf(group.set) === set && group.registry.find(name)?.definition.name === name,
        )
      })

      const require: Catalogue["Service"]["require"] = ({ principal }, scope) =>
        scope.kind !== "set" || scope.anyway === true || !isToolset(scope.set) || principal.toolsets.includes(scope.set)
          ? Effect.void
          : new Forbidden({
              action: "use",
              resource: `toolsets/${scope.set}`,
              rule: `your toolsets are ${principal.toolsets.join(", ") || "none"}`,
              instead: `An admin can give ${principal.name} the toolset ${scope.set}.`,
            })

      pauses.learn(
        Effect.gen(function* () {
          yield* upToDate.sync
          const names = (yield* servers.list).items.map((server) => server.name)
          return { servers: names, tools: [...groups.values()].flatMap((group) => group.registry.names()) }
        }),
      )

      const alike: Catalogue["Service"]["alike"] = (name, owner) => {
        for (const group of groups.values()) {
          const other = group.owner === undefined || group.owner === owner ? group.registry.alike(name) : undefined
          if (other !== undefined) return other
        }
        return undefined
      }

      // Tools that show and end one's own calls are always allowed, unless a rule names them as tools.
      const judgeAbout: Catalogue["Service"]["judgeAbout"] = Effect.fnUntraced(function* (caller, name) {
        const tool = { action: "execute", resource: `tools/${name}` } as const
        const own = { action: "read", resource: "self/calls" } as const
        const judgement = yield* grants.judge(caller, tool.action, tool.resource)
        return judgement.rule === "silence" && [...groups.values()].some((group) => isEverywhereIn(group, name))
          ? { ...own, judgement: yield* grants.judge(caller, own.action, own.resource) }
          : { ...tool, judgement }
      })
      const judge: Catalogue["Service"]["judge"] = (caller, name) =>
        Effect.map(judgeAbout(caller, name), ({ judgement }) => judgement)

      const list: Catalogue["Service"]["list"] = Effect.fn("Catalogue.list")(function* (caller, scope) {
        const found = (yield* view(caller, scope)).all()
        const may: Array<Callable> = []
        for (const one of found) {
          const judgement = yield* judge(caller, one.tool.definition.name)
          if (judgement.verdict !== "deny") may.push({ ...one, asks: Road.mustAsk(config, one.tool, judgement) })
        }
        return may
      })

      const every: Catalogue["Service"]["every"] = Effect.fnUntraced(function* (caller) {
        yield* upToDate.sync
        const found: Array<KnownTool> = []
        for (const group of groups.values()) {
          if (group.owner !== undefined && group.owner !== caller.principal.id) continue
          const admits = yield* admissionTo(group, caller)
          for (const name of group.registry.names()) {
            const [tool, traits] = [group.registry.find(name)!, group.traits.get(name)!]
            found.push({ tool, traits, set: group.set, admission: admits(name) })
          }
        }
        return found
      })

      const closed: Catalogue["Service"]["closed"] = Effect.fnUntraced(function* (caller, scope, names) {
        const { find } = yield* view(caller, scope)
        return yield* Effect.filter(names, (name) =>
          find(name) === undefined
            ? Effect.succeed(true)
            : Effect.map(judge(caller, name), ({ verdict }) => verdict === "deny"),
        )
      })

      return Catalogue.of({
        offer,
        closed,
        every,
        unite,
        withdraw,
        view,
        list,
        require,
        alike,
        memoryTools: () =>
          [...groups.values()].flatMap(({ traits }) =>
            [...traits.keys()].filter((name) => traits.get(name)!.usesMemory),
          ),
        serves,
        judge,
        judgeAbout,
        version: () => version,
        onChange: (hear) => {
          listeners.add(hear)
          return () => void listeners.delete(hear)
        },
      })
    }),
  )
}

export interface ToolJudgement {
  readonly judgement: Judgement
  readonly action: Action
  readonly resource: string
}

/** A tool the caller may call; `asks`: a person is asked first, unless there is a standing approval. */
export interface Callable extends CatalogueTool {
  readonly asks: boolean
}

/** One caller's tools on one scope, as the road looks them up. */
export interface CallerTools extends Road.ToolLookup<CatalogueTool> {
  readonly all: () => ReadonlyArray<CatalogueTool>
}
