/** A new record, with a key under which it can be found. */
import { useNavigate } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import { house } from "../../feed/house.ts"
import { Field, InputField } from "../../parts/form/Field.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { memoryChanged } from "./useMemory.ts"
import { words } from "./words/en.ts"

export const NewRecord = () => {
  const navigate = useNavigate()
  const [fault, fail] = useState<unknown>()
  const add = async (form: FormData) => {
    const text = (name: string) => {
      const value = form.get(name)
      return typeof value === "string" ? value : ""
    }
    const kind = text("kind")
    const made = await house.memory.put({
      kind,
      // Blocks of this namespace are in agents' prompts.
      ...(kind === "block" ? { namespace: "office" as const } : {}),
      key: text("key"),
      content: text("content"),
      expectedVersion: 0,
    })
    await memoryChanged()
    await navigate({ to: "/memory/$id", params: { id: made.id } })
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    fail(undefined)
    void add(new FormData(event.currentTarget)).catch(fail)
  }
  return (
    <form className="page stack memory-record" onSubmit={onSubmit}>
      <h2>{words.newRecord}</h2>
      <InputField id="memory-key" label={words.key} hint={words.keyHint} name="key" required maxLength={512} />
      <InputField
        id="memory-kind"
        label={words.kind}
        hint={words.kindHint}
        name="kind"
        required
        maxLength={64}
        defaultValue="note"
      />
      <Field id="memory-new" label={words.content}>
        <textarea className="input memory-edit" id="memory-new" name="content" required />
      </Field>
      {fault === undefined ? null : <FaultPane error={fault} />}
      <p>
        <button type="submit" className="button main-act">
          {words.make}
        </button>
      </p>
    </form>
  )
}
