/** A call of a step: its input, its output, who allowed it, and what it waits for. */
import { Link } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { HouseDecision } from "../../../cards/decision/HouseDecision.tsx"
import { WhyLink } from "../../../cards/WhyLink.tsx"
import { keys } from "../../../feed/cache.ts"
import { house } from "../../../feed/house.ts"
import { useNames } from "../../../feed/start.ts"
import type { Json, Run } from "../../../feed/types.ts"
import { Copy } from "../../../parts/text/Copy.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { JsonView } from "../../../parts/text/JsonView.tsx"
import { ExactTime } from "../../../parts/figures/Time.tsx"
import type { Span } from "../waterfall/spans.logic.ts"
import { useRunMessages } from "../useRuns.ts"
import { words } from "../words/en.ts"

const tones: Readonly<Record<string, { readonly tone: string; readonly icon: string }>> = {
  done: { tone: "good", icon: "check" },
  failed: { tone: "bad", icon: "circle-x" },
  refused: { tone: "bad", icon: "octagon-x" },
  expired: { tone: "bad", icon: "hourglass" },
  waiting: { tone: "warn", icon: "hourglass" },
  canceled: { tone: "", icon: "square" },
}

const Value = ({ label, value }: { readonly label: string; readonly value: Json }) => (
  <section className="stack">
    <h2 className="label line">
      {label}
      <Copy text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
    </h2>
    <JsonView value={value} label={label} />
  </section>
)

/** The same card as everywhere: the first answer counts, and every copy is updated. */
const CallDecision = ({ id }: { readonly id: string }) => {
  const { data } = useQuery({ queryKey: keys.decision(id), queryFn: () => house.decisions.get(id), retry: false })
  return data === undefined ? (
    <p className="note" data-tone="warn">
      <Icon name="hourglass" small />
      {words.needsDecision}
    </p>
  ) : (
    <HouseDecision decision={data} />
  )
}

export const CallPane = ({ run, span }: { readonly run: Run; readonly span: Span }) => {
  const call = span.call!
  const names = useNames()
  const { data } = useRunMessages(span.run, true)
  const got = data?.find((one) => one.kind === "tool_return_message" && one.call === call.call)
  const state = call.state ?? ""
  const { icon, tone } = tones[state] ?? { tone: "", icon: "play" }
  const open = call.decisions?.find(({ endedAt }) => endedAt === undefined)
  const answered = call.decisions?.filter(({ endedAt }) => endedAt !== undefined) ?? []
  const space = run.space
  return (
    <>
      <p className="line wrap">
        <code className="strong run-name">{call.tool}</code>
        <span className="pill" data-tone={tone}>
          <Icon name={icon} />
          {state === "" ? words.notMade : state === "waiting" ? words.waitsShort : state}
        </span>
      </p>
      {open === undefined ? null : <CallDecision id={open.id} />}
      {call.rule === undefined && answered.length === 0 ? null : (
        <section className="stack">
          <h2 className="label">{words.judgement}</h2>
          {call.rule === undefined ? null : (
            <p className="line small">
              <Icon name="shield-check" small />
              <span>
                {words.allowedBy} <code>{call.rule}</code>{" "}
                {span.run === run.id ? (
                  <WhyLink principal={names(run.agent)} tool={call.tool} space={run.space} />
                ) : null}
              </span>
            </p>
          )}
          {answered.map((one) => (
            <p key={one.id} className="line small">
              <Icon name="check" small />
              <span>
                {words.askedAndAnswered}, <ExactTime at={one.endedAt!} />
              </span>
            </p>
          ))}
        </section>
      )}
      <Value label={words.input} value={call.input as Json} />
      {got === undefined ? (
        call.endedAt === undefined ? (
          <p className="faint small">{words.noResult}</p>
        ) : null
      ) : got.error === undefined ? (
        got.output === undefined ? null : (
          <Value label={words.result} value={got.output as Json} />
        )
      ) : (
        <section className="stack">
          <h2 className="label">{words.error}</h2>
          <p className="note" data-tone="bad">
            {got.error.message}
          </p>
        </section>
      )}
      <dl className="kv tight">
        {call.call === undefined ? null : (
          <>
            <dt>{words.call}</dt>
            <dd className="line">
              <code>{`${call.call.slice(0, 12)}…${call.call.slice(-4)}`}</code>
              <Copy text={call.call} />
            </dd>
          </>
        )}
        {call.beganAt === undefined ? null : (
          <>
            <dt>{words.began}</dt>
            <dd>
              <ExactTime at={call.beganAt} />
            </dd>
          </>
        )}
      </dl>
      {space === null ? null : (
        <p>
          <Link className="button tiny" to="/s/$space" params={{ space }}>
            {words.inSpace}
          </Link>
        </p>
      )}
    </>
  )
}
