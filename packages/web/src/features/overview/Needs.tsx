/** What needs attention, each with its one action. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { type Figures, figuresChanged, saveBackup } from "./useFigures.ts"
import { words } from "./words/en.ts"

type Need = Figures["needs"][number]

const icons: Record<Need["kind"], string> = {
  heldTool: "triangle-alert",
  serverAway: "plug",
  budgetNear: "coins",
  agentFailing: "bot",
  deadLetters: "activity",
  noBackup: "database",
  finding: "circle-alert",
}

const nameOf = ({ kind, subject, tool }: Need): string =>
  kind === "budgetNear" && subject === "house" ? words.need.budgetNear(words.theHouse) : words.need[kind](subject, tool)

/** Something the house does at once. */
const Do = ({
  act,
  children,
  name,
}: {
  readonly act: () => Promise<unknown>
  readonly children: string
  readonly name: string
}) => {
  const [busy, work] = useState(false)
  const [fault, fail] = useState<unknown>()
  const begin = async () => {
    work(true)
    fail(undefined)
    await act().catch(fail)
    work(false)
  }
  return (
    <>
      <button
        type="button"
        className="button tiny"
        disabled={busy}
        aria-label={words.actOn(children, name)}
        onClick={() => void begin()}
      >
        {children}
      </button>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </>
  )
}

const Act = ({ need }: { readonly need: Need }) => {
  const { kind, subject } = need
  const name = nameOf(need)
  const said = words.act[kind]
  const label = words.actOn(said, name)
  switch (kind) {
    case "heldTool":
    case "serverAway":
      return (
        <Link className="button tiny" to="/servers/$server" params={{ server: subject }} aria-label={label}>
          {said}
        </Link>
      )
    case "budgetNear":
      return subject === "house" ? (
        <Link className="button tiny" to="/agents" aria-label={label}>
          {said}
        </Link>
      ) : (
        <Link
          className="button tiny"
          to="/agents/$name"
          params={{ name: subject }}
          search={{ tab: "limits" }}
          aria-label={label}
        >
          {said}
        </Link>
      )
    case "agentFailing":
      return (
        <Link className="button tiny" to="/runs" search={{ agent: subject, state: "failed" }} aria-label={label}>
          {said}
        </Link>
      )
    case "deadLetters":
      return (
        <Link className="button tiny" to="/runs" aria-label={label}>
          {said}
        </Link>
      )
    case "noBackup":
      return (
        <Do act={saveBackup} name={name}>
          {said}
        </Do>
      )
    case "finding":
      return subject === "clock" || subject === "audit" ? (
        <Do act={() => house.house.accept({ check: subject }).then(figuresChanged)} name={name}>
          {words.accept}
        </Do>
      ) : (
        <Do act={figuresChanged} name={name}>
          {said}
        </Do>
      )
  }
}

export const Needs = ({ needs }: { readonly needs: ReadonlyArray<Need> }) => (
  <section className="card">
    <header>
      <h2>{words.needs}</h2>
      {needs.length === 0 ? null : <span className="count push">{needs.length}</span>}
    </header>
    {needs.length === 0 ? (
      <p className="in faint">{words.nothing}</p>
    ) : (
      <ul className="rows overview-needs">
        {needs.map((need) => (
          <li key={`${need.kind} ${need.subject} ${need.tool ?? ""}`} className="line">
            <span className={need.urgent ? "overview-urgent" : "overview-soon"}>
              <Icon name={icons[need.kind]} small />
            </span>
            <span className="overview-need">
              <span className="strong">{nameOf(need)}</span>
              <span className="small faint">{need.detail}</span>
            </span>
            <span className="push overview-act">
              <Act need={need} />
            </span>
          </li>
        ))}
      </ul>
    )}
  </section>
)
