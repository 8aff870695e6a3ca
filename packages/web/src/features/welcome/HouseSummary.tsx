/** What a new user is looking at: the house in numbers, each with a link, and the same from a terminal. */
import "./Welcome.css"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { isMine } from "../../feed/myDecisions.logic.ts"
import { house } from "../../feed/house.ts"
import { useLiveRuns, usePeople, useStart } from "../../feed/start.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "./words/en.ts"

const limit = 100

interface Count {
  readonly count: number
  readonly more: boolean
}
const countOf = (pages: ReadonlyArray<{ readonly items: ReadonlyArray<unknown>; readonly next: unknown }>): Count => ({
  count: pages.reduce((sum, { items }) => sum + items.length, 0),
  more: pages.some(({ next }) => next !== null),
})

/** Of the agents here: a person's memory is private. */
const useRemembered = (agents: ReadonlyArray<string>) =>
  useQuery({
    queryKey: ["memory", "counted", ...agents],
    queryFn: async () => countOf(await Promise.all(agents.map((owner) => house.memory.list({ owner, limit })))),
    enabled: agents.length > 0,
    retry: false,
  })

export const HouseSummary = ({ space }: { readonly space: string }) => {
  const { decisions, me, spaces } = useStart()
  const agents = usePeople().flatMap(({ kind, name, retiredAt }) =>
    kind === "agent" && retiredAt === null ? [name] : [],
  )
  const tools = useQuery({
    queryKey: ["tools", "counted"],
    queryFn: async () => countOf([await house.tools.list({ limit })]),
    retry: false,
  })
  const servers = useQuery({ queryKey: ["servers"], queryFn: () => house.mcpServers.list(), retry: false })
  const remembered = useRemembered(agents.slice(0, 8))
  const runs = useLiveRuns().data ?? []
  const mine = decisions.filter((one) => isMine(one, me.id)).length
  const list = [
    { to: "/spaces", said: words.nouns.spaces(spaces.filter(({ kind }) => kind !== "dm").length) },
    ...(tools.data === undefined ? [] : [{ to: "/tools", said: words.nouns.tools(tools.data.count, tools.data.more) }]),
    ...(remembered.data === undefined || remembered.data.count === 0
      ? []
      : [{ to: "/memory", said: words.nouns.memory(remembered.data.count, remembered.data.more) }]),
    { to: "/decisions", said: words.nouns.decisions(mine) },
    { to: "/runs", said: words.nouns.runs(runs.length) },
    ...(servers.data === undefined ? [] : [{ to: "/servers", said: words.nouns.servers(servers.data.items.length) }]),
  ]
  return (
    <>
      <section className="stack">
        <h2 className="label">{words.now}</h2>
        <dl className="welcome-nouns">
          {list.flatMap(({ said: [name, what], to }) => [
            <dt key={to}>
              <Link to={to}>{name}</Link>
            </dt>,
            <dd key={`${to}-what`} className="small faint">
              {what}
            </dd>,
          ])}
        </dl>
      </section>
      <section className="stack">
        <h2 className="label">{words.terminal}</h2>
        <pre className="code">{words.commands(space)}</pre>
      </section>
      <p className="note small">
        <Icon name="shield-check" small />
        <span>{words.home}</span>
      </p>
    </>
  )
}
