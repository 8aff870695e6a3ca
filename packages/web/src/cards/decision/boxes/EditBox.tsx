/** The input of a call, edited by a person: form, JSON and changes are three views of one value. */
import type { NewAnswer } from "@stoa/contract"
import { useState } from "react"
import type { Decision, Json } from "../../../feed/types.ts"
import { Diff } from "../../../parts/text/Diff.tsx"
import { type Issue, issuesOf, type JsonSchema } from "../../../parts/form/schemaForm.logic.ts"
import { isFields } from "../../../parts/form/json.logic.ts"
import { JsonBox } from "../../../parts/form/JsonBox.tsx"
import { ToggleGroup } from "../../../parts/form/ToggleGroup.tsx"
import { SchemaForm } from "../../../parts/form/SchemaForm.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { changesIn } from "../decision.logic.ts"
import { noteFields, NoteField } from "./NoteField.tsx"
import { words } from "../words/en.ts"

export interface EditBoxProps {
  readonly decision: Decision
  readonly busy: boolean
  readonly issues: ReadonlyArray<Issue>
  readonly send: (answer: NewAnswer) => void
  readonly back: () => void
}

type View = "form" | "json" | "changes"
const views: ReadonlyArray<View> = ["form", "json", "changes"]

export const EditBox = ({ back, busy, decision, issues: fromHouse, send }: EditBoxProps) => {
  const before = decision.call?.input
  const schema = (isFields(decision.schema) ? decision.schema : { type: "object" }) as JsonSchema
  const [value, set] = useState<Json | undefined>(before)
  const [note, write] = useState("")
  const [view, look] = useState<View>(isFields(schema["properties"]) ? "form" : "json")
  const [mine, find] = useState<ReadonlyArray<Issue>>([])
  const changes = changesIn(before, value)
  const issues = mine.length > 0 ? mine : fromHouse
  const submit = (input: Json | undefined) => {
    const wrong = issuesOf(schema, input)
    find(wrong)
    if (wrong.length > 0) return look("form")
    send({
      verdict: "approve",
      ...(JSON.stringify(input) === JSON.stringify(before) ? {} : { input: input as never }),
      ...noteFields(note),
    })
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        submit(value)
      }}
    >
      <div className="line wrap">
        <ToggleGroup
          options={views}
          value={view}
          nameOf={(one) => (one === "changes" ? words.changes(changes.length) : words[one])}
          choose={look}
          isTiny
        />
        <button type="button" className="button plain tiny push" onClick={() => set(before)}>
          <Icon name="undo-2" small />
          {words.undoAll}
        </button>
      </div>
      {issues.length === 0 ? null : (
        <p className="note" data-tone="bad" role="alert" tabIndex={-1} ref={(box) => box?.focus()}>
          {words.faults(issues.length)}
        </p>
      )}
      {view === "form" ? (
        <SchemaForm
          schema={schema}
          value={value}
          onChange={set}
          issues={issues}
          {...(before === undefined ? {} : { was: before })}
        />
      ) : view === "json" ? (
        <JsonBox id={`json-${decision.id}`} value={value} onChange={set} label={words.json} />
      ) : changes.length === 0 ? (
        <p className="faint small">{words.noChanges}</p>
      ) : (
        changes.map(({ after, before: was, name }) => (
          <div key={name} className="field">
            <span className="name">{name}</span>
            <Diff before={was} after={after} label={name} />
          </div>
        ))
      )}
      <NoteField decision={decision} note={note} write={write} />
      <div className="acts stay">
        <ActButton of={decision.id} type="submit" className="button main-act" disabled={busy}>
          <Icon name="check" small />
          {changes.length === 0 ? words.approve : words.approveChanges}
        </ActButton>
        {changes.length === 0 ? null : (
          <ActButton of={decision.id} className="button" disabled={busy} onClick={() => submit(before)}>
            {words.asAsked}
          </ActButton>
        )}
        <button type="button" className="button plain" onClick={back}>
          {words.back}
        </button>
      </div>
    </form>
  )
}
