/** MCP servers: how they are, what they have, what was held, what they say. */
import "../../parts/Pick.css"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { serverLines } from "../../feed/signs.ts"
import { useStore } from "../../feed/store.ts"
import { Bar } from "../../frame/Bar.tsx"
import { AskOnce } from "../../parts/AskOnce.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/Pane.tsx"
import { AgoTime } from "../../parts/Time.tsx"
import { HeldTool } from "./HeldTool.tsx"
import { words } from "./words/en.ts"

const tones = { connected: "good", disconnected: "warn", error: "bad" } as const

const useServers = () => useQuery({ queryKey: ["servers"], queryFn: () => house.mcpServers.list() })
type Server = NonNullable<ReturnType<typeof useServers>["data"]>["items"][number]

const Remove = ({ server }: { readonly server: Server }) => {
  const navigate = useNavigate()
  const remove = async () => {
    await house.mcpServers.remove(server.name)
    await cache.invalidateQueries({ queryKey: ["servers"] })
    await navigate({ to: "/servers" })
  }
  if (server.source === "file") return <p className="faint small">{words.fromFile}</p>
  return (
    <AskOnce act={words.remove} question={words.removeAsk(server.name)} yes={words.yes} no={words.no} onYes={remove} />
  )
}

const Detail = ({ server }: { readonly server: Server }) => {
  const pinned = useQuery({
    queryKey: ["servers", server.name, "tools"],
    queryFn: () => house.mcpServers.tools(server.name),
  })
  const log = useQuery({ queryKey: ["servers", server.name, "log"], queryFn: () => house.mcpServers.log(server.name) })
  const live = useStore(serverLines).get(server.name)
  const lines = live ?? log.data?.items.map(({ text }) => text) ?? []
  return (
    <div className="page stack wide-gap">
      <h2>{server.name}</h2>
      {server.error === undefined ? null : (
        <p className="note" data-tone="bad">
          {server.error}
        </p>
      )}
      <dl className="kv">
        <dt>{words.version}</dt>
        <dd>{server.version ?? "–"}</dd>
        <dt>{words.protocol}</dt>
        <dd>{server.protocol ?? "–"}</dd>
        <dt>{words.where}</dt>
        <dd className="mono">{server.command ?? server.url}</dd>
        <dt>{words.since}</dt>
        <dd>
          <AgoTime at={server.createdAt} />
        </dd>
      </dl>
      {pinned.data?.items.map((one) =>
        one.held === null ? null : (
          <HeldTool key={one.name} server={server.name} name={one.name} before={one.definition} now={one.held} />
        ),
      )}
      <section className="stack">
        <h3>{words.tools}</h3>
        <ul className="stack">
          {server.tools.map((name) => (
            <li key={name}>
              <Link to="/tools/$tool" params={{ tool: `${server.name}/${name}` }}>
                <code>{name}</code>
              </Link>
            </li>
          ))}
        </ul>
      </section>
      {server.leftOut.length === 0 ? null : (
        <section className="stack">
          <h3>{words.leftOut}</h3>
          <ul className="stack small">
            {server.leftOut.map(({ name, why }) => (
              <li key={name}>
                <code>{name}</code> {why}
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="stack">
        <h3>{words.log}</h3>
        {lines.length === 0 ? (
          <p className="faint">{words.noLog}</p>
        ) : (
          <pre className="code-block scroll-x" tabIndex={0} aria-label={words.log}>
            {lines.join("\n")}
          </pre>
        )}
      </section>
      <Remove server={server} />
    </div>
  )
}

export const ServersScreen = () => {
  const { server } = useParams({ strict: false })
  const servers = useServers()
  const items = servers.data?.items ?? []
  const chosen = items.find(({ name }) => name === server) ?? (server === undefined ? items[0] : undefined)
  return (
    <>
      <Bar title={words.title} up={server === undefined ? "/house" : "/servers"}>
        <Link className="button" to="/servers/add">
          {words.add}
        </Link>
      </Bar>
      {servers.isPending ? <LoadingPane /> : null}
      {servers.error === null ? null : <FaultPane error={servers.error} again={() => void servers.refetch()} />}
      {servers.data !== undefined && items.length === 0 ? (
        <EmptyPane
          action={
            <Link className="button main-act" to="/servers/add">
              {words.add}
            </Link>
          }
        >
          {words.none}
        </EmptyPane>
      ) : null}
      {items.length === 0 ? null : (
        <div className="split list-first grow">
          <nav className={server === undefined ? "scroll" : "scroll not-phone"} aria-label={words.list}>
            <ul className="rows">
              {items.map((one) => (
                <li key={one.id}>
                  <Link
                    className="pick flat"
                    to="/servers/$server"
                    params={{ server: one.name }}
                    aria-current={one === chosen ? "true" : undefined}
                  >
                    <b>{one.name}</b>
                    <span className="pill" data-tone={one.held.length > 0 ? "warn" : tones[one.status]}>
                      {one.held.length > 0 ? words.held : words.status[one.status]}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <div className={server === undefined ? "scroll not-phone" : "scroll"}>
            {chosen === undefined ? null : <Detail key={chosen.id} server={chosen} />}
          </div>
        </div>
      )}
    </>
  )
}
