/** A tool created or changed by a person: a form, and the same as JSON. Faults are shown at their fields. */
import { StoaError } from "@stoa/sdk"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { Json } from "../../feed/types.ts"
import { type Issue, issuesOf } from "../../parts/form/schemaForm.logic.ts"
import { JsonBox } from "../../parts/form/JsonBox.tsx"
import { ToggleGroup } from "../../parts/form/ToggleGroup.tsx"
import { SchemaForm } from "../../parts/form/SchemaForm.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { formSchema } from "./toolForm.logic.ts"
import { words } from "./words/en.ts"

export interface ToolEditorProps {
  readonly title: string
  readonly act: string
  readonly isNew: boolean
  readonly begin: Json
  readonly save: (form: Json) => Promise<unknown>
  readonly cancel: () => void
}

const views = ["form", "json"] as const

const issuesOfHouse = (error: unknown): ReadonlyArray<Issue> => (error instanceof StoaError ? error.issues : [])

export const ToolEditor = ({ act, begin, cancel, isNew, save, title }: ToolEditorProps) => {
  const [value, set] = useState<Json | undefined>(begin)
  const [view, look] = useState<(typeof views)[number]>("form")
  const [mine, find] = useState<ReadonlyArray<Issue>>([])
  const saved = useMutation({ mutationFn: save })
  const schema = formSchema(value, isNew)
  const issues = mine.length > 0 ? mine : issuesOfHouse(saved.error)
  const submit = () => {
    const wrong = issuesOf(schema, value)
    find(wrong)
    if (wrong.length === 0) saved.mutate(value!)
  }
  return (
    <form
      className="stack"
      aria-label={title}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <div className="line wrap">
        <h2 className="lead">{title}</h2>
        <ToggleGroup
          options={views}
          value={view}
          nameOf={(one) => words.form.view[one]}
          choose={look}
          label={words.form.views}
          isTiny
          isPushed
        />
      </div>
      {view === "form" ? (
        <SchemaForm schema={schema} value={value} onChange={set} issues={issues} {...(isNew ? {} : { was: begin })} />
      ) : (
        <JsonBox id="tool-json" label={words.form.view.json} value={value} onChange={set} />
      )}
      {issues.length === 0 ? null : (
        <div className="note" data-tone="bad" role="alert">
          <ul>
            {issues.map(({ message, path }) => (
              <li key={path + message}>{path === "" ? message : `${path}: ${message}`}</li>
            ))}
          </ul>
        </div>
      )}
      {saved.error === null || issues.length > 0 ? null : <FaultPane error={saved.error} />}
      <p className="line wrap">
        <button type="submit" className="button main-act" disabled={saved.isPending}>
          {act}
        </button>
        <button type="button" className="button plain" onClick={cancel}>
          {words.cancel}
        </button>
      </p>
    </form>
  )
}
