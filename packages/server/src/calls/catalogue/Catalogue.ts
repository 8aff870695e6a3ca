/**
 * The tools there are, and which of them a caller has: the intersection of its toolsets, the allow list of its context and
 * its grants. Asked at listing and again at calling. Whoever brings tools (configuration, upstream servers, hosts,
 * toolsets) offers them here; nothing here knows a tool by its name.
 */
import type {
  AccessContext,
  Caller,
  Judgement,
  ListedSet,
  Principal,
  PrincipalId,
  ToolsetName,
  ToolValidationError,
  Visibility,
} from "@stoa/contract"
import { toolNames } from "@stoa/contract"
import { CurrentToolsConfig, type RegisteredTool, Registry, Road } from "@stoa/tools"
import { Context, Effect, Layer } from "effect"
import { AllowLists, listsTool, wholeServer } from "../../access/rights/AllowLists.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { concerns } from "../../access/rights/Rules.ts"
import { Upstreams } from "../../upstreams/Upstreams.ts"
import type { HandlerCall, HouseTool } from "../road/Handler.ts"
import type { Listed, Traits } from "./Traits.ts"
import { makeUpstreamShelf } from "./upstreamShelf.ts"

/**
 * A toolset that is not one of the house's own: whoever starts a house may bring it along. As with configured tools, everybody
 * has it, and their list says which of its tools a context may use.
 */
type BroughtSet = `brought:${string}`
export type SetName = ListedSet | BroughtSet
const isBrought = (set: SetName): set is BroughtSet => set.startsWith("brought:")
const listOf = (set: SetName): ListedSet => (isBrought(set) ? "configured" : set)

/** Which tools a face shows: everything the caller has, one set, or one upstream server. */
export type Face =
  | { readonly kind: "all" }
  /** `anyway`: whatever toolsets the principal has (X-59). */
  | { readonly kind: "set"; readonly set: SetName; readonly anyway?: true }
  | { readonly kind: "server"; readonly server: string }

export const everything: Face = { kind: "all" }

interface Shelf {
  readonly set: SetName
  readonly owner: PrincipalId | undefined
  readonly registry: Registry<HandlerCall>
  readonly traits: Map<string, Traits>
}

const optionsOf = ({ behind, reviewed }: Traits | { behind?: never; reviewed?: never } = {}) => ({
  ...(behind === undefined ? {} : { behind }),
  reviewed: reviewed === true,
  // Whoever brings tools has had their schemas compiled; at a start that is not done again.
  known: true,
})

const isToolset = (set: SetName): set is ToolsetName => set in toolNames

export class Catalogue extends Context.Service<
  Catalogue,
  {
    readonly offer: (set: SetName, tool: HouseTool, traits: Traits) => Effect.Effect<void, ToolValidationError>
    readonly withdraw: (set: SetName, name: string, owner?: PrincipalId) => Effect.Effect<void>
    /** A caller's view of a face: what it can find and what it is told of. Grants are judged apart. */
    readonly view: (caller: Caller["Service"], face: Face) => Effect.Effect<View>
    /** What the caller may call, in a stable order. */
    readonly list: (caller: Caller["Service"], face: Face) => Effect.Effect<ReadonlyArray<Callable>>
    /** Whether anybody has it now: a tool of this set by its name, or `<server>/*` for a server that is there or away. */
    readonly serves: (set: ListedSet, name: string) => Effect.Effect<boolean>
    /** May the caller run it: the grants alone. */
    readonly judge: (caller: Caller["Service"], name: string) => Effect.Effect<Judgement>
    /** Rises with every tool that comes, goes or changes. */
    readonly version: () => number
    /** Told after each change, for as long as the scope lives. */
    readonly onChange: (hear: () => void) => () => void
  }
