/** MCP servers: their state, their tools, held tools, and their logs. */
import "../../parts/panes/Pick.css"
import "./Servers.css"
import { Link, useParams } from "@tanstack/react-router"
import { Header } from "../../layout/Header.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { isWide } from "../../parts/settings.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ServerDetail } from "./ServerDetail.tsx"
import { ServerPill, useServers } from "./ServerPill.tsx"
import { words as common } from "../../words/en.ts"
import { words } from "./words/en.ts"

export const ServersScreen = () => {
  const { server } = useParams({ strict: false })
  const servers = useServers()
  const items = servers.data?.items ?? []
  const chosen = items.find(({ name }) => name === server) ?? (server === undefined && isWide() ? items[0] : undefined)
  return (
    <>
      <Header title={words.title} up={server === undefined ? "/house" : "/servers"}>
        <Link className="button main-act" to="/servers/add">
          <Icon name="plus" small />
          {words.add}
        </Link>
      </Header>
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
                    className="pick"
                    to="/servers/$server"
                    params={{ server: one.name }}
                    aria-current={one === chosen ? "true" : undefined}
                  >
                    <Icon name={one.url === undefined ? "terminal" : "globe"} />
                    <b className="cut">{one.name}</b>
                    <ServerPill server={one} />
                    <span className="sub cut">{words.gist(one.url, one.tools.length, one.protocol)}</span>
                  </Link>
                </li>
              ))}
            </ul>
            <section className="card servers-paste">
              <div className="in stack">
                <h2>{words.pasteTitle}</h2>
                <p className="small soft">{words.pasteMore}</p>
                <p>
                  <Link className="button" to="/servers/add">
                    {words.add}
                  </Link>
                </p>
              </div>
            </section>
          </nav>
          <div className={server === undefined ? "scroll not-phone" : "scroll"}>
            {chosen === undefined ? (
              <EmptyPane>{common.nothingHere}</EmptyPane>
            ) : (
              <ServerDetail key={chosen.id} server={chosen} />
            )}
          </div>
        </div>
      )}
    </>
  )
}
