/** Which actions on which resource, and for how long: the same form for a grant and for a delegation. */
import { type Action, actions, type Verdict, verdicts } from "@stoa/contract"
import { useMutation } from "@tanstack/react-query"
import { useId, useState, type FormEvent } from "react"
import { moment, now } from "../../feed/clock.ts"
import { InputField, SelectField } from "../../parts/form/Field.tsx"
import { lendingPeriods, longestLendingPeriod, millisOf, type Period } from "../../parts/form/periods.logic.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { isWaiting } from "./RevocableList.tsx"
import { words } from "./words/en.ts"

const grantSpans = ["hour", "day", "week"] as const

export interface RuleDraft {
  readonly resource: string
  readonly actions: ReadonlyArray<Action>
  readonly effect: Verdict
  readonly reason: string
  readonly expiresAt?: string
}

export interface RuleFormProps {
  readonly act: string
  /** A grant says allow, ask or deny; a delegation has a reason, and always ends. */
  readonly lends: boolean
  readonly send: (rule: RuleDraft) => Promise<unknown>
}

const text = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value.trim() : ""
}

export const RuleForm = ({ act, lends, send }: RuleFormProps) => {
  const id = useId()
  const [open, show] = useState(false)
  const sent = useMutation({ mutationFn: send, onSuccess: () => show(false) })
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const span = text(form, "span") as Period | "ever"
    sent.mutate({
      resource: text(form, "resource"),
      actions: actions.filter((one) => form.getAll("action").includes(one)),
      effect: lends ? "allow" : (text(form, "effect") as Verdict),
      reason: text(form, "reason"),
      ...(span === "ever" || (lends && span === longestLendingPeriod)
        ? {}
        : { expiresAt: moment(now() + millisOf(span)).toISOString() }),
    })
  }
  if (!open)
    return (
      <div className="stack">
        {isWaiting(sent.data) ? <p role="status">{words.second}</p> : null}
        <p>
          <button type="button" className="button" onClick={() => show(true)}>
            {act}
          </button>
        </p>
      </div>
    )
  return (
    <form className="card" aria-label={act} onSubmit={onSubmit}>
      <div className="in stack">
        <InputField
          id={`${id}-resource`}
          name="resource"
          label={words.resource}
          hint={words.resourceHint}
          defaultValue="tools/*"
          required
          maxLength={200}
        />
        <fieldset className="field">
          <legend className="name">{words.actions}</legend>
          <span className="line wrap">
            {actions.map((one) => (
              <label key={one} className="line">
                <input type="checkbox" name="action" value={one} defaultChecked={one === "execute"} />
                {one}
              </label>
            ))}
          </span>
        </fieldset>
        {lends ? (
          <InputField id={`${id}-reason`} name="reason" label={words.reason} required maxLength={1000} />
        ) : (
          <SelectField id={`${id}-effect`} name="effect" label={words.effect}>
            {verdicts.map((one) => (
              <option key={one} value={one}>
                {words.effects[one]}
              </option>
            ))}
          </SelectField>
        )}
        <SelectField
          id={`${id}-span`}
          name="span"
          label={words.howLong}
          hint={lends ? undefined : words.atMost}
          defaultValue={lends ? longestLendingPeriod : "ever"}
        >
          {(lends ? lendingPeriods : grantSpans).map((one) => (
            <option key={one} value={one}>
              {words.spans[one]}
            </option>
          ))}
          {lends ? null : <option value="ever">{words.spans.ever}</option>}
        </SelectField>
        {sent.error === null ? null : <FaultPane error={sent.error} />}
      </div>
      <footer>
        <button type="submit" className="button main-act" disabled={sent.isPending}>
          {act}
        </button>
        <button type="button" className="button plain" onClick={() => show(false)}>
          {words.cancel}
        </button>
      </footer>
    </form>
  )
}
