/** The tools of a caller as others read them: in order of their names, a page at a time, and each by either of its names. */
import { Caller, Missing, type Page, type PageQuery } from "@stoa/contract"
import { nearest } from "@stoa/tools"
import { Effect } from "effect"
import { pageFrom, pageOf } from "../../store/Pages.ts"
import { type Callable, Catalogue, everything, type ToolScope } from "./Catalogue.ts"
import type { CatalogueTool } from "./Traits.ts"

/** A tool as it is shown; without `asks` if the caller may not call it. */
export type ShownTool = Pick<CatalogueTool, "set" | "tool"> & Partial<Pick<Callable, "asks">>

export const makeToolReads = Effect.gen(function* () {
  const catalogue = yield* Catalogue

  const page = Effect.fn("ToolReads.page")(function* (who: Caller["Service"], scope: ToolScope, query: PageQuery) {
    const { after, limit } = pageFrom(query)
    const nameOf = ({ tool }: Callable) => tool.definition.name
    const found: Page<Callable> = pageOf(
      (yield* catalogue.list(who, scope))
        .filter((one) => nameOf(one) > after && (one.onlyForApps !== true || who.principal.kind !== "agent"))
        .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
        .slice(0, limit + 1),
      limit,
      (one) => one,
      nameOf,
    )
    return found
  })

  const find = Effect.fn("ToolReads.find")(function* (name: string) {
    const listed = yield* catalogue.list(yield* Caller, everything)
    const found = listed.find(({ tool }) => tool.definition.name === name || tool.wireName === name)
    if (found !== undefined) return found
    const meant = nearest(
      name,
      listed.map(({ tool }) => tool.definition.name),
    )
    return yield* new Missing({ noun: "tool", ref: name, ...(meant === undefined ? {} : { meant }) })
  })

  /** A tool that was just configured, in its present state, even if lists exclude it for the caller. */
  const configured = Effect.fn("ToolReads.configured")(function* (name: string) {
    const caller = yield* Caller
    const callable = yield* catalogue.list(caller, { kind: "set", set: "configured" })
    const all: ReadonlyArray<ShownTool> = callable.some(({ tool }) => tool.definition.name === name)
      ? callable
      : (yield* catalogue.every(caller)).flatMap(({ set, tool }) => (set === "configured" ? [{ set, tool }] : []))
    return all.find(({ tool }) => tool.definition.name === name)!
  })

  return { page, find, configured }
})
