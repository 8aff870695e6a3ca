/** A question filled in as a sentence, and the answer with every matching rule and the gates. */
import "./Judgement.css"
import { type Action, actions } from "@stoa/contract"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { SoonTime } from "../../parts/figures/Time.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { HorizontalScroll } from "../../parts/panes/HorizontalScroll.tsx"
import { AccessForm } from "./AccessForm.tsx"
import { RevokeRule } from "./RevokeRule.tsx"
import { Verdict } from "./Verdict.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { words } from "./words/en.ts"

export interface JudgementQuery {
  readonly principal?: string
  readonly action?: string
  readonly resource?: string
  readonly space?: string
}

type Explanation = Awaited<ReturnType<(typeof house)["grants"]["judge"]>>

interface JudgementProps {
  readonly question: JudgementQuery
  readonly names: ReadonlyArray<string>
  readonly onAsk: (question: JudgementQuery) => void
}

const Rules = ({ rules }: { readonly rules: NonNullable<Explanation["rules"]> }) => (
  <HorizontalScroll label={words.rules}>
    <table className="table">
      <thead>
        <tr>
          <th>{words.says}</th>
          <th>{words.rule}</th>
          <th className="wide-only">{words.inWords}</th>
          <th className="wide-only">{words.from}</th>
          <th>
            <span className="vh">{words.weight}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map((one, at) => (
          <tr key={`${one.name} ${at}`} aria-selected={one.decides || undefined}>
            <td>
              <Verdict verdict={one.effect} />
            </td>
            <td>
              <code>{one.name}</code>
            </td>
            <td className="small soft wide-only">
              {one.words}
              {one.expiresAt === null ? null : (
                <span className="faint">
                  {" "}
                  {words.ends} <SoonTime at={one.expiresAt} />
                </span>
              )}
            </td>
            <td className="small faint wide-only">{words.source[one.from]}</td>
            <td className="r">
              {one.decides ? (
                <span className="strong small decided">{words.decides}</span>
              ) : (
                <span className="small faint">{words.fits}</span>
              )}{" "}
              <RevokeRule rule={one} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </HorizontalScroll>
)

const Gates = ({ gates }: { readonly gates: NonNullable<Explanation["gates"]> }) => (
  <ul className="line wrap small gates" aria-label={words.gates}>
    {gates.map((one) => (
      <li key={one.gate} className={one.passes ? "faint" : "bad strong"}>
        <Icon name={one.passes ? "check" : "octagon-x"} small />{" "}
        <span className="vh">{one.passes ? words.passes : words.stops}</span>
        {one.words}
      </li>
    ))}
  </ul>
)

/** The overall outcome: a rule may allow what a gate stops, or a person may be asked all the same. */
const outcomeOf = ({ gates = [], verdict }: Explanation): Explanation["verdict"] =>
  gates.some(({ passes }) => !passes)
    ? "deny"
    : verdict === "allow" && gates.some(({ gate }) => gate === "approval")
      ? "ask"
      : verdict

const Answer = ({ explanation }: { readonly explanation: Explanation }) => {
  const { gates = [], rule, verdict } = explanation
  const outcome = outcomeOf(explanation)
  const stops = gates.find(({ passes }) => !passes) ?? gates.find(({ gate }) => gate === "approval")
  return (
    <p className="answer">
      <Verdict verdict={outcome} />
      <span>
        <strong>{words.verdict[outcome]}</strong>{" "}
        {outcome !== verdict ? (
          <>
            <code>{rule}</code> {words.wouldAllow[verdict]} {stops?.words}
          </>
        ) : rule === "silence" ? (
          words.silence
        ) : (
          <>
            {words.because} <code>{rule}</code> {words.saysSo}
          </>
        )}
      </span>
    </p>
  )
}

export const Judgement = ({ names, onAsk, question }: JudgementProps) => {
  const [draft, set] = useState<JudgementQuery>({ action: "execute", resource: "tools/", ...question })
  const { action, principal, resource, space } = question
  const { me, spaces } = useStart()
  const complete = action !== undefined && resource !== undefined
  const explanation = useQuery({
    queryKey: ["grants", "judge", principal ?? "", action ?? "", resource ?? "", space ?? ""],
    queryFn: () =>
      house.grants.judge({
        action: action as Action,
        resource: resource!,
        explain: "true",
        ...(principal === undefined ? {} : { principal }),
        ...(space === undefined ? {} : { space }),
      }),
    enabled: complete,
  })
  const put = (more: JudgementQuery) => set({ ...draft, ...more })
  return (
    <section className="card" aria-labelledby="why-ask">
      <div className="in stack judgement">
        <h2 id="why-ask" className="title">
          {words.ask}
        </h2>
        <form
          className="line wrap sentence"
          onSubmit={(event) => {
            event.preventDefault()
            onAsk(draft)
          }}
        >
          <label className="line">
            {words.may}
            <select
              className="input"
              value={draft.principal ?? names[0]}
              onChange={(it) => put({ principal: it.target.value })}
            >
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <select
            className="input"
            aria-label={words.action}
            value={draft.action}
            onChange={(it) => put({ action: it.target.value })}
          >
            {actions.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <input
            className="input mono grow"
            aria-label={words.resource}
            required
            value={draft.resource ?? ""}
            onChange={(it) => put({ resource: it.target.value })}
          />
          <label className="line">
            {words.space}
            <select className="input" value={draft.space ?? ""} onChange={(it) => put({ space: it.target.value })}>
              <option value="">{words.anywhere}</option>
              {spaces.map(({ id, kind, name }) => (
                <option key={id} value={name}>
                  {kind === "dm" ? name : `#${name}`}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" className="button main-act">
            {words.go}
          </button>
        </form>
        {complete && explanation.isPending ? <LoadingPane lines={3} /> : null}
        {explanation.error === null ? null : (
          <FaultPane error={explanation.error} again={() => void explanation.refetch()} />
        )}
        {complete ? null : <p className="faint">{words.asksWhat}</p>}
        {explanation.data === undefined ? null : (
          <div className="stack judgement" role="status">
            <Answer explanation={explanation.data} />
            {explanation.data.rules === undefined || explanation.data.rules.length === 0 ? null : (
              <Rules rules={explanation.data.rules} />
            )}
            {explanation.data.gates === undefined || explanation.data.gates.length === 0 ? null : (
              <Gates gates={explanation.data.gates} />
            )}
          </div>
        )}
        {explanation.data === undefined ? null : (
          <AccessForm
            asked={{ who: principal ?? me.name, action: action!, resource: resource! }}
            isMe={principal === undefined || principal === me.name || principal === me.id}
            gate={explanation.data.gates?.find(({ gate }) => gate === "allow-list")}
          />
        )}
      </div>
    </section>
  )
}
