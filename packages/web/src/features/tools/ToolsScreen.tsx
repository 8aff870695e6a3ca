/** The catalogue as the user or another principal sees it, with what they do not get and why; one tool with a try. */
import "../../parts/panes/Pick.css"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { type Tool, toolsQuery } from "../../feed/tools.ts"
import type { Json } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { JsonView } from "../../parts/text/JsonView.tsx"
import { isWide } from "../../parts/settings.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { Notes } from "../../parts/panes/Notes.tsx"
import { LastCalls } from "./LastCalls.tsx"
import { NewTool } from "./NewTool.tsx"
import { ToolActions } from "./ToolActions.tsx"
import { TryIt } from "./TryIt.tsx"
import { words } from "./words/en.ts"

const fits = (q: string) => (one: { readonly name: string; readonly description: string }) =>
  `${one.name} ${one.description}`.toLowerCase().includes(q.toLowerCase())

const isRisky = ({ riskLevel }: Tool): boolean => riskLevel === "high" || riskLevel === "critical"

/** What it lacks, for those who may change it. */
const Lacks = ({ name }: { readonly name: string }) => {
  const { data } = useQuery({
    queryKey: keys.tool(name),
    queryFn: () => house.tools.get(name),
    retry: false,
  })
  return <Notes title={words.lacks} notes={data?.notes} />
}

interface DetailProps {
  readonly tool: Tool
  readonly space: string
  readonly call: string | undefined
  readonly mayChange: boolean
}

const Detail = ({ call, mayChange, space, tool }: DetailProps) => (
  <div className="page narrow stack wide-gap">
    <div className="stack">
      <div className="line wrap">
        <h2 className="lead mono">{tool.name}</h2>
        <span className="pill" data-tone={isRisky(tool) ? "bad" : ""}>
          {words.risk(tool.riskLevel)}
        </span>
        {tool.asks === true ? (
          <span className="pill" data-tone="warn">
            <Icon name="circle-help" />
            {words.asks}
          </span>
        ) : null}
      </div>
      <p className="soft">{tool.description}</p>
    </div>
    {mayChange && tool.source === "configured" ? (
      <>
        <Lacks name={tool.name} />
        <ToolActions key={`kept ${tool.name}`} tool={tool} />
      </>
    ) : null}
    <TryIt key={tool.name} tool={tool.name} schema={tool.inputSchema} space={space} />
    <LastCalls key={`calls ${tool.name}`} tool={tool.name} opened={call} />
    <section className="stack">
      <h3 className="label">{words.definition}</h3>
      <dl className="kv">
        <dt>{words.set}</dt>
        <dd>{tool.set}</dd>
        <dt>{words.wire}</dt>
        <dd className="mono">{tool.wireName}</dd>
      </dl>
      <JsonView label={words.input} value={tool.inputSchema as Json} />
      {tool.outputSchema === undefined ? null : <JsonView label={words.output} value={tool.outputSchema as Json} />}
      <JsonView label={words.says} value={tool.annotations} />
    </section>
  </div>
)

interface Search {
  readonly as?: string
  readonly q?: string
  readonly in?: string
  readonly call?: string
  readonly new?: string
}

export const ToolsScreen = () => {
  const { tool: name } = useParams({ strict: false })
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { me } = useStart()
  const isAdmin = me.roles.includes("admin")
  const as = isAdmin ? search.as : undefined
  const tools = useQuery(toolsQuery(as))
  const people = useQuery({
    queryKey: [...keys.people, "all"],
    queryFn: () => house.principals.list({ limit: 100 }),
    enabled: isAdmin,
  })
  const { q = "" } = search
  const newKind = isAdmin ? search.new : undefined
  const isList = name === undefined && newKind === undefined
  const shown = tools.data?.items.filter(fits(q)) ?? []
  const missing = tools.data?.leftOut.filter(fits(q)) ?? []
  // If there is room for both, the first one is shown at once.
  const chosen =
    tools.data?.items.find((one) => one.name === name) ?? (name === undefined && isWide() ? shown[0] : undefined)
  const sets = [...new Set(shown.map(({ set }) => set))]
  const put = (more: { readonly as?: string; readonly q?: string }) =>
    void navigate({
      to: ".",
      search: Object.fromEntries(Object.entries({ ...search, ...more }).filter(([, it]) => it !== "")),
      replace: true,
    })
  return (
    <>
      <Header title={words.title} up={isList ? "/house" : "/tools"}>
        {isAdmin ? (
          <label className="line small tools-as">
            {words.as}
            <select className="input" value={as ?? ""} onChange={(event) => put({ as: event.target.value })}>
              <option value="">{words.myself}</option>
              {people.data?.items.map((one) => (
                <option key={one.id}>{one.name}</option>
              ))}
            </select>
          </label>
        ) : null}
      </Header>
      {tools.isPending ? <LoadingPane lines={8} /> : null}
      {tools.error === null ? null : <FaultPane error={tools.error} again={() => void tools.refetch()} />}
      {tools.data === undefined ? null : tools.data.items.length + missing.length === 0 ? (
        <EmptyPane>{words.none}</EmptyPane>
      ) : (
        <div className="split list-first grow">
          <nav className={isList ? "scroll" : "scroll not-phone"} aria-label={words.list}>
            <div className="page-pad stack">
              <input
                type="search"
                className="input"
                aria-label={words.search}
                placeholder={words.search}
                value={q}
                onChange={(event) => put({ q: event.target.value })}
              />
              {isAdmin ? (
                <Link className="button" to="/tools" search={{ new: "http" } as never}>
                  <Icon name="plus" small />
                  {words.addTool}
                </Link>
              ) : null}
            </div>
            {shown.length + missing.length === 0 ? <EmptyPane>{words.noFit}</EmptyPane> : null}
            {sets.map((set) => (
              <section key={set}>
                <h2 className="label pick-label">
                  {set}
                  <span className="push">{shown.filter((one) => one.set === set).length}</span>
                </h2>
                <ul className="rows">
                  {shown
                    .filter((one) => one.set === set)
                    .map((one) => (
                      <li key={one.name}>
                        <Link
                          className="pick flat"
                          to="/tools/$tool"
                          params={{ tool: one.name }}
                          search={{ ...search, call: undefined, new: undefined } as never}
                          aria-current={one === chosen && newKind === undefined ? "true" : undefined}
                        >
                          <b className="mono cut">{one.name}</b>
                          {one.asks === true ? (
                            <span className="pill" data-tone="warn">
                              {words.asksShort}
                            </span>
                          ) : isRisky(one) ? (
                            <span className="pill" data-tone="bad">
                              {one.riskLevel}
                            </span>
                          ) : null}
                          <span className="sub cut">{one.description}</span>
                        </Link>
                      </li>
                    ))}
                </ul>
              </section>
            ))}
            {missing.length === 0 ? null : (
              <>
                <h2 className="label pick-label">{words.leftOut}</h2>
                <ul className="rows">
                  {missing.map((one) => (
                    <li key={one.name} className="pick flat">
                      <span className="mono cut faint">{one.name}</span>
                      <span className="sub">{one.why}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </nav>
          <div className={isList ? "scroll not-phone" : "scroll"}>
            {newKind !== undefined ? (
              <NewTool kind={newKind} />
            ) : chosen === undefined ? (
              <EmptyPane>{words.pick}</EmptyPane>
            ) : (
              <Detail tool={chosen} space={search.in ?? ""} call={search.call} mayChange={isAdmin} />
            )}
          </div>
        </div>
      )}
    </>
  )
}
