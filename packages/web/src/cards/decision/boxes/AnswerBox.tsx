/** A question that needs a value: a form from its schema, or an address a person opens elsewhere. */
import type { NewAnswer } from "@stoa/contract"
import { useState } from "react"
import type { Decision, Json } from "../../../feed/types.ts"
import { type Issue, issuesOf, initialValue, type JsonSchema } from "../../../parts/form/schemaForm.logic.ts"
import { isFields } from "../../../parts/form/json.logic.ts"
import { SchemaForm } from "../../../parts/form/SchemaForm.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { safeHref } from "../../../parts/text/address.logic.ts"
import { hostOf } from "../decision.logic.ts"
import { words } from "../words/en.ts"

export interface AnswerBoxProps {
  readonly decision: Decision
  readonly busy: boolean
  readonly issues: ReadonlyArray<Issue>
  readonly send: (answer: NewAnswer) => void
  readonly decline: () => void
}

export const FormBox = ({ busy, decision, decline, issues: fromHouse, send }: AnswerBoxProps) => {
  const schema = (isFields(decision.schema) ? decision.schema : {}) as JsonSchema
  const [value, set] = useState<Json | undefined>(() => initialValue(schema, schema))
  const [mine, find] = useState<ReadonlyArray<Issue>>([])
  const issues = mine.length > 0 ? mine : fromHouse
  const submit = () => {
    const wrong = issuesOf(schema, value ?? null)
    find(wrong)
    if (wrong.length === 0) send({ verdict: "submit", value: value ?? null })
  }
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {issues.length === 0 ? null : (
        <p className="note" data-tone="bad" role="alert" tabIndex={-1} ref={(box) => box?.focus()}>
          {words.faults(issues.length)}
        </p>
      )}
      <SchemaForm schema={schema} value={value} onChange={set} issues={issues} />
      <div className="acts stay">
        <ActButton of={decision.id} type="submit" className="button main-act" disabled={busy}>
          <Icon name="check" small />
          {words.send}
        </ActButton>
        <button type="button" className="button" disabled={busy} onClick={decline}>
          {words.decline}
        </button>
      </div>
    </form>
  )
}

/** Never opened or fetched by the page itself: the person reads where it leads, and presses. */
export const AddressBox = ({ busy, decision, decline, send }: AnswerBoxProps) => {
  const url = decision.url ?? ""
  const host = safeHref(url) === undefined ? undefined : hostOf(url)
  return (
    <div className="stack">
      {host === undefined ? null : (
        <p className="line wrap">
          <Icon name="globe" />
          <span className="strong lead">{host}</span>
        </p>
      )}
      <p className="small faint mono whole">{url}</p>
      <div className="acts stay">
        {host === undefined ? null : (
          <a className="button main-act" href={url} target="_blank" rel="noopener noreferrer">
            <Icon name="external-link" small />
            {words.open(host)}
          </a>
        )}
        <ActButton
          of={decision.id}
          className="button"
          disabled={busy}
          onClick={() => send({ verdict: "submit", value: {} })}
        >
          {words.done}
        </ActButton>
        <button type="button" className="button plain" disabled={busy} onClick={decline}>
          {words.decline}
        </button>
      </div>
    </div>
  )
}
