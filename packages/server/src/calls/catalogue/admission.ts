/** Which gates a tool passes for a caller, rules aside. Lists, calls and explanations all ask here. */
import {
  type AccessContext,
  type Caller,
  type ListedSet,
  type PrincipalId,
  toolNames,
  type ToolsetName,
} from "@stoa/contract"
import type { Registry } from "@stoa/tools"
import { Effect } from "effect"
import { Wallets } from "../../access/identity/wallets/Wallets.ts"
import { AllowLists, listsTool } from "../../access/rights/AllowLists.ts"
import type { HandlerCall } from "../road/Handler.ts"
import type { Traits } from "./Traits.ts"

/** A toolset brought by the program that starts the house. Everybody has it; its allow list says who may use what. */
type BroughtSet = `brought:${string}`
export type SetName = ListedSet | BroughtSet
export const isBrought = (set: SetName): set is BroughtSet => set.startsWith("brought:")
export const listOf = (set: SetName): ListedSet => (isBrought(set) ? "configured" : set)
export const isToolset = (set: SetName): set is ToolsetName => set in toolNames

export interface ToolGroup {
  readonly set: SetName
  /** The toolsets its tools stand for: several if it unites tools for callers who have them all. */
  readonly sets: ReadonlyArray<SetName>
  readonly owner: PrincipalId | undefined
  readonly registry: Registry<HandlerCall>
  readonly traits: Map<string, Traits>
}

export interface Admission {
  /** The caller has the toolset. */
  readonly toolset: boolean
  /** It is not only for a turn, or this is one. */
  readonly turn: boolean
  /** It is not for an app alone, or the caller is no run, which is a model. */
  readonly audience: boolean
  /** It needs no wallet, or the caller has one; people are told what is missing when they call. */
  readonly wallet: boolean
  /** The lists of the caller's context have it. */
  readonly list: boolean
  /** Every caller may use it, listed or not. */
  readonly anyway: boolean
}

export const isListed = ({ audience, list, toolset, turn, wallet }: Admission): boolean =>
  toolset && turn && wallet && audience && list
export const isAdmitted = (admission: Admission): boolean => admission.anyway || isListed(admission)

export const isEverywhereIn = ({ owner, traits }: ToolGroup, name: string): boolean =>
  owner === undefined && traits.get(name)?.atEveryEndpoint === true

export const makeAdmission = Effect.gen(function* () {
  const allowLists = yield* AllowLists
  const wallets = yield* Wallets

  // Allow lists are rights: within one epoch they do not change.
  const lists = new Map<string, { readonly epoch: number; readonly tools: ReadonlySet<string> }>()
  const allowed = Effect.fnUntraced(function* (set: ListedSet, context: AccessContext, epoch: number) {
    const key = `${set} ${context}`
    const known = lists.get(key)
    if (known?.epoch === epoch) return known.tools
    const tools = new Set((yield* allowLists.get(set, context)).tools)
    lists.set(key, { epoch, tools })
    return tools
  })

  /** `hasSet`: regardless of the caller's toolsets. */
  return Effect.fnUntraced(function* (group: ToolGroup, caller: Caller["Service"], hasSet = false) {
    const toolset = hasSet || group.sets.every((set) => !isToolset(set) || caller.principal.toolsets.includes(set))
    const asked: Array<readonly [ListedSet, ReadonlySet<string>]> = []
    for (const set of group.sets.map(listOf)) asked.push([set, yield* allowed(set, caller.context, caller.epoch)])
    const isPoor =
      caller.principal.kind === "agent" &&
      [...group.traits.values()].some(({ ofWallets }) => ofWallets) &&
      !(yield* wallets.hasAny(caller))
    return (name: string): Admission => ({
      toolset,
      turn: caller.turn !== undefined || group.traits.get(name)?.onlyInTurn !== true,
      audience: caller.run === undefined || group.traits.get(name)?.onlyForApps !== true,
      wallet: !isPoor || group.traits.get(name)?.ofWallets !== true,
      list: asked.every(([set, tools]) => listsTool(set, tools, name)),
      anyway: isEverywhereIn(group, name),
    })
  })
})
