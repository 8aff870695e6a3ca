/** The agent, the line, and the moment the program connects. The token is made when the line is copied, not before. */
import "./Connect.css"
import { connectableClients, type ConnectableName, type ConnectionLine, StoaError } from "@stoa/sdk"
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { now } from "../../feed/clock.ts"
import { house } from "../../feed/house.ts"
import { usePeople } from "../../feed/start.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { fullTime } from "../../parts/figures/time.logic.ts"
import { Arrival, type ExpectedClient, useArrival } from "./Arrival.tsx"
import { words } from "./words/en.ts"

interface NewConnection extends ExpectedClient {
  readonly line: ConnectionLine
  readonly expiresAt: string | null
}

/** The agent of this name, created if there is none, and a token only for it. */
const make = async (client: ConnectableName, name: string): Promise<NewConnection> => {
  const agent = await house.principals.get(name).catch((cause: unknown) => {
    if (cause instanceof StoaError && cause.status === 404) return house.principals.add({ kind: "agent", name })
    throw cause
  })
  const at = now()
  // It expires with this sign-in at the latest: a token made with another token does not outlive it.
  const { expiresAt, token } = await house.tokens.add({ principal: agent.id, label: `connect ${client}` })
  const line = connectableClients[client].line({ url: location.origin, token })
  // If the browser does not allow writing to the clipboard, the line is on the screen.
  await navigator.clipboard.writeText(line.text).catch(() => undefined)
  return { agent, line, at, expiresAt }
}

/** The line as it will be, before there is a token. */
const shape = (client: ConnectableName): ConnectionLine =>
  connectableClients[client].line({ url: location.origin, token: "stoa_…" })

const Step = (props: {
  readonly at: number
  readonly title: string
  readonly done: boolean
  readonly children: ReactNode
}) => (
  <li className="connect-step" data-done={props.done}>
    <span className="connect-tick" role="img" aria-label={props.done ? words.done : words.open(props.at)}>
      {props.done ? <Icon name="check" small /> : <span aria-hidden="true">{props.at}</span>}
    </span>
    <div className="stack">
      <h3>{props.title}</h3>
      {props.children}
    </div>
  </li>
)

interface WhoProps {
  readonly name: string
  readonly setName: (name: string) => void
}

const Who = ({ name, setName }: WhoProps) => {
  const agents = usePeople().filter(({ kind, retiredAt }) => kind === "agent" && retiredAt === null)
  const [isNew, setNew] = useState(true)
  return (
    <>
      <div className="line wrap">
        <span className="joined" role="group" aria-label={words.who}>
          <button type="button" className="button" aria-pressed={isNew} onClick={() => setNew(true)}>
            {words.aNew}
          </button>
          <button
            type="button"
            className="button"
            aria-pressed={!isNew}
            disabled={agents.length === 0}
            onClick={() => {
              setNew(false)
              setName(agents[0]!.name)
            }}
          >
            {words.mine}
          </button>
        </span>
        {isNew ? (
          <input
            className="input connect-who"
            aria-label={words.name}
            value={name}
            required
            onChange={(event) => setName(event.target.value)}
          />
        ) : (
          <select
            className="input connect-who"
            aria-label={words.name}
            value={name}
            onChange={(event) => setName(event.target.value)}
          >
            {agents.map((one) => (
              <option key={one.id}>{one.name}</option>
            ))}
          </select>
        )}
      </div>
      <p className="faint small">{isNew ? words.rights : words.keeps}</p>
    </>
  )
}

const Others = ({ client }: { readonly client: ConnectableName }) => (
  <section className="card">
    <header>
      <h3>{words.others}</h3>
    </header>
    <dl className="connect-others">
      {(["claude-code", "codex", "json", "ai-sdk"] as const)
        .filter((one) => one !== client)
        .slice(0, 3)
        .flatMap((one) => [
          <dt key={one}>
            <Link to="/connect/$client" params={{ client: one }}>
              {connectableClients[one].title}
            </Link>
          </dt>,
          <dd key={`${one}-line`}>
            <code>{shape(one).text.replaceAll(/\s+/g, " ")}</code>
          </dd>,
        ])}
    </dl>
  </section>
)

export const ConnectSteps = ({ client }: { readonly client: ConnectableName }) => {
  const [name, setName] = useState<string>(client)
  const made = useMutation({ mutationFn: () => make(client, name.trim()) })
  const line = made.data?.line ?? shape(client)
  const seen = useArrival(made.data)
  const choose = (next: string) => {
    setName(next)
    made.reset()
  }
  return (
    <div className="page narrow stack wide-gap">
      <h2 className="title">{connectableClients[client].title}</h2>
      <ol className="connect-steps">
        <Step at={1} title={words.who} done={made.data !== undefined}>
          <Who name={name} setName={choose} />
        </Step>
        <Step at={2} title={words.paste} done={made.data !== undefined}>
          <div className="connect-paste">
            <pre>
              <code>{line.text}</code>
            </pre>
            <button
              type="button"
              className="button main-act"
              disabled={made.isPending || name.trim() === ""}
              onClick={() =>
                made.data === undefined ? made.mutate() : void navigator.clipboard.writeText(line.text).catch(() => {})
              }
            >
              <Icon name={made.data === undefined ? "copy" : "check"} small />
              {made.data === undefined ? words.copy : words.copied}
            </button>
          </div>
          {line.file === undefined ? null : <p className="small">{words.belongs(line.file)}</p>}
          {made.data === undefined || line.link === undefined ? null : (
            <p>
              <a className="button" href={line.link}>
                <Icon name="external-link" small />
                {words.install}
              </a>
            </p>
          )}
          <p className="faint small">
            {made.data === undefined ? (
              words.madeThen
            ) : (
              <>
                {words.once(made.data.agent.name)}{" "}
                {made.data.expiresAt === null ? null : words.ends(fullTime(made.data.expiresAt))}{" "}
                <Link to="/people" search={{ who: made.data.agent.name }}>
                  {words.revoke}
                </Link>
              </>
            )}
          </p>
          {made.error === null ? null : <FaultPane error={made.error} again={() => made.mutate()} />}
        </Step>
        <Step at={3} title={words.say} done={seen.arrived !== undefined}>
          {made.data === undefined ? (
            <p className="faint">{words.listens}</p>
          ) : (
            <>
              <Arrival of={made.data} seen={seen} />
              <p className="soft">{line.afterwards}</p>
            </>
          )}
        </Step>
      </ol>
      <details className="card connect-help" open={seen.trouble || undefined}>
        <summary className="line">
          <Icon name="chevron-right" small />
          <span>{words.not}</span>
          <span className="push faint small wide-only">{words.notSub}</span>
        </summary>
        <ul className="stack small soft">
          {words.tries.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </details>
      <Others client={client} />
    </div>
  )
}
