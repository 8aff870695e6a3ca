/** The known programs on the left; for the chosen one, the one line to paste. */
import "../../parts/panes/Pick.css"
import { connectableClients, type ConnectableName } from "@stoa/sdk"
import { Link, useParams } from "@tanstack/react-router"
import { arrivals } from "../../feed/events/signals.ts"
import { useNames } from "../../feed/start.ts"
import { useStore } from "../../feed/store.ts"
import { Header } from "../../layout/Header.tsx"
import { isWide } from "../../parts/settings.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ConnectSteps } from "./ConnectSteps.tsx"
import { words } from "./words/en.ts"

const names = Object.keys(connectableClients) as ReadonlyArray<ConnectableName>

/** Programs spell their own names differently. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "")

export const ConnectScreen = () => {
  const { client } = useParams({ strict: false })
  const chosen = names.find((one) => one === client) ?? "claude-code"
  const arrived = [...useStore(arrivals)]
  const nameOf = useNames()
  const cameBy = (one: ConnectableName) => {
    const found = arrived.find(([, came]) => plain(came.client).startsWith(plain(one)))
    return found === undefined ? undefined : nameOf(found[0])
  }
  return (
    <>
      <Header title={words.title} sub={words.sub} up={client === undefined ? "/house" : "/connect"} />
      <div className="split list-first connect-split grow">
        <nav className={client === undefined ? "scroll" : "scroll not-phone"} aria-label={words.clients}>
          <ul className="rows">
            {names.map((one) => (
              <li key={one}>
                <Link
                  className="pick flat"
                  to="/connect/$client"
                  params={{ client: one }}
                  aria-current={one === chosen && (client !== undefined || isWide()) ? "true" : undefined}
                >
                  <b>{connectableClients[one].title}</b>
                  {cameBy(one) === undefined ? null : (
                    <span className="pill" data-tone="good">
                      <Icon name="check" />
                      {cameBy(one)}
                    </span>
                  )}
                  <span className="sub">{words.how[one]}</span>
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className={client === undefined ? "scroll not-phone" : "scroll"}>
          <ConnectSteps key={chosen} client={chosen} />
        </div>
      </div>
    </>
  )
}
