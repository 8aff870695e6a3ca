/** Editing in place. Another person's newer version is never overwritten unseen, and typed text is never lost. */
import { useState } from "react"
import { house, isRefusal } from "../../feed/house.ts"
import type { MemoryRecord } from "../../feed/types.ts"
import { counted } from "../../parts/figures/money.logic.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { tagsFrom } from "./memory.logic.ts"
import { memoryChanged } from "./useMemory.ts"
import { words } from "./words/en.ts"

const most = 262_144

interface ThreeProps {
  readonly before: string
  readonly now: string
  readonly mine: string
}

const Three = ({ before, mine, now }: ThreeProps) => (
  <div className="memory-three">
    {[
      [words.yours, mine],
      [words.now, now],
      [words.before, before],
    ].map(([name, text]) => (
      <section key={name} className="stack">
        <h3 className="label">{name}</h3>
        <pre className="code" tabIndex={0}>
          {text}
        </pre>
      </section>
    ))}
  </div>
)

interface EditorProps {
  readonly record: MemoryRecord
  /** The present text, for components that show it elsewhere too. */
  readonly wrote: (text: string) => void
  readonly done: () => void
}

export const Editor = ({ done, record, wrote }: EditorProps) => {
  // The record when editing began: the save is based on its version.
  const [base] = useState(record)
  const [text, write] = useState(record.content)
  const [tags, tag] = useState(record.tags.join(", "))
  const [other, meet] = useState<MemoryRecord>()
  const [looked, look] = useState(false)
  const [fault, fail] = useState<unknown>()
  const [busy, work] = useState(false)
  const save = async (over: number) => {
    work(true)
    fail(undefined)
    try {
      await house.memory.change(record.id, { content: text, tags: tagsFrom(tags), expectedVersion: over })
      await memoryChanged()
      return done()
    } catch (error) {
      if (isRefusal(error, 409)) {
        look(false)
        meet(await house.memory.get(record.id).catch(() => undefined))
      } else fail(error)
    }
    work(false)
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void save(other?.version ?? base.version)
      }}
    >
      {other === undefined && record.version !== base.version ? (
        <p className="note" data-tone="warn" role="status">
          {words.movedOn(record.version)}
        </p>
      ) : null}
      {other === undefined ? null : (
        <div className="note stack" data-tone="warn" role="alert">
          <p>{words.changedWhile}</p>
          <Three before={base.content} now={other.content} mine={text} />
          <label className="line">
            <input type="checkbox" checked={looked} onChange={(event) => look(event.target.checked)} />
            {words.looked}
          </label>
        </div>
      )}
      <div className="field">
        <label htmlFor="memory-content">
          {words.content} <span className="hint num">{words.left(counted(most - text.length))}</span>
        </label>
        <textarea
          className="input memory-edit"
          id="memory-content"
          maxLength={most}
          value={text}
          ref={(field) => {
            if (field !== null && field.dataset["met"] === undefined) {
              field.dataset["met"] = ""
              field.focus()
            }
          }}
          onChange={(event) => {
            write(event.target.value)
            wrote(event.target.value)
          }}
        />
      </div>
      <div className="field">
        <label htmlFor="memory-tags">
          {words.tags} <span className="hint">{words.tagsHint}</span>
        </label>
        <input className="input" id="memory-tags" value={tags} onChange={(event) => tag(event.target.value)} />
      </div>
      {fault === undefined ? null : <FaultPane error={fault} />}
      <p className="line">
        <button type="submit" className="button main-act" disabled={busy || (other !== undefined && !looked)}>
          {other === undefined ? words.save : words.saveOver}
        </button>
        <button type="button" className="button plain" onClick={done}>
          {other === undefined ? words.cancel : words.takeNow}
        </button>
      </p>
    </form>
  )
}
