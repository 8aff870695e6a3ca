/** One MCP server: its state, its tools, held tools, and its log. */
import "./Servers.css"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { serverLines } from "../../feed/events/signals.ts"
import { useStore } from "../../feed/store.ts"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { durationOf } from "../../parts/figures/time.logic.ts"
import { ConfirmButton } from "../../parts/panes/ConfirmButton.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { HorizontalScroll } from "../../parts/panes/HorizontalScroll.tsx"
import { HeldTool } from "./HeldTool.tsx"
import { ServerPauseButton, ServerPausedNote, ServerPauseForm, usePauseOf } from "./ServerPause.tsx"
import { ServerPill, type Server } from "./ServerPill.tsx"
import { linesOf, hintsOf } from "./held.logic.ts"
import { words } from "./words/en.ts"

const Remove = ({ server }: { readonly server: Server }) => {
  const navigate = useNavigate()
  const remove = async () => {
    await house.mcpServers.remove(server.name)
    await cache.invalidateQueries({ queryKey: ["servers"] })
    await navigate({ to: "/servers" })
  }
  if (server.source === "file") return <p className="faint small">{words.fromFile}</p>
  return (
    <ConfirmButton
      act={words.remove}
      question={words.removeAsk(server.name)}
      yes={words.yes}
      no={words.no}
      onYes={remove}
    />
  )
}

const riskTones = { low: "", medium: "", high: "bad", critical: "bad" } as const

interface ToolsProps {
  readonly server: Server
  readonly definitions: ReadonlyMap<string, unknown>
}

const often = 10_000

/** Figures about its calls: reloaded periodically, because most changes cause no event. */
const useFigures = (server: string) =>
  useQuery({
    queryKey: ["servers", server, "figures"],
    queryFn: () => house.mcpServers.figures(server),
    staleTime: often,
    refetchInterval: often,
    retry: false,
  }).data

const Tools = ({ definitions, server }: ToolsProps) => {
  const listed = useQuery({
    queryKey: ["tools", "of", server.name],
    queryFn: async () => (await house.tools.list({ limit: 100 })).items,
    retry: false,
  })
  const figures = useFigures(server.name)
  const calls = new Map(figures?.tools.map((one) => [one.name, one.calls]))
  const risks = new Map(listed.data?.map(({ name, riskLevel }) => [name, riskLevel]))
  if (server.tools.length + server.held.length === 0) return <p className="faint">{words.noTools}</p>
  return (
    <section className="card">
      <header>
        <h3>{words.tools}</h3>
        <span className="push faint small">{words.callable(server.tools.length)}</span>
      </header>
      <HorizontalScroll label={words.tools}>
        <table className="table">
          <thead>
            <tr>
              <th>{words.tool}</th>
              <th>{words.riskHead}</th>
              <th>{words.says}</th>
              <th className="r">{words.callsOfWeek}</th>
            </tr>
          </thead>
          <tbody>
            {[...server.held, ...server.tools].map((name) => {
              const risk = risks.get(`${server.name}/${name}`)
              return (
                <tr key={name}>
                  <td>
                    <Link className="mono" to="/tools/$tool" params={{ tool: `${server.name}/${name}` }}>
                      {name}
                    </Link>
                  </td>
                  <td>
                    {server.held.includes(name) ? (
                      <span className="pill" data-tone="warn">
                        <Icon name="triangle-alert" />
                        {words.held}
                      </span>
                    ) : risk === undefined ? null : (
                      <span className="pill" data-tone={riskTones[risk]}>
                        {risk}
                      </span>
                    )}
                  </td>
                  <td className="small soft">{hintsOf(definitions.get(name)).join(", ")}</td>
                  <td className="r num">{calls.has(name) ? words.callCount(calls.get(name)!) : null}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </HorizontalScroll>
    </section>
  )
}

/** Figures about its calls within the last day. */
const Figures = ({ server }: { readonly server: string }) => {
  const data = useFigures(server)
  if (data === undefined) return null
  return (
    <>
      <div>
        <dt>{words.answersIn}</dt>
        <dd>
          {data.p95 === null ? (
            "–"
          ) : (
            <>
              {durationOf(data.p95)} <span className="faint">{words.p95}</span>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>{words.callsOfDay}</dt>
        <dd>{words.went(data.calls, data.failed, data.since === null)}</dd>
      </div>
    </>
  )
}

export const ServerDetail = ({ server }: { readonly server: Server }) => {
  const pinned = useQuery({
    queryKey: ["servers", server.name, "tools"],
    queryFn: () => house.mcpServers.tools(server.name),
  })
  const log = useQuery({ queryKey: ["servers", server.name, "log"], queryFn: () => house.mcpServers.log(server.name) })
  const pause = usePauseOf(server.name)
  const [asks, ask] = useState(false)
  const live = useStore(serverLines).get(server.name)
  const lines = linesOf(log.data?.items.map(({ text }) => text) ?? [], live ?? [])
  const definitions = new Map(pinned.data?.items.map((one) => [one.name, one.definition]))
  return (
    <div className="page stack wide-gap">
      <div className="line">
        <h2 className="lead">{server.name}</h2>
        <ServerPill server={server} />
        <span className="push" />
        {pause === undefined ? <ServerPauseButton asks={asks} ask={ask} /> : null}
      </div>
      {asks && pause === undefined ? <ServerPauseForm server={server.name} close={() => ask(false)} /> : null}
      {pause === undefined ? null : <ServerPausedNote pause={pause} />}
      {server.error === undefined ? null : (
        <p className="note" data-tone="bad">
          {server.error}
        </p>
      )}
      <dl className="facts">
        <div className="servers-where">
          <dt>{words.where}</dt>
          <dd className="cut" title={server.command ?? server.url}>
            {server.url ?? programOf(server.command)}
          </dd>
        </div>
        <div>
          <dt>{words.protocol}</dt>
          <dd>{server.protocol ?? "–"}</dd>
        </div>
        <Figures server={server.name} />
        <div>
          <dt>{words.version}</dt>
          <dd>{server.version ?? "–"}</dd>
        </div>
        <div>
          <dt>{words.tools}</dt>
          <dd>{server.tools.length}</dd>
        </div>
        <div>
          <dt>{words.since}</dt>
          <dd>
            <AgoTime at={server.createdAt} said />
          </dd>
        </div>
      </dl>
      {pinned.data?.items.map((one) =>
        one.held === null ? null : (
          <HeldTool
            key={one.name}
            server={server.name}
            name={one.name}
            before={one.definition}
            now={one.held}
            since={one.firstSeenAt}
          />
        ),
      )}
      <Tools server={server} definitions={definitions} />
      {server.leftOut.length === 0 ? null : (
        <section className="stack">
          <h3 className="label">{words.leftOut}</h3>
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
        <h3 className="label">{words.log}</h3>
        {lines.length === 0 ? (
          <p className="faint">{words.noLog}</p>
        ) : (
          <pre className="code scroll-x" tabIndex={0} aria-label={words.log}>
            {lines.join("\n")}
          </pre>
        )}
      </section>
      <Remove server={server} />
    </div>
  )
}

/** Only the program's name: its folder does not matter at a glance. */
const programOf = (command: string | undefined): string => command?.split(/[\\/]/).at(-1) ?? "–"
