/**
 * An OpenAPI document: the tools it would give, what is left out and which secrets they need; added only after that.
 */
import { riskOf } from "@stoa/contract"
import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { InputField } from "../../parts/form/Field.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { words } from "./words/en.ts"

interface Where {
  readonly prefix: string
  readonly baseUrl: string
}

const ask = (document: string, { baseUrl, prefix }: Where, dryRun: boolean, include?: ReadonlyArray<string>) =>
  house.tools.import(
    {
      document,
      ...(baseUrl === "" ? {} : { baseUrl }),
      ...(prefix === "" ? {} : { prefix }),
      ...(include === undefined ? {} : { include }),
    },
    { dryRun: dryRun ? "true" : "false" },
  )

type Report = Awaited<ReturnType<typeof ask>>

const ImportReport = ({ report }: { readonly report: Report }) => (
  <>
    {report.issues.length === 0 ? null : (
      <ul className="note stack" data-tone="bad" role="alert">
        {report.issues.map(({ message, path }) => (
          <li key={`${path} ${message}`}>
            {path === "" ? null : <code>{path}</code>} {message}
          </li>
        ))}
      </ul>
    )}
    {report.needs.length === 0 ? null : (
      <section className="stack">
        <h3>{words.needs}</h3>
        <ul className="stack small">
          {report.needs.map(({ secret, why }) => (
            <li key={secret}>
              <code>{secret}</code> {why}
            </li>
          ))}
        </ul>
      </section>
    )}
    {report.skipped.length === 0 ? null : (
      <section className="stack">
        <h3>{words.leftOut}</h3>
        <ul className="stack small">
          {report.skipped.map(({ operation, reason }) => (
            <li key={operation}>
              <code>{operation}</code> {reason}
            </li>
          ))}
        </ul>
      </section>
    )}
    {report.notes.map((note) => (
      <p key={note} className="faint small">
        {note}
      </p>
    ))}
  </>
)

export const OpenApi = ({ document }: { readonly document: string }) => {
  const [where, place] = useState<Where>({ prefix: "", baseUrl: "" })
  const [asked, look] = useState(where)
  const preview = useQuery({
    queryKey: ["openapi", document, asked.prefix, asked.baseUrl],
    queryFn: () => ask(document, asked, true),
    retry: false,
  })
  const added = useMutation({ mutationFn: () => ask(document, asked, false) })
  const report = preview.data
  if (added.data !== undefined && added.data.issues.length === 0)
    return (
      <div className="stack">
        <p className="note" data-tone="good" role="status">
          <Icon name="circle-check" small />
          <span>{words.imported(added.data.tools.length)}</span>
        </p>
        <p>
          <Link className="button" to="/tools" search={{ q: asked.prefix }}>
            {words.seeTools}
          </Link>
        </p>
      </div>
    )
  return (
    <section className="stack wide-gap" aria-label={words.fromApi}>
      <h2>{words.fromApi}</h2>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          look(where)
        }}
      >
        <InputField
          id="api-prefix"
          label={words.prefix}
          hint={words.prefixHint}
          value={where.prefix}
          onChange={({ target }) => place({ ...where, prefix: target.value })}
        />
        <InputField
          id="api-base"
          label={words.baseUrl}
          hint={words.baseUrlHint}
          value={where.baseUrl}
          onChange={({ target }) => place({ ...where, baseUrl: target.value })}
        />
        {where === asked ? null : (
          <p>
            <button type="submit" className="button">
              {words.lookAgain}
            </button>
          </p>
        )}
      </form>
      {preview.isPending ? <LoadingPane lines={4} /> : null}
      {preview.error === null ? null : <FaultPane error={preview.error} again={() => void preview.refetch()} />}
      {report === undefined ? null : (
        <>
          <section className="stack">
            <h3>{words.wouldBe(report.tools.length)}</h3>
            <ul className="rows">
              {report.tools.map((tool) => (
                <li key={tool.name} className="line">
                  <code>{tool.name}</code>
                  <span className="faint small cut">{tool.description}</span>
                  <span className="pill push">{words.risk(riskOf(tool))}</span>
                  {tool.requiresApproval === true ? (
                    <span className="pill" data-tone="warn">
                      {words.asks}
                    </span>
                  ) : null}
                </li>
              ))}
            </ul>
          </section>
          <ImportReport report={added.data ?? report} />
          {added.error === null ? null : <FaultPane error={added.error} />}
          {report.tools.length === 0 || report.issues.length > 0 ? null : (
            <p>
              <button
                type="button"
                className="button main-act"
                disabled={added.isPending || where !== asked}
                onClick={() => added.mutate()}
              >
                {words.importAll(report.tools.length)}
              </button>
            </p>
          )}
        </>
      )}
    </section>
  )
}
