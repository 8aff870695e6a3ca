/** A tool created or changed by a person: a form, and the same as JSON. Faults are shown at their fields. */
import { StoaError } from "@stoa/sdk"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { Json } from "../../feed/types.ts"
import { type Fault, faultsOf } from "../../parts/form/form.logic.ts"
import { JsonBox } from "../../parts/form/JsonBox.tsx"
import { OneOf } from "../../parts/form/OneOf.tsx"
import { SchemaForm } from "../../parts/form/SchemaForm.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { formSchema, kindOf } from "./form.logic.ts"
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

const faultsOfHouse = (error: unknown): ReadonlyArray<Fault> => (error instanceof StoaError ? error.issues : [])

export const ToolEditor = ({ act, begin, cancel, isNew, save, title }: ToolEditorProps) => {
  const [value, set] = useState<Json | undefined>(begin)
  const [view, look] = useState<(typeof views)[number]>("form")
  const [mine, find] = useState<ReadonlyArray<Fault>>([])
  const saved = useMutation({ mutationFn: save })
  const schema = formSchema(kindOf(value), isNew)
  const faults = mine.length > 0 ? mine : faultsOfHouse(saved.error)
  const submit = () => {
    const wrong = faultsOf(schema, value)
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
        <OneOf
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
        <SchemaForm schema={schema} value={value} onChange={set} faults={faults} {...(isNew ? {} : { was: begin })} />
      ) : (
        <JsonBox id="tool-json" label={words.form.view.json} value={value} onChange={set} />
      )}
      {faults.length === 0 ? null : (
        <div className="note" data-tone="bad" role="alert">
          <ul>
            {faults.map(({ message, path }) => (
              <li key={path + message}>{path === "" ? message : `${path}: ${message}`}</li>
            ))}
          </ul>
        </div>
      )}
      {saved.error === null || faults.length > 0 ? null : <FaultPane error={saved.error} />}
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
