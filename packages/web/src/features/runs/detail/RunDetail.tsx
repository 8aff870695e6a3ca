/** The selected row: the call, the prompt and the model's output, and the raw data. */
import { Link } from "@tanstack/react-router"
import type { Json, Run, RunMessage } from "../../../feed/types.ts"
import { streamedTexts } from "../../../feed/events/signals.ts"
import { useStore } from "../../../feed/store.ts"
import { Copy } from "../../../parts/text/Copy.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { JsonView } from "../../../parts/text/JsonView.tsx"
import { counted, money } from "../../../parts/figures/money.logic.ts"
import { FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { ExactTime } from "../../../parts/figures/Time.tsx"
import { CallPane } from "./CallPane.tsx"
import type { Span } from "../waterfall/spans.logic.ts"
import { RetryHere } from "../RunActions.tsx"
import { RunPill } from "../RunPill.tsx"
import { nameOf } from "../waterfall/SpanRow.tsx"
import { useRunMessages } from "../useRuns.ts"
import { WaitPane } from "./WaitPane.tsx"
import { words } from "../words/en.ts"

export type DetailTab = "call" | "prompt" | "answer" | "raw"

export interface RunDetailProps {
  readonly run: Run
  readonly span: Span
  readonly tab: DetailTab
  /** Whether the user selected it: only then it covers the page if there is no room beside. */
  readonly chosen: boolean
  readonly names: (id: string) => string
  readonly show: (tab: DetailTab) => void
  readonly close: () => void
}

const PromptMessages = ({ messages }: { readonly messages: ReadonlyArray<RunMessage> }) => (
  <div className="calls run-parts">
    {messages.map((one) => {
      const body =
        one.text ??
        (one.kind === "tool_call_message"
          ? JSON.stringify(one.input, null, 2)
          : JSON.stringify(one.error ?? one.output ?? null, null, 2))
      return (
        <details key={one.seq} className="call">
          <summary>
            <Icon name="chevron-right" small />
            <span>{words.kinds[one.kind]}</span>
            <span className="gist">{one.tool ?? body.slice(0, 80)}</span>
            <span className="end">{counted(body.length)}</span>
          </summary>
          <pre className="code" tabIndex={0}>
            {body}
          </pre>
        </details>
      )
    })}
  </div>
)

/** The prompt of this step: everything before the model's output. */
const promptOf = (messages: ReadonlyArray<RunMessage>, step: number) =>
  messages.filter((one) => one.step < step || (one.step === 0 && step === 0))

const PromptPane = ({ span }: { readonly span: Span }) => {
  const { data, error, isPending, refetch } = useRunMessages(span.run, true)
  if (isPending) return <LoadingPane />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  return (
    <>
      <p className="faint small">{words.asSent}</p>
      <PromptMessages messages={promptOf(data, span.step)} />
    </>
  )
}

const AnswerPane = ({ span }: { readonly span: Span }) => {
  const said = useStore(streamedTexts).get(span.run)
  const step = span.runStep
  if (step === undefined) return null
  const text = step.state === "thinking" && said?.step === step.number ? said.text : step.text
  return (
    <>
      {text === "" ? (
        <p className="faint small">{step.calls.length === 0 ? words.nothingAtAll : words.nothingSaid}</p>
      ) : (
        <p className="run-said">{text}</p>
      )}
      {step.reasoning === undefined ? null : (
        <section className="stack">
          <h2 className="label">{words.reasoning}</h2>
          <p className="run-said small soft">{step.reasoning}</p>
        </section>
      )}
      <dl className="kv tight">
        <dt>{words.model}</dt>
        <dd>{step.model}</dd>
        <dt>{words.tokens}</dt>
        <dd>{words.tokensInOut(counted(step.tokens.in), counted(step.tokens.out))}</dd>
        <dt>{words.cost}</dt>
        <dd>{money(step.cost)}</dd>
        <dt>{words.finish}</dt>
        <dd>{step.finish}</dd>
        <dt>{words.began}</dt>
        <dd>
          <ExactTime at={step.beganAt} />
        </dd>
      </dl>
    </>
  )
}

const ChildPane = ({ names, span }: { readonly span: Span; readonly names: (id: string) => string }) => {
  const child = span.child!
  return (
    <>
      <p className="line wrap">
        <span className="strong">{words.subRun(names(child.agent))}</span>
        <RunPill run={child} />
      </p>
      <p>{child.trigger.summary}</p>
      <p>
        <Link className="button" to="/runs/$run" params={{ run: child.id }}>
          {words.openRun}
        </Link>
      </p>
    </>
  )
}

const rawOf = (span: Span): Json =>
  (span.child ?? span.wait ?? (span.kind === "model" ? span.runStep : (span.call ?? span.runStep))) as Json

const RawPane = ({ name, span }: { readonly span: Span; readonly name: string }) => {
  const raw = rawOf(span)
  return (
    <div>
      <div className="label line">
        {words.tabs["raw"]}
        <Copy text={JSON.stringify(raw, null, 2)} />
      </div>
      <JsonView value={raw} label={words.details(name)} />
    </div>
  )
}

const tabsOf = (span: Span): ReadonlyArray<DetailTab> =>
  span.call === undefined && span.child === undefined
    ? span.wait === undefined
      ? ["answer", "prompt", "raw"]
      : ["call", "raw"]
    : ["call", "prompt", "answer", "raw"]

export const RunDetail = ({ chosen, close, names, run, show, span, tab: wanted }: RunDetailProps) => {
  const tabs = tabsOf(span)
  const tab = tabs.includes(wanted) ? wanted : tabs[0]!
  const name = nameOf(span, names)
  return (
    <aside className={`panel scroll run-detail ${chosen ? "sheet" : ""}`} aria-label={words.details(name)}>
      <div className="tabs" role="tablist" aria-label={words.details(name)}>
        {tabs.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`run-tab-${one}`}
            aria-selected={one === tab}
            aria-controls="run-pane"
            onClick={() => show(one)}
          >
            {one === "call" && span.call === undefined && span.wait !== undefined ? words.wait : words.tabs[one]}
          </button>
        ))}
      </div>
      {chosen ? (
        <button type="button" className="button plain icon tiny sheet-close" aria-label={words.close} onClick={close}>
          <Icon name="x" small />
        </button>
      ) : null}
      <div className="in stack" role="tabpanel" id="run-pane" aria-labelledby={`run-tab-${tab}`}>
        {tab === "prompt" ? <PromptPane span={span} /> : null}
        {tab === "answer" ? <AnswerPane span={span} /> : null}
        {tab === "call" && span.child !== undefined ? <ChildPane span={span} names={names} /> : null}
        {tab === "call" && span.wait !== undefined ? <WaitPane wait={span.wait} /> : null}
        {tab === "call" && span.call !== undefined ? <CallPane run={run} span={span} /> : null}
        {span.run === run.id ? <RetryHere run={run} step={span.step} /> : null}
        {tab === "raw" ? <RawPane span={span} name={name} /> : null}
      </div>
    </aside>
  )
}
