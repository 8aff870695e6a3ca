/** The guide of a new house: four steps that tick themselves, the demo's model, and how to remove the demo. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useId, useState } from "react"
import { cache } from "../../feed/cache.ts"
import { moment, now } from "../../feed/clock.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { money } from "../../parts/figures/money.logic.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import "./Welcome.css"
import { countOf, type Demo, removedParts, doneCount } from "./welcome.logic.ts"
import { words } from "./words/en.ts"

const key = ["demo"]

const Act = ({ step }: { readonly step: Demo["steps"][number]["step"] }) => {
  const { decisions } = useStart()
  if (step === "decided" && decisions[0] !== undefined)
    return (
      <Link className="button tiny" to="/decisions">
        {words.goThere}
      </Link>
    )
  if (step === "connected")
    return (
      <Link className="button tiny" to="/connect">
        {words.connect}
      </Link>
    )
  if (step === "model")
    return (
      <Link className="button tiny" to="/help/$page" params={{ page: "demo" }}>
        {words.how}
      </Link>
    )
  return null
}

const Steps = ({ demo }: { readonly demo: Demo }) => (
  <ul className="welcome-steps">
    {demo.steps.map(({ at, step }) => (
      <li key={step} className="welcome-step" data-done={at !== null}>
        <span className="welcome-tick" role="img" aria-label={at === null ? words.open : words.done}>
          {at === null ? null : <Icon name="check" small />}
        </span>
        <div>
          <p className="strong">{words.steps[step].name}</p>
          <p className="small faint">{words.steps[step].more}</p>
        </div>
        {at === null ? <Act step={step} /> : null}
      </li>
    ))}
  </ul>
)

/** The demo's model: it never starts to spend money by itself. */
const ModelChoice = ({ demo, fail }: { readonly demo: Demo; readonly fail: (error: unknown) => void }) => {
  const ready = demo.models.filter((one) => one.ready)
  const [chosen, choose] = useState(demo.model)
  const id = useId()
  if (ready.length < 2) return null
  const use = async () => {
    cache.setQueryData(key, await house.demo.change({ model: chosen }))
  }
  return (
    <p className="line">
      <label htmlFor={id}>{words.think}</label>
      <select id={id} className="input welcome-model" value={chosen} onChange={(event) => choose(event.target.value)}>
        {ready.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button
        type="button"
        className="button tiny"
        disabled={chosen === demo.model}
        onClick={() => void use().catch(fail)}
      >
        {words.use}
      </button>
    </p>
  )
}

const Remove = ({ demo, fail }: { readonly demo: Demo; readonly fail: (error: unknown) => void }) => {
  const [asks, ask] = useState(false)
  const [works, work] = useState(false)
  const navigate = useNavigate()
  const remove = async () => {
    work(true)
    try {
      await house.demo.remove()
      await cache.invalidateQueries()
      await navigate({ to: "/" })
    } catch (error) {
      work(false)
      fail(error)
    }
  }
  if (!asks)
    return (
      <button type="button" className="button plain tiny push" onClick={() => ask(true)}>
        {words.remove}
      </button>
    )
  return (
    <Confirmation
      className="note stack welcome-sure"
      tone="bad"
      label={words.removeSure(removedParts(demo))}
      close={() => ask(false)}
    >
      <p>{words.removeSure(removedParts(demo))}</p>
      <p className="line">
        <ActButton of="demo" className="button tiny no" disabled={works} onClick={() => void remove()}>
          {words.remove}
        </ActButton>
        <button type="button" className="button tiny plain" data-first disabled={works} onClick={() => ask(false)}>
          {words.keep}
        </button>
      </p>
    </Confirmation>
  )
}

const sentenceOf = (demo: Demo): string => {
  if (demo.state !== "on") return words.emptyMore
  if (demo.model === "scripted") return words.aliveMore(countOf(demo, "agent"))
  return words.thinking(demo.model, money(demo.budget.spent), money(demo.budget.perDay))
}

/** The remaining steps in one line: enough once somebody has started, or on a small screen. */
const Left = ({ demo }: { readonly demo: Demo }) => {
  const left = demo.steps.filter(({ at }) => at === null)
  if (left.length === 0) return null
  return (
    <ul className="welcome-left" aria-label={words.left}>
      {left.map(({ step }) => (
        <li key={step} className="line small">
          <span className="welcome-tick" role="img" aria-label={words.open} />
          <span>{words.steps[step].name}</span>
          <Act step={step} />
        </li>
      ))}
    </ul>
  )
}

/** It folds itself: after the first answer, and in a small window, it is one line. */
const startsOpen = (demo: Demo): boolean =>
  doneCount(demo) < 2 && matchMedia("(min-width: 48rem) and (min-height: 44rem)").matches

/** Only for admins; nobody else is asked to do these things. */
export const Guide = () => {
  const { me } = useStart()
  const rules = me.roles.includes("admin")
  const { data: demo } = useQuery({ queryKey: key, queryFn: () => house.demo.get(), enabled: rules, retry: false })
  const [chosen, choose] = useState<boolean>()
  const [fault, fail] = useState<unknown>()
  const id = useId()
  if (demo === undefined || !rules) return null
  const open = chosen ?? (demo.state === "on" ? startsOpen(demo) : true)
  return (
    <section className="welcome-guide" aria-labelledby={id} data-open={open}>
      <div className="line wrap welcome-head">
        <h2 id={id}>{demo.state === "on" ? words.alive(moment(now()).getHours()) : words.empty}</h2>
        <span className="small faint">{words.taken(doneCount(demo), demo.steps.length)}</span>
        {open && demo.state === "on" ? <Remove demo={demo} fail={fail} /> : null}
        <button
          type="button"
          className={open && demo.state === "on" ? "button plain icon" : "button plain icon push"}
          aria-expanded={open}
          aria-label={open ? words.hide : words.show}
          onClick={() => choose(!open)}
        >
          <Icon name={open ? "chevron-down" : "chevron-right"} small />
        </button>
      </div>
      {open ? (
        <>
          <p className="soft">{sentenceOf(demo)}</p>
          <Steps demo={demo} />
          {demo.state === "on" ? <ModelChoice key={demo.model} demo={demo} fail={fail} /> : null}
          {fault === undefined ? null : <FaultPane error={fault} />}
        </>
      ) : (
        <Left demo={demo} />
      )}
    </section>
  )
}
