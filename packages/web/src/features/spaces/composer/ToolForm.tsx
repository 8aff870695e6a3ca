/** A tool called from the composer: its form replaces the field, and everybody here sees the call. */
import { StoaError } from "@stoa/sdk"
import { useMutation } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { house } from "../../../feed/house.ts"
import type { Tool } from "../../../feed/tools.ts"
import type { Json } from "../../../feed/types.ts"
import { type Issue, issuesOf, initialValue, type JsonSchema } from "../../../parts/form/schemaForm.logic.ts"
import { isFields } from "../../../parts/form/json.logic.ts"
import { SchemaForm } from "../../../parts/form/SchemaForm.tsx"
import { FaultPane } from "../../../parts/panes/Pane.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { newKey } from "./outbox.ts"
import { words } from "../words/en.ts"

export interface ToolFormProps {
  readonly tool: Tool
  readonly space: string
  readonly back: () => void
  readonly onCalled: () => void
}

const issuesOfHouse = (error: unknown): ReadonlyArray<Issue> =>
  error instanceof StoaError
    ? error.issues.map(({ message, path }) => ({ message, path: path.replace(/^input\.?/, "") }))
    : []

export const ToolForm = ({ back, onCalled, space, tool }: ToolFormProps) => {
  const schema = (isFields(tool.inputSchema) ? tool.inputSchema : { type: "object" }) as JsonSchema
  const [value, set] = useState<Json | undefined>(() => initialValue(schema, schema) ?? {})
  const [mine, find] = useState<ReadonlyArray<Issue>>([])
  const form = useRef<HTMLFormElement>(null)
  // The same key until something is changed: sent twice, the call happens once.
  const key = useRef(newKey())
  const called = useMutation({
    mutationFn: (input: Json) =>
      house.tools.call(tool.name, { input: input as never, space, wait: 0 }, { idempotencyKey: key.current }),
    onSuccess: onCalled,
  })
  useEffect(() => {
    const field = form.current?.querySelector<HTMLElement>("input, textarea, select")
    ;(field ?? form.current)?.focus()
  }, [])
  const issues = mine.length > 0 ? mine : issuesOfHouse(called.error)
  const submit = () => {
    const wrong = issuesOf(schema, value ?? {})
    find(wrong)
    if (wrong.length === 0) called.mutate(value ?? {})
  }
  return (
    <form
      ref={form}
      className="stack tool-form"
      aria-label={words.callOne(tool.name)}
      noValidate
      tabIndex={-1}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.nativeEvent.isComposing) return
        event.stopPropagation()
        back()
      }}
    >
      <div className="line wrap">
        <Icon name="wrench" small />
        <h2 className="mono tool-name">{tool.name}</h2>
        {tool.asks === true ? (
          <span className="pill" data-tone="warn">
            <Icon name="circle-help" />
            {words.asksFirst}
          </span>
        ) : null}
      </div>
      <p className="soft small">{tool.description}</p>
      {tool.visibility === "hidden" ? <p className="note">{words.notShown}</p> : null}
      <SchemaForm
        schema={schema}
        value={value}
        onChange={(next) => {
          key.current = newKey()
          set(next)
        }}
        issues={issues}
      />
      {issues.length > 0 ? (
        <p className="note" data-tone="bad" role="alert">
          {words.wrong(issues.length)}
        </p>
      ) : called.error === null ? null : (
        <FaultPane error={called.error} />
      )}
      <p className="line wrap">
        <ActButton of={tool.name} fromField type="submit" className="button main-act" disabled={called.isPending}>
          {words.callIt}
        </ActButton>
        <button type="button" className="button plain" onClick={back}>
          {words.backToWriting}
        </button>
        <span className="faint small wide-only">{words.backHint}</span>
      </p>
    </form>
  )
}
