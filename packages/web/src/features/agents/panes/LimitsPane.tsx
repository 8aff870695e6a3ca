/** The limits of an agent: those in force, what it has spent, and a form to change them and its place in the team. */
import { type FormEvent, useState } from "react"
import { house } from "../../../feed/house.ts"
import { useNames, usePeople } from "../../../feed/start.ts"
import { counted, money } from "../../../parts/figures/money.logic.ts"
import { FaultPane } from "../../../parts/panes/Pane.tsx"
import { limitsDraft, limitsOfDraft } from "../agents.logic.ts"
import { type Agent, agentsChanged, useModels, useSpent } from "../useAgents.ts"
import { words } from "../words/en.ts"

const modelsOf = ({ model }: Agent): ReadonlyArray<string> => (model === null ? [] : [model].flat())

const InForce = ({ agent }: { readonly agent: Agent }) => {
  const { cost, depth, minutes, perDay, steps, tokens, width } = agent.inForce ?? agent.limits
  const spent = useSpent().get(agent.id) ?? 0
  const names = useNames()
  const models = modelsOf(agent)
  const run = [
    steps === undefined ? "" : words.steps(steps),
    cost === undefined ? "" : money(cost),
    tokens === undefined ? "" : words.tokens(counted(tokens)),
    minutes === undefined ? "" : words.minutes(minutes),
  ].filter((part) => part !== "")
  const day = [
    perDay?.cost === undefined ? words.noBudget : words.spent(money(spent), money(perDay.cost)),
    perDay?.tokens === undefined ? "" : words.tokens(counted(perDay.tokens)),
  ].filter((part) => part !== "")
  return (
    <section className="stack">
      <h3>{words.inForce}</h3>
      <dl className="kv">
        <dt>{words.model}</dt>
        <dd>{models.length === 0 ? words.noModelShort : words.models(models)}</dd>
        <dt>{words.aRun}</dt>
        <dd>{run.length === 0 ? words.unlimited : run.join(", ")}</dd>
        <dt>{words.aDay}</dt>
        <dd>{day.join(", ")}</dd>
        <dt>{words.withAgents}</dt>
        <dd>{depth === undefined ? words.unlimited : words.hops(depth)}</dd>
        <dt>{words.atOnce}</dt>
        <dd>{words.runsAtOnce(width ?? 1)}</dd>
        <dt>{words.parent}</dt>
        <dd>{agent.parent === null ? words.nobodyAbove : names(agent.parent)}</dd>
      </dl>
    </section>
  )
}

const fields = [
  ["dollars", words.budget, "0.01"],
  ["runDollars", words.runDollars, "0.01"],
  ["steps", words.stepsField, "1"],
  ["minutes", words.minutesField, "1"],
  ["depth", words.hopsField, "1"],
  ["width", words.widthField, "1"],
] as const

const Change = ({ agent }: { readonly agent: Agent }) => {
  const [draft, set] = useState(() => limitsDraft(agent.limits))
  const [parent, choose] = useState(agent.parent ?? "")
  const [wake, toggle] = useState(agent.autoWake)
  const own = modelsOf(agent)
  // Several are one choice here, which can be kept or replaced.
  const before = own.join(" ")
  const [model, think] = useState(before)
  const models = useModels()
  const [saved, done] = useState(false)
  const [fault, fail] = useState<unknown>()
  const others = usePeople().filter(({ id, kind }) => kind === "agent" && id !== agent.id)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    fail(undefined)
    done(false)
    await house.agents.change(agent.id, {
      limits: limitsOfDraft(agent.limits, draft),
      parent: parent === "" ? null : parent,
      autoWake: wake,
      ...(model === before ? {} : { model: model === "" ? null : model }),
    })
    await agentsChanged()
    done(true)
  }
  return (
    <form className="stack" onSubmit={(event) => void save(event).catch(fail)}>
      <h3>{words.change}</h3>
      <div className="agents-two">
        {fields.map(([key, label, step]) => (
          <div key={key} className="field">
            <label htmlFor={`limit-${key}`}>
              {label} <span className="hint">{words.optional}</span>
            </label>
            <input
              className="input"
              id={`limit-${key}`}
              type="number"
              min={0}
              step={step}
              value={draft[key]}
              onChange={(event) => set({ ...draft, [key]: event.target.value })}
            />
          </div>
        ))}
      </div>
      <div className="field">
        <label htmlFor="limit-model">{words.model}</label>
        <select className="input" id="limit-model" value={model} onChange={(event) => think(event.target.value)}>
          <option value="">{words.noModelShort}</option>
          {before === "" || models.some(({ name }) => name === before) ? null : (
            <option value={before}>{words.models(own)}</option>
          )}
          {models.map(({ name, ready }) => (
            <option key={name} value={name}>
              {ready ? name : `${name} (${words.notReady})`}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="limit-parent">{words.parent}</label>
        <select className="input" id="limit-parent" value={parent} onChange={(event) => choose(event.target.value)}>
          <option value="">{words.nobodyAbove}</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <label className="line">
        <input type="checkbox" checked={wake} onChange={(event) => toggle(event.target.checked)} />
        {words.wake}
      </label>
      {fault === undefined ? null : <FaultPane error={fault} />}
      <p className="line">
        <button type="submit" className="button main-act">
          {words.save}
        </button>
        <span role="status">{saved ? words.limitsSaved : ""}</span>
      </p>
    </form>
  )
}

export const LimitsPane = ({ agent, may }: { readonly agent: Agent; readonly may: boolean }) => (
  <>
    <InForce agent={agent} />
    {may ? <Change agent={agent} /> : null}
  </>
)
