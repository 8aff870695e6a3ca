/** Changes a judgement where it is shown: first says what the change would mean, then makes it and judges again. */
import { useMutation } from "@tanstack/react-query"
import { useId, useState } from "react"
import { cache } from "../../feed/cache.ts"
import { moment, now } from "../../feed/clock.ts"
import { house } from "../../feed/house.ts"
import { InputField, SelectField } from "../../parts/form/Field.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import {
  type AllowListGate,
  millisAskedFor,
  type AccessQuestion,
  effectOf,
  type RulePeriod,
  periodsFor,
  defaultPeriod,
  type ChangeKind,
  changeKindsFor,
} from "./accessForm.logic.ts"
import { words } from "./words/en.ts"

/** A change of rights may need a second person: then nothing has changed yet. */
export const isWaiting = (answer: unknown): boolean =>
  typeof answer === "object" && answer !== null && "state" in answer && answer.state === "waiting"

/** Reloads the shown judgement. */
export const reloadJudgement = () =>
  Promise.all([
    cache.invalidateQueries({ queryKey: ["grants"] }),
    cache.invalidateQueries({ queryKey: ["allow-lists"] }),
    cache.invalidateQueries({ queryKey: ["tools"] }),
  ])

interface Change {
  readonly kind: ChangeKind
  readonly period: RulePeriod
  readonly reason: string
}

const setListed = async ({ context, toolset }: AllowListGate, tool: string, isOn: boolean) => {
  const place = { toolset: toolset as never, context: context as never }
  const { tools } = await house.allowLists.get(place.toolset, place.context)
  const others = tools.filter((one) => one !== tool)
  return house.allowLists.set(place.toolset, place.context, { tools: isOn ? [...others, tool] : others })
}

const applyChange = async (
  { action, resource, who }: AccessQuestion,
  { reason, period, kind }: Change,
  list?: AllowListGate,
) => {
  const millis = millisAskedFor(kind, period)
  const expires = millis === undefined ? {} : { expiresAt: moment(now() + millis).toISOString() }
  const right = { actions: [action as "read"], resource }
  if (kind === "list" || kind === "unlist") return setListed(list!, resource.replace(/^tools\//, ""), kind === "list")
  if (kind === "lend") return house.delegations.add({ to: who, ...right, reason, ...expires })
  return house.grants.add({ principal: who, ...right, effect: kind, ...expires })
}

export interface AccessFormProps {
  readonly asked: AccessQuestion
  readonly isMe: boolean
  /** Whether the allow list contains the tool, and which list it is; undefined if no list applies. */
  readonly gate: { readonly passes: boolean; readonly allowList?: AllowListGate | undefined } | undefined
}

export const AccessForm = ({ asked, gate, isMe }: AccessFormProps) => {
  const id = useId()
  const list = gate?.allowList
  const ways = changeKindsFor(isMe, gate?.passes ?? true, list)
  const [open, show] = useState(false)
  const [sure, ask] = useState(false)
  const [change, set] = useState<Change>({ kind: "allow", period: defaultPeriod("allow"), reason: "" })
  const done = useMutation({
    mutationFn: async () => {
      const answer = await applyChange(asked, change, list)
      await reloadJudgement()
      return answer
    },
    onSuccess: () => {
      show(false)
      ask(false)
    },
  })
  if (!open)
    return (
      <div className="stack">
        {done.data === undefined ? null : <p role="status">{isWaiting(done.data) ? words.second : words.done}</p>}
        <p>
          <button type="button" className="button" onClick={() => show(true)}>
            {words.change}
          </button>
        </p>
      </div>
    )
  const put = (more: Partial<Change>) => {
    set({ ...change, ...more })
    ask(false)
  }
  const lends = change.kind === "lend"
  const listed = change.kind === "list" || change.kind === "unlist"
  return (
    <form
      className="card"
      aria-label={words.change}
      onSubmit={(event) => {
        event.preventDefault()
        ask(true)
      }}
    >
      <div className="in stack">
        <SelectField
          id={`${id}-way`}
          label={words.how}
          value={change.kind}
          onChange={({ target }) => {
            const kind = target.value as ChangeKind
            put({ kind, period: defaultPeriod(kind) })
          }}
        >
          {ways.map((one) => (
            <option key={one} value={one}>
              {words.ways[one]}
            </option>
          ))}
        </SelectField>
        {lends ? (
          <InputField
            id={`${id}-reason`}
            label={words.reason}
            required
            maxLength={1000}
            value={change.reason}
            onChange={({ target }) => put({ reason: target.value })}
          />
        ) : null}
        {listed ? null : (
          <SelectField
            id={`${id}-span`}
            label={words.howLong}
            value={change.period}
            onChange={({ target }) => put({ period: target.value as RulePeriod })}
          >
            {periodsFor(change.kind).map((one) => (
              <option key={one} value={one}>
                {words.spans[one]}
              </option>
            ))}
          </SelectField>
        )}
        {sure ? (
          <p className="note" data-tone="warn" role="alert">
            {effectOf(change.kind, asked, change.period, list)}
          </p>
        ) : null}
        {done.error === null ? null : <FaultPane error={done.error} />}
      </div>
      <footer>
        {sure ? (
          <button type="button" className="button main-act" disabled={done.isPending} onClick={() => done.mutate()}>
            {words.yesChange}
          </button>
        ) : (
          <button type="submit" className="button main-act">
            {words.next}
          </button>
        )}
        <button
          type="button"
          className="button plain"
          onClick={() => {
            show(false)
            ask(false)
          }}
        >
          {words.leave}
        </button>
      </footer>
    </form>
  )
}
