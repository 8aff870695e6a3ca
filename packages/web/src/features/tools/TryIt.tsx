/** A tool tried from the page: first what would happen, then the call itself. */
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import type { Json } from "../../feed/types.ts"
import { FaultPane } from "../../parts/Pane.tsx"
import { JsonView } from "../../parts/JsonView.tsx"
import { fieldsOf, inputFrom, type Values } from "./fields.logic.ts"
import { words } from "./words/en.ts"

export interface TryItProps {
  readonly tool: string
  readonly schema: unknown
}

interface Called {
  readonly state?: string
  readonly output?: Json
  readonly error?: { readonly message: string }
  readonly verdict?: "allow" | "ask"
  readonly rule?: string | null
  readonly sends?: Json
}

export const TryIt = ({ schema, tool }: TryItProps) => {
  const { spaces } = useStart()
  const fields = fieldsOf(schema)
  const [values, setValues] = useState<Values>({})
  const [space, setSpace] = useState("")
  const [wrong, setWrong] = useState<string>()
  const called = useMutation({
    mutationFn: ({ dryRun, input }: { readonly dryRun: boolean; readonly input: Record<string, Json> }) =>
      house.tools.call(tool, { input, dryRun, wait: 20, ...(space === "" ? {} : { space }) }) as Promise<Called>,
  })
  const go = (dryRun: boolean) => {
    try {
      setWrong(undefined)
      called.mutate({ dryRun, input: inputFrom(fields, values) })
    } catch (cause) {
      setWrong(cause instanceof Error ? cause.message : String(cause))
    }
  }
  const put = (name: string, value: string) => setValues({ ...values, [name]: value })
  const { data } = called
  const state = data?.state as keyof typeof words.state | undefined
  return (
    <section className="stack" aria-label={words.tryIt}>
      <h3>{words.tryIt}</h3>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          go(false)
        }}
      >
        {fields.map((field) => (
          <label key={field.name} className="field stack">
            <span className="label">
              {field.title}
              {field.required ? " *" : ""}
            </span>
            {field.choices !== undefined ? (
              <select
                className="input"
                value={values[field.name] ?? ""}
                onChange={(it) => put(field.name, it.target.value)}
              >
                <option value="">{words.nothing}</option>
                {field.choices.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            ) : field.kind === "json" ? (
              <textarea
                className="input mono"
                rows={4}
                value={values[field.name] ?? ""}
                onChange={(it) => put(field.name, it.target.value)}
              />
            ) : (
              <input
                className="input"
                inputMode={field.kind === "number" ? "decimal" : undefined}
                value={values[field.name] ?? ""}
                onChange={(it) => put(field.name, it.target.value)}
              />
            )}
            {field.description === "" ? null : <span className="faint small">{field.description}</span>}
          </label>
        ))}
        <label className="field stack">
          <span className="label">{words.space}</span>
          <select className="input" value={space} onChange={(it) => setSpace(it.target.value)}>
            <option value="">{words.nowhere}</option>
            {spaces.map((one) => (
              <option key={one.id}>{one.name}</option>
            ))}
          </select>
        </label>
        {wrong === undefined ? null : (
          <p className="note" data-tone="bad" role="alert">
            {words.wrong(wrong)}
          </p>
        )}
        <p className="line wrap">
          <button type="button" className="button" disabled={called.isPending} onClick={() => go(true)}>
            {words.dry}
          </button>
          <button type="submit" className="button main-act" disabled={called.isPending}>
            {words.call}
          </button>
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
