/** What the model would see now: the persona, and every part with its size. Viewing it sends nothing. */
import { useState } from "react"
import { house } from "../../../feed/house.ts"
import { cache } from "../../../feed/cache.ts"
import { Copy } from "../../../parts/text/Copy.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { counted } from "../../../parts/figures/money.logic.ts"
import { FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { partsOf } from "../agents.logic.ts"
import { PersonaField } from "../PersonaField.tsx"
import { type Agent, agentsChanged, usePrompt } from "../useAgents.ts"
import { words } from "../words/en.ts"

const Persona = ({
  agent,
  may,
}: {
  readonly agent: Pick<Agent, "name" | "persona" | "source">
  readonly may: boolean
}) => {
  const kept = agent.persona ?? ""
  const [text, write] = useState(kept)
  const [fault, fail] = useState<unknown>()
  const [busy, work] = useState(false)
  const owned = agent.source === "file"
  const save = async () => {
    work(true)
    fail(undefined)
    try {
      await house.agents.change(agent.name, { persona: text === "" ? null : text })
      await Promise.all([agentsChanged(), cache.invalidateQueries({ queryKey: ["memory", "prompt", agent.name] })])
    } catch (error) {
      fail(error)
    }
    work(false)
  }
  return (
    <div className="stack">
      <PersonaField
        id="agent-persona"
        value={text}
        readOnly={owned || !may}
        {...(text === kept ? {} : { "data-changed": "" })}
        onChange={(event) => write(event.target.value)}
      />
      {text === kept || owned ? null : (
        <p className="line">
          <button type="button" className="button tiny main-act" disabled={busy} onClick={() => void save()}>
            {words.save}
          </button>
          <button type="button" className="button tiny plain" onClick={() => write(kept)}>
            {words.cancel}
          </button>
        </p>
      )}
      {fault === undefined ? null : <FaultPane error={fault} />}
    </div>
  )
}

const Parts = ({ name }: { readonly name: string }) => {
  const { data, error, isPending, refetch } = usePrompt(name, true)
  const [whole, show] = useState(false)
  if (isPending) return <LoadingPane lines={5} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  const tools = data.tools.names
  const parts = partsOf([
    ...data.sections,
    ...(tools.length === 0 ? [] : [{ ...data.tools, name: words.toolCount(tools.length), text: tools.join("\n") }]),
  ])
  return (
    <section className="stack">
      <div className="line wrap">
        <h3>{words.sees}</h3>
        <span className="push faint small num">
          {data.window === null
            ? words.about(counted(data.tokens))
            : words.aboutOf(counted(data.tokens), counted(data.window))}
        </span>
      </div>
      <div className="agents-bar" role="img" aria-label={words.parts}>
        {parts.map(({ section, share, tint }) => (
          <i key={section.name} className={`t-${tint}`} style={{ width: `${share * 100}%` }} />
        ))}
      </div>
      {whole ? (
        <pre className="code agents-whole" tabIndex={0}>
          {data.text}
        </pre>
      ) : (
        <div className="calls agents-parts">
          {parts.map(({ section, tint }) => (
            <details key={section.name} className="call">
              <summary>
                <Icon name="chevron-right" small />
                <span className={`agents-dot t-${tint}`} />
                <span>{section.name}</span>
                <span className="gist wide-only">{section.text.replaceAll(/\s+/g, " ").slice(0, 80)}</span>
                <span className="end" title={words.size(counted(section.size))}>
                  {counted(section.tokens)}
                </span>
              </summary>
              <pre className="code agents-whole" tabIndex={0}>
                {section.text}
              </pre>
            </details>
          ))}
        </div>
      )}
      <p className="faint small">{words.estimate}</p>
      <p className="line wrap">
        <button type="button" className="button tiny" aria-pressed={whole} onClick={() => show(!whole)}>
          <Icon name="eye" small />
          {whole ? words.seeParts : words.seeWhole}
        </button>
        <Copy text={data.text} />
        <span className="push faint small">{words.nothingSent}</span>
      </p>
    </section>
  )
}

export const PromptPane = ({
  agent,
  may,
}: {
  readonly agent: Pick<Agent, "name" | "persona" | "source">
  readonly may: boolean
}) => (
  <>
    <Persona key={agent.persona ?? ""} agent={agent} may={may} />
    {may ? <Parts name={agent.name} /> : <p className="faint small">{words.promptForAdmins}</p>}
  </>
)
