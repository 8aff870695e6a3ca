/** The guide's texts about a demo: which steps are done, and what is removed with it. Pure. */
import type { house } from "../../feed/house.ts"
import { words } from "./words/en.ts"

export type Demo = Awaited<ReturnType<(typeof house)["demo"]["get"]>>
type Kind = Demo["parts"][number]["kind"]

export const doneCount = ({ steps }: Demo): number => steps.filter(({ at }) => at !== null).length

const order: ReadonlyArray<Kind> = ["agent", "space", "tool", "server", "model"]

export const countOf = ({ parts }: Demo, kind: Kind): number => parts.filter((part) => part.kind === kind).length

/** What removing it removes, in words. */
export const removedParts = (demo: Demo): string =>
  order
    .map((kind) => [kind, countOf(demo, kind)] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => words.parts[kind](count))
    .join(", ")