>()("server/calls/catalogue/Catalogue") {
  static readonly layer = Layer.effect(
    Catalogue,
    Effect.gen(function* () {
      const allowLists = yield* AllowLists
      const grants = yield* Grants
      const upstreams = yield* Upstreams
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const config = yield* CurrentToolsConfig
      const shelves = new Map<string, Shelf>()
      const listeners = new Set<() => void>()
      let version = 0

      const changed = () => {
        version++
        for (const hear of listeners) hear()
      }

      // Each server has a limit of its own; another one's tools do not crowd them out.
      const boundless = { ...config, registry: { ...config.registry, maxTools: Infinity } }
      const shelfKey = (set: SetName, owner: PrincipalId | undefined) => `${set} ${owner ?? ""}`
      const shelfOf = (set: SetName, owner: PrincipalId | undefined): Shelf => {
        const key = shelfKey(set, owner)
        const known = shelves.get(key)
        if (known !== undefined) return known
        const made: Shelf = {
          set,
          owner,
          registry: new Registry<HandlerCall>(set === "upstream" ? boundless : config),
          traits: new Map(),
        }
        shelves.set(key, made)
        return made
      }

      const offer: Catalogue["Service"]["offer"] = Effect.fnUntraced(function* (set, tool, traits) {
        const shelf = shelfOf(set, traits.owner)
        const { name } = tool.definition
        const before = shelf.registry.find(name)
        // Offered again it takes its own place; if it is refused the one before stays.
        if (before?.definition.name === name) shelf.registry.remove(name)
        yield* shelf.registry
          .add(tool, optionsOf(traits))
          .pipe(
            Effect.tapError(() =>
              before === undefined
                ? Effect.void
                : Effect.ignore(shelf.registry.add(before, optionsOf(shelf.traits.get(name)))),
            ),
          )
        shelf.traits.set(name, traits)
        changed()
      })

      const withdraw: Catalogue["Service"]["withdraw"] = (set, name, owner) =>
        Effect.sync(() => {
          const shelf = shelves.get(shelfKey(set, owner))
          if (shelf === undefined || !shelf.registry.remove(name)) return
          shelf.traits.delete(name)
          changed()
        })

      // Lists are rights: within one epoch they do not change.
      const lists = new Map<string, { readonly epoch: number; readonly tools: ReadonlySet<string> }>()
      const allowed = Effect.fnUntraced(function* (set: ListedSet, context: AccessContext, epoch: number) {
        const key = `${set} ${context}`
        const known = lists.get(key)
        if (known?.epoch === epoch) return known.tools
        const tools = new Set((yield* allowLists.get(set, context)).tools)
        lists.set(key, { epoch, tools })
        return tools
      })

      /** The shelves a face shows, in the order names are looked up: what was made for this house first, then toolsets. */
      const open = ({ principal }: Caller["Service"], face: Face): ReadonlyArray<Shelf> => {
        const mine = [...shelves.values()].filter((one) => one.owner === undefined || one.owner === principal.id)
        const of = (set: SetName) => mine.filter((one) => one.set === set)
        switch (face.kind) {
          case "set":
            return of(face.set)
          case "server":
            return of("upstream")
          case "all":
            return [
              ...of("configured"),
              ...of("upstream"),
              ...principal.toolsets.flatMap((set) => of(set)),
              ...mine.filter((one) => isBrought(one.set)),
            ]
        }
      }

      const upToDate = makeUpstreamShelf(upstreams, {
        offer: (tool, traits) => offer("upstream", tool, traits),
        withdraw: (name, owner) => withdraw("upstream", name, owner),
      })
      // Whoever listens hears of servers' tools too, without having asked for anything.
      yield* upstreams.onChange(() => runFork(upToDate.bring))

      // A caller is one object for as long as its token and its rights stand, so what it sees is kept with it.
      type Views = Map<string, { readonly version: number; readonly view: Effect.Effect<View> }>
      const views = new WeakMap<Caller["Service"], Views>()
      const nameOf = (face: Face): string =>
        face.kind === "all"
          ? ""
          : face.kind === "server"
            ? `server ${face.server}`
            : `${face.set} ${face.anyway === true}`

      const lookAnew = Effect.fnUntraced(function* (caller: Caller["Service"], face: Face) {
        yield* upToDate.bring
        const kept: Views = views.get(caller) ?? new Map()
        const seenAt = version
        const view = yield* look(caller, face)
        views.set(caller, kept.set(nameOf(face), { version: seenAt, view: Effect.succeed(view) }))
        return view
      })
      // Asked of every call: what is at hand is answered without a fiber.
      const view: Catalogue["Service"]["view"] = (caller, face) => {
        const known = upToDate.is() ? views.get(caller)?.get(nameOf(face)) : undefined
        return known?.version === version ? known.view : lookAnew(caller, face)
      }

      const look = Effect.fnUntraced(function* (caller: Caller["Service"], face: Face) {
        const on: Array<{ readonly shelf: Shelf; readonly tools: ReadonlySet<string> }> = []
        for (const shelf of open(caller, face)) {
          const anyway = face.kind === "set" && face.anyway === true
          if (isToolset(shelf.set) && !anyway && !caller.principal.toolsets.includes(shelf.set)) continue
          on.push({ shelf, tools: yield* allowed(listOf(shelf.set), caller.context, caller.epoch) })
        }
        const listed = (shelf: Shelf, tool: RegisteredTool<HandlerCall>): Listed => {
          const set = listOf(shelf.set)
          const traits = shelf.traits.get(tool.definition.name)!
          return { ...traits, tool, set, visibility: visibilityOf(set, tool, traits, caller.principal) }
        }
        const shows = (shelf: Shelf, tools: ReadonlySet<string>, name: string): boolean =>
          listsTool(listOf(shelf.set), tools, name) &&
          (face.kind !== "server" || shelf.traits.get(name)?.server === face.server)
        const found = new Map<string, Listed>()
        const lookUp = (name: string): Listed | undefined => {
          for (const { shelf, tools } of on) {
            const tool = shelf.registry.find(name)
            if (tool === undefined || !shows(shelf, tools, tool.definition.name)) continue
            const one = listed(shelf, tool)
            // A view is made anew with every change: what was found in it stays so.
            found.set(name, one)
            return one
          }
          return undefined
        }
        const seen: View = {
          find: (name) => found.get(name) ?? lookUp(name),
          names: () => seen.all().map((one) => one.tool.definition.name),
          all: () => {
            const names = new Set<string>()
            const every: Array<Listed> = []
            for (const { shelf, tools } of on)
              for (const name of shelf.registry.names())
                if (shows(shelf, tools, name) && !names.has(name)) {
                  names.add(name)
                  every.push(listed(shelf, shelf.registry.find(name)!))
                }
            return every
          },
        }
        return seen
      })

      const serves: Catalogue["Service"]["serves"] = Effect.fnUntraced(function* (set, name) {
        yield* upToDate.bring
        if (set === "upstream" && name.endsWith("/*"))
          return (yield* upstreams.list).items.some((server) => wholeServer(server.name) === name)
        return [...shelves.values()].some(
          (shelf) => listOf(shelf.set) === set && shelf.registry.find(name)?.definition.name === name,
        )
      })

      const judge: Catalogue["Service"]["judge"] = (caller, name) => grants.judge(caller, "execute", `tools/${name}`)

      const list: Catalogue["Service"]["list"] = Effect.fn("Catalogue.list")(function* (caller, face) {
        const found = (yield* view(caller, face)).all()
        const may: Array<Callable> = []
        for (const one of found) {
          const judgement = yield* judge(caller, one.tool.definition.name)
          if (judgement.verdict !== "deny") may.push({ ...one, asks: Road.mustAsk(config, one.tool, judgement) })
        }
        return may
      })

      return Catalogue.of({
        offer,
        withdraw,
        view,
        list,
        serves,
        judge,
        version: () => version,
        onChange: (hear) => {
          listeners.add(hear)
          return () => void listeners.delete(hear)
        },
      })
    }),
  )
}

/** A tool the caller may call; `asks`: somebody is asked first, unless they have approved it from now on. */
export interface Callable extends Listed {
  readonly asks: boolean
}

/** One caller's tools on one face, as the road looks for tools in it. */
export interface View extends Road.Shelf<Listed> {
  readonly all: () => ReadonlyArray<Listed>
}

/**
 * What a space sees of a call by somebody: of a tool that is part of the house nothing, whatever it says (S1-20). Configuration
 * alone decides, for the tool or for who calls it (S1-02).
 */
const visibilityOf = (
  set: ListedSet,
  { definition }: RegisteredTool<HandlerCall>,
  { visibilityFor = {} }: Traits,
  caller: Principal,
): Visibility => {
  if (set !== "configured" && set !== "upstream") return "hidden"
  const own = Object.entries(visibilityFor).find(([whom]) => concerns(whom, caller))
  return own?.[1] ?? definition.visibility ?? "hidden"
}
