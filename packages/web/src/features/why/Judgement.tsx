/** A question one fills in as a sentence, and the answer with every rule that fits and the gates. */
import "./Judgement.css"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { Icon } from "../../parts/Icon.tsx"
import { FaultPane, LoadingPane } from "../../parts/Pane.tsx"
import { words } from "./words/en.ts"

export interface Question {
  readonly principal?: string
  readonly action?: string
  readonly resource?: string
  readonly space?: string
}

const actions = ["read", "write", "execute", "delete", "admin"] as const

interface JudgementProps {
  readonly question: Question
  readonly names: ReadonlyArray<string>
  readonly onAsk: (question: Question) => void
}

export const Judgement = ({ names, onAsk, question }: JudgementProps) => {
  const [draft, set] = useState<Question>({ action: "execute", resource: "tools/", ...question })
  const { action, principal, resource, space } = question
  const complete = action !== undefined && resource !== undefined
  const told = useQuery({
    queryKey: ["grants", "judge", principal ?? "", action ?? "", resource ?? "", space ?? ""],
    queryFn: () =>
      house.grants.judge({
        action: action as (typeof actions)[number],
        resource: resource!,
        explain: "true",
        ...(principal === undefined ? {} : { principal }),
        ...(space === undefined ? {} : { space }),
      }),
    enabled: complete,
  })
  const put = (more: Question) => set({ ...draft, ...more })
  return (
    <section className="stack" aria-label={words.ask}>
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
          className="input mono"
          aria-label={words.resource}
          required
          value={draft.resource ?? ""}
          onChange={(it) => put({ resource: it.target.value })}
        />
        <label className="line">
          {words.space}
          <input className="input" value={draft.space ?? ""} onChange={(it) => put({ space: it.target.value })} />
        </label>
        <button type="submit" className="button main-act">
          {words.go}
        </button>
      </form>
      {complete && told.isPending ? <LoadingPane lines={3} /> : null}
      {told.error === null ? null : <FaultPane error={told.error} again={() => void told.refetch()} />}
      {told.data === undefined ? null : (
        <div className="stack" role="status">
          <p>
            <strong>{words.verdict[told.data.verdict]}</strong>{" "}
            {told.data.rule === "silence" ? words.silence : words.by(told.data.rule)}
          </p>
          {told.data.rules === undefined || told.data.rules.length === 0 ? null : (
            <>
              <h2>{words.rules}</h2>
              <ul className="stack">
                {told.data.rules.map((one, at) => (
                  <li key={at} className="line wrap">
                    <code>{one.name}</code>
                    <span>{one.words}</span>
                    {one.decides ? <span className="pill">{words.decides}</span> : null}
                  </li>
                ))}
              </ul>
            </>
          )}
          {told.data.gates === undefined || told.data.gates.length === 0 ? null : (
            <>
              <h2>{words.gates}</h2>
              <ul className="stack">
                {told.data.gates.map((one) => (
                  <li key={one.gate} className="line wrap">
                    <Icon name={one.passes ? "check" : "octagon-x"} small />
                    <span className="vh">{one.passes ? words.passes : words.stops}</span>
                    <code>{one.gate}</code>
                    <span>{one.words}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </section>
  )
}
