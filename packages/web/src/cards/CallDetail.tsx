/** An opened call: input and result side by side, and the rule that allowed it. */
import { Link } from "@tanstack/react-router"
import type { MessageCall } from "../feed/types.ts"
import { Copy } from "../parts/text/Copy.tsx"
import { JsonView } from "../parts/text/JsonView.tsx"
import { durationOf } from "../parts/figures/time.logic.ts"
import { errorWords } from "./call.logic.ts"
import { WhyLink } from "./WhyLink.tsx"
import { words } from "./words/en.ts"

export interface CallDetailProps {
  readonly call: MessageCall
  /** The caller's name. */
  readonly by: string
  readonly space: string
}

export const CallDetail = ({ by, call, space }: CallDetailProps) => {
  const { durationMs, rule } = call
  return (
    <div className="call-in">
      <div>
        <div className="label line">
          {words.input}
          <Copy text={JSON.stringify(call.input, null, 2)} label={words.copyInput} />
        </div>
        <JsonView value={call.input} label={words.input} />
      </div>
      <div>
        <div className="label line">
          {call.error === undefined ? words.result : words.error}
          {call.output === undefined ? null : (
            <Copy text={JSON.stringify(call.output, null, 2)} label={words.copyResult} />
          )}
        </div>
        {call.error !== undefined ? (
          <p className="note" data-tone="bad">
            {errorWords(call)}
          </p>
        ) : call.output === undefined ? (
          <p className="faint small">{words.running}</p>
        ) : (
          <JsonView value={call.output} label={words.result} />
        )}
      </div>
      <p className="call-foot">
        {rule !== undefined ? (
          <span>
            {words.allowedBy} <code>{rule}</code>
          </span>
        ) : null}
        {durationMs === undefined ? null : <span>{durationOf(durationMs)}</span>}
        {call.run === undefined ? null : (
          <Link
            to="/runs/$run"
            params={{ run: call.run.id }}
            search={{ span: `s${call.run.step}c${call.run.place}`, tab: "call" }}
          >
            {words.step(call.run.step)}
          </Link>
        )}
        <WhyLink principal={by} tool={call.tool} space={space} />
      </p>
    </div>
  )
}
