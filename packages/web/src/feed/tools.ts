/** The tools that the user may call, and for an admin those of other principals. */
import { keys } from "./cache.ts"
import { house } from "./house.ts"

const maxTools = 2000

/** All pages of it: a catalogue is searched as a whole. */
const everyTool = async (as: string | undefined) => {
  const first = await house.tools.list({ limit: 100, ...(as === undefined ? {} : { as }) })
  const items = [...first.items]
  for (let { next } = first; next !== null && items.length < maxTools;) {
    const page = await house.tools.list({ limit: 100, cursor: next, ...(as === undefined ? {} : { as }) })
    items.push(...page.items)
    next = page.next
  }
  return { items, leftOut: first.leftOut ?? [] }
}
export type Tool = Awaited<ReturnType<typeof everyTool>>["items"][number]

export const toolsQuery = (as?: string) => ({ queryKey: keys.tools(as), queryFn: () => everyTool(as) })
