/** Whose answers a run waited for, from when to when, and how that ended. */
import { useNames } from "../../../feed/start.ts"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ExactTime } from "../../../parts/figures/Time.tsx"
import type { Wait } from "../run.logic.ts"
import { words } from "../words/en.ts"

const Party = ({ state, who }: { readonly who: string; readonly state: string }) => (
  <span className="line small">
    <Icon name={state === "replied" ? "check" : "hourglass"} small />
    {who} {words.partyStates[state]}
  </span>
)

export const WaitPane = ({ wait }: { readonly wait: Wait }) => {
  const names = useNames()
  return (
    <section className="stack">
      <h2 className="label">{words.wait}</h2>
      <dl className="kv tight">
        <dt>{words.whom}</dt>
        <dd>
          {wait.for.length === 0
            ? words.anybody
            : wait.for.map(({ id, state }) => <Party key={id} who={names(id)} state={state} />)}
        </dd>
        <dt>{words.from}</dt>
        <dd>
          <ExactTime at={wait.since} />
        </dd>
        {wait.endedAt === null ? null : (
          <>
            <dt>{words.until}</dt>
            <dd>
              <ExactTime at={wait.endedAt} />
            </dd>
          </>
        )}
        {wait.endedAt !== null || wait.until === null ? null : (
          <>
            <dt>{words.latest}</dt>
            <dd>
              <ExactTime at={wait.until} />
            </dd>
          </>
        )}
        <dt>{words.how}</dt>
        <dd>{words.waitEnds[wait.state]}</dd>
      </dl>
    </section>
  )
}
