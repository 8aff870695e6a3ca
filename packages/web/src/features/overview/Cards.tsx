/** What agents cost against their budgets, and the size of the house. */
import { Link } from "@tanstack/react-router"
import { millisUntil, durationOf as length } from "../../parts/figures/time.logic.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { money } from "../../parts/figures/money.logic.ts"
import { AgoTime, useNow } from "../../parts/figures/Time.tsx"
import { HorizontalScroll } from "../../parts/panes/HorizontalScroll.tsx"
import { partOf } from "./overview.logic.ts"
import type { Figures } from "./useFigures.ts"
import { words } from "./words/en.ts"

export const CostCard = ({ cost }: Pick<Figures, "cost">) => {
  const { agents } = cost
  return (
    <section className="card">
      <header>
        <h2>{words.costByAgent}</h2>
        <Link className="push small" to="/agents">
          {words.budgets}
        </Link>
      </header>
      {agents.length === 0 ? (
        <p className="in faint">{words.noCost}</p>
      ) : (
        <HorizontalScroll label={words.costSentence(agents.length, money(cost.today), money(cost.forecast))}>
          <table className="table overview-cost">
            <thead className="vh">
              <tr>
                <th>{words.agent}</th>
                <th>{words.spent}</th>
                <th>{words.forecast}</th>
              </tr>
            </thead>
            <tbody>
              {agents.map(({ agent, forecast, limit, name, today }) => (
                <tr key={agent}>
                  <td>
                    <Link className="line overview-agent" to="/agents/$name" params={{ name }}>
                      <Avatar name={name} kind="agent" size="s" />
                      <span className="cut">{name}</span>
                    </Link>
                  </td>
                  <td className="r small num">
                    {money(today)}{" "}
                    {limit === null ? null : <span className="faint">{words.ofLimit(money(limit))}</span>}
                    {limit === null ? null : (
                      <span className="meter" data-near={partOf(today, limit) >= 0.8}>
                        <i style={{ width: `${partOf(today, limit) * 100}%` }} />
                      </span>
                    )}
                  </td>
                  <td
                    className="r small num faint"
                    {...(limit !== null && forecast > limit ? { "data-over": "" } : {})}
                  >
                    {words.byMidnight(money(forecast))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </HorizontalScroll>
      )}
    </section>
  )
}

const upFor = (millis: number): string => {
  const days = Math.floor(millis / 86_400_000)
  return days === 0 ? length(millis) : `${words.days(days)} ${Math.floor((millis % 86_400_000) / 3_600_000)}\u00a0h`
}

export const HouseCard = ({ house }: { readonly house: NonNullable<Figures["house"]> }) => {
  const now = useNow()
  const facts: ReadonlyArray<readonly [string, string]> = [
    [words.version, house.version],
    [words.store, `${words.stores[house.store]}, ${words.megabytes(house.bytes)}`],
    [words.up, upFor(Math.max(0, -millisUntil(house.startedAt, now)))],
    [words.memory, words.megabytes(house.memory)],
    [words.behind, words.events(house.behind)],
    [words.onTheFeed, words.listening(house.listening.people, house.listening.agents)],
    [words.audit, words.entries(house.auditEntries)],
  ]
  return (
    <section className="card">
      <header>
        <h2>{words.houseFacts}</h2>
        <span className="push faint small">{words.checks(house.checks.all, house.checks.ok)}</span>
      </header>
      <div className="in">
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
          <div>
            <dt>{words.backup}</dt>
            <dd>{house.backupAt === null ? words.never : <AgoTime at={house.backupAt} />}</dd>
          </div>
        </dl>
      </div>
    </section>
  )
}
