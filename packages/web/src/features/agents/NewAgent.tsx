/** A new agent: its persona, its model, its tools, where it listens, and its budget. */
import { agentRoles, type ToolsetName, toolsetNames } from "@stoa/contract"
import { useNavigate } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { InputField, SelectField } from "../../parts/form/Field.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { limitsFrom } from "./agents.logic.ts"
import { PersonaField } from "./PersonaField.tsx"
import { agentsChanged, useModels } from "./useAgents.ts"
import { words } from "./words/en.ts"

interface Draft {
  readonly name: string
  readonly persona: string
  readonly model: string
  readonly role: (typeof agentRoles)[number]
  readonly sets: ReadonlyArray<ToolsetName>
  readonly spaces: ReadonlyArray<string>
  readonly dollars: string
  readonly steps: string
}
/** Undefined until the user has chosen a model. */
type DraftInput = Omit<Draft, "model"> & { readonly model: string | undefined }

const empty: DraftInput = {
  name: "",
  persona: "",
  model: undefined,
  role: "agent-standard",
  sets: [],
  spaces: [],
  dollars: "",
  steps: "",
}

const make = async (draft: Draft) => {
  const { dollars, model, name, persona, role, sets, spaces, steps } = draft
  const made = await house.principals.add({
    kind: "agent",
    name,
    roles: [role],
    ...(sets.length === 0 ? {} : { toolsets: sets }),
  })
  await house.agents.change(made.id, {
    persona: persona === "" ? null : persona,
    model: model === "" ? null : model,
    limits: limitsFrom(dollars, steps),
  })
  for (const space of spaces) await house.spaces.addMember(space, made.id)
  return made
}

const toggled = <A,>(list: ReadonlyArray<A>, one: A): ReadonlyArray<A> =>
  list.includes(one) ? list.filter((other) => other !== one) : [...list, one]

interface ChoicesProps<A extends string> {
  readonly legend: string
  readonly hint: string
  readonly all: ReadonlyArray<{ readonly value: A; readonly name: string }>
  readonly chosen: ReadonlyArray<A>
  readonly choose: (one: A) => void
}

const Choices = <A extends string>({ all, choose, chosen, hint, legend }: ChoicesProps<A>) =>
  all.length === 0 ? null : (
    <fieldset className="field">
      <legend className="name">
        {legend} <span className="hint">{hint}</span>
      </legend>
      <span className="line wrap">
        {all.map(({ name, value }) => (
          <label key={value} className="line">
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => choose(value)} />
            {name}
          </label>
        ))}
      </span>
    </fieldset>
  )

export const NewAgent = () => {
  const navigate = useNavigate()
  const { spaces } = useStart()
  const models = useModels()
  const [typed, set] = useState(empty)
  // Users mostly want an agent that answers: a model that is ready is preselected.
  const draft = { ...typed, model: typed.model ?? models.find(({ ready }) => ready)?.name ?? "" }
  const [fault, fail] = useState<unknown>()
  const [busy, work] = useState(false)
  const change = (more: Partial<Draft>) => set((old) => ({ ...old, ...more }))
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    work(true)
    fail(undefined)
    try {
      const made = await make(draft)
      await agentsChanged()
      await navigate({ to: "/agents/$name", params: { name: made.name }, search: { tab: "talk" } })
    } catch (error) {
      fail(error)
      work(false)
    }
  }
  const named = spaces.filter(({ archivedAt, kind }) => kind !== "dm" && archivedAt === null)
  return (
    <aside className="scroll" aria-label={words.newAgent}>
      <form className="page stack agents-detail" onSubmit={(event) => void onSubmit(event)}>
        <h2>{words.newAgent}</h2>
        <InputField
          id="agent-name"
          label={words.name}
          hint={words.nameHint}
          required
          maxLength={63}
          value={draft.name}
          onChange={(event) => change({ name: event.target.value })}
        />
        <PersonaField
          id="agent-who"
          value={draft.persona}
          onChange={(event) => change({ persona: event.target.value })}
        />
        <div className="agents-two">
          <SelectField
            id="agent-model"
            label={words.model}
            value={draft.model}
            onChange={(event) => change({ model: event.target.value })}
          >
            <option value="">{words.noModelShort}</option>
            {models.map(({ name, ready }) => (
              <option key={name} value={name}>
                {ready ? name : `${name} (${words.notReady})`}
              </option>
            ))}
          </SelectField>
          <SelectField
            id="agent-role"
            label={words.role}
            value={draft.role}
            onChange={(event) => change({ role: event.target.value as Draft["role"] })}
          >
            {agentRoles.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </SelectField>
        </div>
        <Choices
          legend={words.toolsets}
          hint={words.toolsetsHint}
          all={toolsetNames.map((value) => ({ value, name: value }))}
          chosen={draft.sets}
          choose={(one) => change({ sets: toggled(draft.sets, one) })}
        />
        <Choices
          legend={words.spaces}
          hint={words.spacesHint}
          all={named.map(({ id, name }) => ({ value: id, name }))}
          chosen={draft.spaces}
          choose={(one) => change({ spaces: toggled(draft.spaces, one) })}
        />
        <div className="agents-two">
          <InputField
            id="agent-dollars"
            label={words.budget}
            hint={words.optional}
            type="number"
            min={0}
            step="0.01"
            value={draft.dollars}
            onChange={(event) => change({ dollars: event.target.value })}
          />
          <InputField
            id="agent-steps"
            label={words.stepsField}
            hint={words.optional}
            type="number"
            min={1}
            max={10_000}
            step={1}
            value={draft.steps}
            onChange={(event) => change({ steps: event.target.value })}
          />
        </div>
        <p className="note">
          {words.sum(
            draft.name,
            draft.model,
            draft.sets,
            named.filter(({ id }) => draft.spaces.includes(id)).map(({ name }) => name),
            draft.dollars,
          )}
        </p>
        {fault === undefined ? null : <FaultPane error={fault} />}
        <p>
          <button type="submit" className="button main-act" disabled={busy}>
            {busy ? words.making : words.make}
          </button>
        </p>
      </form>
    </aside>
  )
}
