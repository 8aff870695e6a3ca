/** One line to paste, and the moment the program arrives. The token is made when it is asked for, not before. */
import "../../parts/Pick.css"
import { connectableClients, type ConnectableName, type ConnectionLine, StoaError } from "@stoa/sdk"
import { useMutation } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { later, now } from "../../feed/clock.ts"
import { house } from "../../feed/house.ts"
import { arrivals, refusedAt } from "../../feed/signs.ts"
import { useStore } from "../../feed/store.ts"
import { Bar } from "../../frame/Bar.tsx"
import { Copy } from "../../parts/Copy.tsx"
import { Icon } from "../../parts/Icon.tsx"
import { FaultPane } from "../../parts/Pane.tsx"
import { fullTime } from "../../parts/time.logic.ts"
import { words } from "./words/en.ts"

const names = Object.keys(connectableClients) as ReadonlyArray<ConnectableName>
/** After so much silence it is said what was seen. */
const patience = 8000

interface Made {
  readonly agent: { readonly id: string; readonly name: string }
  readonly line: ConnectionLine
  readonly at: number
  readonly expiresAt: string | null
}

/** The agent of this name, made where there is none, and a token for it alone. */
const make = async (client: ConnectableName, name: string): Promise<Made> => {
  const agent = await house.principals.get(name).catch((cause: unknown) => {
    if (cause instanceof StoaError && cause.status === 404) return house.principals.add({ kind: "agent", name })
    throw cause
  })
  const at = now()
  // It ends with this sign-in at the latest: what is made of a token does not outlive it.
  const { expiresAt, token } = await house.tokens.add({ principal: agent.id, label: `connect ${client}` })
  return { agent, line: connectableClients[client].line({ url: location.origin, token }), at, expiresAt }
}

const Arrival = ({ agent, at }: Made) => {
  const arrived = useStore(arrivals).get(agent.id)
  const refused = useStore(refusedAt)
  const [late, set] = useState(false)
  useEffect(() => later(patience, () => set(true)), [at])
  if (arrived !== undefined && Date.parse(arrived.at) >= at - 1000)
    return (
      <div className="note" data-tone="good" role="status">
        <Icon name="circle-check" small />
        <span>
          <strong>{words.here(agent.name)}</strong>{" "}
          {words.seen(arrived.client, arrived.version, arrived.protocol, arrived.tools)}
        </span>
      </div>
    )
  const wasRefused = refused !== undefined && Date.parse(refused) >= at
  return (
    <div className="note" role="status">
      <Icon name="hourglass" small />
      <span>
        {words.waiting(agent.name)} {wasRefused ? words.refused : late ? words.nothing : ""}
      </span>
    </div>
  )
}

const Steps = ({ client }: { readonly client: ConnectableName }) => {
  const [name, setName] = useState<string>(client)
  const made = useMutation({ mutationFn: () => make(client, name.trim()) })
  const line = made.data?.line
  return (
    <div className="page narrow stack wide-gap">
      <h2>{connectableClients[client].title}</h2>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          made.mutate()
        }}
      >
        <h3>{words.who}</h3>
        <div className="line wrap">
          <input
            className="input"
            aria-label={words.name}
            value={name}
            required
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className="button main-act" disabled={made.isPending || name.trim() === ""}>
            {words.make}
          </button>
        </div>
        <p className="faint small">{words.rights}</p>
      </form>
      {made.error === null ? null : <FaultPane error={made.error} again={() => made.mutate()} />}
      {made.data === undefined || line === undefined ? null : (
        <>
          <section className="stack">
            <h3>{words.paste}</h3>
            <div className="code-block line">
              <pre className="scroll-x grow">
                <code>{line.text}</code>
              </pre>
              <Copy text={line.text} label={words.copy} />
            </div>
            {line.file === undefined ? null : <p className="small">{words.belongs(line.file)}</p>}
            {line.link === undefined ? null : (
              <p>
                <a className="button" href={line.link}>
                  <Icon name="external-link" small />
                  {words.install}
                </a>
              </p>
            )}
            <p className="faint small">
              {words.once(made.data.agent.name)}{" "}
              {made.data.expiresAt === null ? null : words.ends(fullTime(made.data.expiresAt))}
            </p>
          </section>
          <section className="stack">
            <h3>{words.arrive}</h3>
            <Arrival {...made.data} />
            <p className="soft">{line.afterwards}</p>
          </section>
        </>
      )}
    </div>
  )
}

export const ConnectScreen = () => {
  const { client } = useParams({ strict: false })
  const chosen = names.find((one) => one === client) ?? "claude-code"
  return (
    <>
      <Bar title={words.title} sub={words.sub} up={client === undefined ? "/house" : "/connect"} />
      <div className="split list-first grow">
        <nav className={client === undefined ? "scroll" : "scroll not-phone"} aria-label={words.clients}>
          <ul className="rows">
            {names.map((one) => (
              <li key={one}>
                <Link
                  className="pick flat"
                  to="/connect/$client"
                  params={{ client: one }}
                  aria-current={one === chosen ? "true" : undefined}
                >
                  <b>{connectableClients[one].title}</b>
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className={client === undefined ? "scroll not-phone" : "scroll"}>
          <Steps key={chosen} client={chosen} />
        </div>
      </div>
    </>
  )
}
