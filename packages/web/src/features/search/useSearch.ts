/** One query over everything: messages and memory by the house, named things by what is loaded. */
import { useQuery } from "@tanstack/react-query"
import { house } from "../../feed/house.ts"
import { usePeople, useStart } from "../../feed/start.ts"
import { searchByName } from "./search.logic.ts"

const most = 8

/** The part of the catalogue that is searched by name. */
const tools = async () => {
  const items = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof house.tools.list>> = await house.tools.list({
      limit: 100,
      ...(cursor === null ? {} : { cursor }),
    })
    items.push(...page.items.map(({ description, name }) => ({ name, more: description })))
    cursor = page.next
  } while (cursor !== null && items.length < 2000)
  return items
}

export const useSearch = (q: string) => {
  const { spaces } = useStart()
  const people = usePeople().filter(({ retiredAt }) => retiredAt === null)
  const enabled = q !== ""
  const messages = useQuery({
    queryKey: ["search", "everywhere", q],
    queryFn: () => house.messages.search({ q, limit: 30 }),
    enabled,
    // New messages are found the next time.
    staleTime: 0,
  })
  const memory = useQuery({
    queryKey: ["memory", "search", q],
    queryFn: () => house.memory.list({ q, limit: most }),
    enabled,
  })
  const catalogue = useQuery({ queryKey: ["tools", "names"], queryFn: tools, enabled })
  const asked = [messages, memory, catalogue]
  return {
    messages: messages.data?.items ?? [],
    memory: memory.data?.items ?? [],
    tools: searchByName(catalogue.data ?? [], q, most),
    people: searchByName(people, q, most),
    spaces: searchByName(
      spaces.filter(({ kind }) => kind !== "dm").map(({ name, topic }) => ({ name, more: topic ?? "" })),
      q,
      most,
    ),
    pending: enabled && asked.some(({ isPending }) => isPending),
    error: asked.find(({ error }) => error !== null)?.error ?? null,
    again: () => void Promise.all(asked.filter(({ error }) => error !== null).map(({ refetch }) => refetch())),
  }
}
