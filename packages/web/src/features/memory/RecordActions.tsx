/** What a record's owner can do: pin, publish, share, delete. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useNames, usePeople, useStart } from "../../feed/start.ts"
import type { MemoryRecord } from "../../feed/types.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { memoryChanged, useShares } from "./useMemory.ts"
import { words } from "./words/en.ts"

type OpenBox = "share" | "expiry" | "remove"
type RunAct = (act: () => Promise<unknown>) => void

const given = (value: FormDataEntryValue | null) => (typeof value === "string" ? value : "")

const ShareBox = ({ record, runAct }: { readonly record: MemoryRecord; readonly runAct: RunAct }) => {
  const { me } = useStart()
  const names = useNames()
  const people = usePeople().filter(({ id, retiredAt }) => id !== me.id && retiredAt === null)
  const { data: shares = [] } = useShares(record.id)
  return (
    <div className="note stack">
      {shares.map(({ principal, right }) => (
        <p key={principal} className="line">
          <span>
            {names(principal)}: {words.rights[right]}
          </span>
          <button
            type="button"
            className="button tiny plain push"
            aria-label={words.takeBack(names(principal))}
            onClick={() => runAct(() => house.memory.unshare(record.id, principal))}
          >
            <Icon name="x" small />
          </button>
        </p>
      ))}
      <form
        className="line wrap"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          const right = given(form.get("right")) === "write" ? "write" : "read"
          runAct(() => house.memory.share(record.id, given(form.get("who")), { right }))
        }}
      >
        <select className="input" name="who" aria-label={words.shareWith} required>
          {people.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <select className="input" name="right" aria-label={words.right}>
          {Object.entries(words.rights).map(([right, name]) => (
            <option key={right} value={right}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit" className="button tiny">
          {words.give}
        </button>
      </form>
    </div>
  )
}

const ExpiryBox = ({ record, runAct }: { readonly record: MemoryRecord; readonly runAct: RunAct }) => (
  <form
    className="note line wrap"
    onSubmit={(event) => {
      event.preventDefault()
      const day = given(new FormData(event.currentTarget).get("day"))
      runAct(() => house.memory.change(record.id, { expiresAt: `${day}T00:00:00.000Z` }))
    }}
  >
    <input
      className="input"
      type="date"
      name="day"
      required
      aria-label={words.expiry}
      defaultValue={record.expiresAt?.slice(0, 10) ?? ""}
    />
    <button type="submit" className="button tiny">
      {words.setExpiry}
    </button>
    {record.expiresAt === null ? null : (
      <button
        type="button"
        className="button tiny plain"
        onClick={() => runAct(() => house.memory.change(record.id, { expiresAt: null }))}
      >
        {words.never}
      </button>
    )}
  </form>
)

export interface RecordActionsProps {
  readonly record: MemoryRecord
  /** Whether its owner can also publish and delete it, and let it expire. */
  readonly rules: boolean
}

export const RecordActions = ({ record, rules }: RecordActionsProps) => {
  const [open, show] = useState<OpenBox>()
  const [fault, fail] = useState<unknown>()
  const runAct: RunAct = (act) => {
    fail(undefined)
    void act()
      .then(memoryChanged)
      .then(() => show(undefined))
      .catch(fail)
  }
  const turn = (one: OpenBox) => show(open === one ? undefined : one)
  if (record.deletedAt !== null)
    return (
      <p>
        <button type="button" className="button" onClick={() => runAct(() => house.memory.restore(record.id))}>
          {words.restore}
        </button>
      </p>
    )
  return (
    <div className="stack">
      <div className="line wrap" role="group" aria-label={words.acts}>
        <button
          type="button"
          className="button tiny"
          onClick={() => runAct(() => house.memory.change(record.id, { pinned: !record.pinned }))}
        >
          <Icon name="pin" small />
          {record.pinned ? words.unpin : words.pin}
        </button>
        {rules ? (
          <button
            type="button"
            className="button tiny"
            onClick={() => runAct(() => house.memory.change(record.id, { public: !record.public }))}
          >
            <Icon name="globe" small />
            {record.public ? words.makePrivate : words.makePublic}
          </button>
        ) : null}
        <button type="button" className="button tiny" aria-expanded={open === "share"} onClick={() => turn("share")}>
          <Icon name="users" small />
          {words.share}
        </button>
        {rules ? (
          <button
            type="button"
            className="button tiny"
            aria-expanded={open === "expiry"}
            onClick={() => turn("expiry")}
          >
            <Icon name="calendar-clock" small />
            {record.expiresAt === null ? words.expiry : words.expires(record.expiresAt.slice(0, 10))}
          </button>
        ) : null}
        {record.pinned || !rules ? null : (
          <button
            type="button"
            className="button tiny no"
            aria-expanded={open === "remove"}
            onClick={() => turn("remove")}
          >
            {words.remove}
          </button>
        )}
      </div>
      {open === "share" ? <ShareBox record={record} runAct={runAct} /> : null}
      {open === "expiry" ? <ExpiryBox record={record} runAct={runAct} /> : null}
      {open === "remove" ? (
        <Confirmation tone="bad" label={words.removeSure(record.key)} close={() => show(undefined)}>
          <span>{words.removeSure(record.key)}</span>
          <ActButton
            of={record.id}
            className="button tiny no"
            onClick={() => runAct(() => house.memory.remove(record.id))}
          >
            {words.remove}
          </ActButton>
          <button type="button" className="button tiny plain" data-first onClick={() => show(undefined)}>
            {words.cancel}
          </button>
        </Confirmation>
      ) : null}
      {fault === undefined ? null : <FaultPane error={fault} />}
    </div>
  )
}
