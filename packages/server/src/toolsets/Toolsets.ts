/**
 * The toolsets: their tools, offered to the catalogue, and their resources and prompts. Principal, allow lists and
 * grants determine which of them a caller has.
 */
import { type Caller, Missing, type Principal, toolNames, ToolsetName } from "@stoa/contract"
import { nearest } from "@stoa/tools"
import { Context, Effect, Layer, type Scope } from "effect"
import { Tokens } from "../access/identity/Tokens.ts"
import { Pauses } from "../access/limits/Pauses.ts"
import { Catalogue, type SetName, type ToolScope } from "../calls/catalogue/Catalogue.ts"
import { type Contents, unlessPaused } from "../servers/contents/Contents.ts"
import { engrams } from "./engrams/engrams.ts"
import type { CatalogueOffer } from "./toolsetTool.ts"
import { gateway } from "./gateway/gateway.ts"
import { office } from "./office.ts"
import { skills } from "./skills.ts"
import { makeSpaceResources, readingTool } from "./stoa/spaceResources.ts"
import { stoa } from "./stoa/stoa.ts"
import { team } from "./team/team.ts"
import { unionsOf } from "./union.ts"

/**
 * Some clients accept no more tools over all their servers: they would silently drop tools of a larger toolset.
 */
const most = 40

export interface Toolset {
  readonly name: string
  readonly tools: ReadonlyArray<CatalogueOffer>
  readonly contents?: Contents
  /** The tool that gives the same as the contents: whoever lacks it lacks them too, and its pause stops reading. By default any of its tools. */
  readonly contentsTool?: string
}

/** Toolsets of the program that starts a house, such as a test. A house has none of them by itself. */
export const ExtraToolsets = Context.Reference<ReadonlyArray<Effect.Effect<Toolset, never, Catalogue | Scope.Scope>>>(
  "server/toolsets/ExtraToolsets",
  { defaultValue: () => [] },
)

/** A subscription may outlast the right to the contents: changes are reported only while it is there. */
const toldWhile = (has: Effect.Effect<boolean>, contents: Contents): Contents => {
  const { resources } = contents
  if (resources === undefined) return contents
  const watch: typeof resources.watch = (uris, tell) =>
    resources.watch(uris, (uri) => Effect.asVoid(Effect.when(tell(uri), has)))
  return { ...contents, resources: { ...resources, watch } }
}

interface Own extends Toolset {
  readonly name: ToolsetName
}

const isOwn = (name: string): name is ToolsetName => (ToolsetName.literals as ReadonlyArray<string>).includes(name)

export class Toolsets extends Context.Service<
  Toolsets,
  {
    /** The name of a toolset in the catalogue; undefined if there is none. */
    readonly setOf: (name: string) => SetName | undefined
    /** What a principal is told that asks for a toolset that does not exist: which ones it has. */
    readonly missing: (name: string, principal: Principal) => Missing
    /**
     * What the toolsets of a scope have besides tools, as far as the caller has them: it may call a tool that gives the
     * same, without anybody being asked.
     */
    readonly contentsFor: (caller: Caller["Service"], scope: ToolScope) => Effect.Effect<ReadonlyArray<Contents>>
  }
>()("server/toolsets/Toolsets") {
  static readonly layer = Layer.effect(
    Toolsets,
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const own: ReadonlyArray<Own> = [
        {
          name: "stoa",
          tools: yield* stoa,
          contents: { resources: yield* makeSpaceResources },
          contentsTool: readingTool,
        },
        { name: "office", tools: yield* office },
        { name: "gateway", tools: yield* gateway },
        { name: "engrams", tools: yield* engrams },
        { name: "skills", tools: yield* skills },
        { name: "team", tools: yield* team },
      ]
      const brought = yield* Effect.forEach(yield* ExtraToolsets, (make) => make)
      const names = new Set(brought.map(({ name }) => name))
      const setOf = (name: string): SetName | undefined =>
        isOwn(name) ? name : names.has(name) ? `brought:${name}` : undefined

      const missing = (ref: string, { toolsets }: Principal): Missing => {
        const yours = [...toolsets, ...names]
        const meant = nearest(ref, yours)
        return new Missing({ noun: "toolset", ref, yours, ...(meant === undefined ? {} : { meant }) })
      }

      for (const { name, tools } of own) {
        const unlisted = tools.find(({ tool }) => !toolNames[name].includes(tool.definition.name))
        if (unlisted !== undefined)
          return yield* Effect.die(new Error(`${unlisted.tool.definition.name} is not among the names of ${name}`))
      }
      const pauses = yield* Pauses
      const tokens = yield* Tokens
      const offered: Array<{ readonly set: SetName; readonly tool: string | undefined; readonly contents: Contents }> =
        []
      for (const { contents, contentsTool, name, tools } of [...own, ...brought]) {
        if (Math.max(tools.length, isOwn(name) ? toolNames[name].length : 0) > most)
          return yield* Effect.die(new Error(`toolset ${name} has more than ${most} tools; split it`))
        const set = setOf(name)!
        for (const { tool, traits } of tools) yield* Effect.orDie(catalogue.offer(set, tool, traits))
        if (contents !== undefined)
          offered.push({ set, tool: contentsTool, contents: unlessPaused(pauses, contents, contentsTool) })
      }
      for (const { offered: united, sets } of unionsOf(own))
        yield* Effect.orDie(catalogue.unite(sets, united.tool, united.traits))

      /** Whether a caller has the contents that this tool gives too; undefined: that any of them gives. */
      const hasContents = Effect.fnUntraced(function* (
        caller: Caller["Service"],
        scope: ToolScope,
        same: string | undefined,
      ) {
        const tools = yield* catalogue.list(caller, scope)
        return tools.some(({ asks, tool }) => !asks && (same ?? tool.definition.name) === tool.definition.name)
      })

      const contentsFor: Toolsets["Service"]["contentsFor"] = Effect.fnUntraced(function* (caller, scope) {
        const found: Array<Contents> = []
        for (const { contents, set, tool: same } of offered) {
          if (scope.kind === "server" || (scope.kind === "set" && scope.set !== set)) continue
          const within: ToolScope = scope.kind === "set" ? scope : { kind: "set", set }
          if (!(yield* hasContents(caller, within, same))) continue
          const stillHas = Effect.orElseSucceed(
            Effect.flatMap(tokens.renewCaller(caller), (now) => hasContents(now, within, same)),
            () => false,
          )
          const told = toldWhile(stillHas, contents)
          // Instructions of one toolset are shown only at its own endpoint.
          const { instructions: _instructions, ...others } = told
          found.push(scope.kind === "set" ? told : others)
        }
        return found
      })
      return Toolsets.of({ setOf, missing, contentsFor })
    }),
  )
}
