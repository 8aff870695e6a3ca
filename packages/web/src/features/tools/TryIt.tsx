/** A tool tried from the page: first a dry run, then the call itself. */
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import type { Json } from "../../feed/types.ts"
import { type Issue, issuesOf, initialValue, type JsonSchema } from "../../parts/form/schemaForm.logic.ts"
import { isFields } from "../../parts/form/json.logic.ts"
import { SchemaForm } from "../../parts/form/SchemaForm.tsx"
import { SelectField } from "../../parts/form/Field.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { JsonView } from "../../parts/text/JsonView.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { words } from "./words/en.ts"

export interface TryItProps {
  readonly tool: string
  readonly schema: unknown
  /** The default space of the call. */
  readonly space: string
}

interface CallAnswer {
  readonly state?: string
  readonly output?: Json
  readonly error?: { readonly message: string }
  readonly verdict?: "allow" | "ask"
  readonly rule?: string | null
  readonly sends?: Json
}

export const TryIt = ({ schema: given, space: begun, tool }: TryItProps) => {
  const { spaces } = useStart()
  const schema = (isFields(given) ? given : { type: "object" }) as JsonSchema
  const [value, set] = useState<Json | undefined>(() => initialValue(schema, schema) ?? {})
  const [space, setSpace] = useState(begun)
  const [issues, find] = useState<ReadonlyArray<Issue>>([])
  const called = useMutation({
    mutationFn: ({ dryRun, input }: { readonly dryRun: boolean; readonly input: Record<string, Json> }) =>
      house.tools.call(tool, { input, dryRun, wait: 20, ...(space === "" ? {} : { space }) }) as Promise<CallAnswer>,
  })
  const go = (dryRun: boolean) => {
    const wrong = issuesOf(schema, value ?? {})
    find(wrong)
    if (wrong.length === 0) called.mutate({ dryRun, input: (value ?? {}) as Record<string, Json> })
  }
  const { data } = called
  const state = data?.state as keyof typeof words.state | undefined
  return (
    <section className="stack" aria-label={words.tryIt}>
      <h3>{words.tryIt}</h3>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          go(false)
        }}
      >
        <SchemaForm schema={schema} value={value} onChange={set} issues={issues} />
        <SelectField id="try-space" label={words.space} value={space} onChange={({ target }) => setSpace(target.value)}>
          <option value="">{words.nowhere}</option>
          {spaces.map((one) => (
            <option key={one.id}>{one.name}</option>
          ))}
        </SelectField>
        {issues.length === 0 ? null : (
          <p className="note" data-tone="bad" role="alert">
            {words.wrong(issues.length)}
          </p>
        )}
        <p className="line wrap">
          <button type="button" className="button" disabled={called.isPending} onClick={() => go(true)}>
            {words.dry}
          </button>
          <ActButton of={tool} fromField type="submit" className="button main-act" disabled={called.isPending}>
            {words.call}
          </ActButton>
          <Link className="push small" to="/why" search={{ action: "execute", resource: `tools/${tool}` }}>
            {words.why}
          </Link>
        </p>
      </form>
      {called.error === null ? null : <FaultPane error={called.error} />}
      {data === undefined ? null : (
        <div className="stack" role="status">
          {data.verdict === undefined ? null : <p>{words.would(words.verdict[data.verdict], data.rule ?? "")}</p>}
          {state === undefined ? null : <p className="strong">{words.state[state]}</p>}
          {data.error === undefined ? null : <p>{data.error.message}</p>}
          {data.sends === undefined || data.sends === null ? null : <JsonView label={words.sends} value={data.sends} />}
          {data.output === undefined ? null : <JsonView label={words.output} value={data.output} />}
        </div>
      )}
    </section>
  )
}
