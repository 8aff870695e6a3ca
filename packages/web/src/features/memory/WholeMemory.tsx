/** The user's whole memory: export, import, erase. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { chunksOf, kindsIn, linesIn } from "./memory.logic.ts"
import { exportMemory, memoryChanged } from "./useMemory.ts"
import { words } from "./words/en.ts"

/** As many as the house accepts at once. */
const atOnce = 200

const saveFile = (text: string, name: string) => {
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }))
  const anchor = document.createElement("a")
  anchor.href = address
  anchor.download = name
  anchor.click()
  URL.revokeObjectURL(address)
}

const ImportBox = () => {
  const [read, take] = useState<ReturnType<typeof linesIn>>()
  const [done, tell] = useState<string>()
  const [fault, fail] = useState<unknown>()
  const bringIn = async () => {
    if (read === undefined || "bad" in read) return
    let written = 0
    let unchanged = 0
    for (const lines of chunksOf(read.lines, atOnce)) {
      const said = await house.memory.import({ lines: lines as never })
      written += said.written
      unchanged += said.unchanged
    }
    take(undefined)
    tell(words.imported(written, unchanged))
    await memoryChanged()
  }
  return (
    <section className="stack">
      <h3>{words.import}</h3>
      <p className="faint small">{words.importIt}</p>
      <input
        type="file"
        accept=".jsonl,.ndjson,application/x-ndjson"
        aria-label={words.import}
        onChange={(event) => {
          tell(undefined)
          fail(undefined)
          void event.target.files?.[0]?.text().then((text) => take(linesIn(text)))
        }}
      />
      {read === undefined ? null : "bad" in read ? (
        <p className="note" data-tone="bad">
          {words.importBad(read.bad)}
        </p>
      ) : (
        <p className="note line wrap">
          <span>{words.importPreview(read.lines.length, kindsIn(read.lines))}</span>
          <button type="button" className="button tiny main-act" onClick={() => void bringIn().catch(fail)}>
            {words.importDo}
          </button>
        </p>
      )}
      {done === undefined ? null : <p role="status">{done}</p>}
      {fault === undefined ? null : <FaultPane error={fault} />}
    </section>
  )
}

const EraseBox = () => {
  const { me } = useStart()
  const [count, found] = useState<number>()
  const [name, write] = useState("")
  const [done, tell] = useState<string>()
  const [fault, fail] = useState<unknown>()
  const look = async () => found((await house.memory.erase({ confirm: me.name, dryRun: true })).erased)
  const erase = async () => {
    const { erased } = await house.memory.erase({ confirm: name })
    found(undefined)
    write("")
    tell(words.erased(erased))
    await memoryChanged()
  }
  return (
    <section className="stack">
      <h3>{words.erase}</h3>
      {count === undefined ? (
        <p>
          <button type="button" className="button no" onClick={() => void look().catch(fail)}>
            {words.erase}
          </button>
        </p>
      ) : (
        <form
          className="note stack"
          data-tone="bad"
          onSubmit={(event) => {
            event.preventDefault()
            void erase().catch(fail)
          }}
        >
          <label htmlFor="erase-name">{words.eraseWhat(count)}</label>
          <input
            className="input"
            id="erase-name"
            autoComplete="off"
            value={name}
            onChange={(event) => write(event.target.value)}
          />
          <p className="line">
            <ActButton of={me.id} type="submit" className="button tiny no" disabled={name !== me.name}>
              {words.eraseDo}
            </ActButton>
            <button type="button" className="button tiny plain" onClick={() => found(undefined)}>
              {words.cancel}
            </button>
          </p>
        </form>
      )}
      {done === undefined ? null : <p role="status">{done}</p>}
      {fault === undefined ? null : <FaultPane error={fault} />}
    </section>
  )
}

export const WholeMemory = () => {
  const { me } = useStart()
  const [fault, fail] = useState<unknown>()
  return (
    <div className="page stack memory-record">
      <h2>{words.keep}</h2>
      <section className="stack">
        <h3>{words.export}</h3>
        <p className="faint small">{words.exportIt}</p>
        <p>
          <button
            type="button"
            className="button"
            onClick={() => void exportMemory().then((text) => saveFile(text, `${me.name}.jsonl`), fail)}
          >
            <Icon name="download" small />
            {words.export}
          </button>
        </p>
        {fault === undefined ? null : <FaultPane error={fault} />}
      </section>
      <ImportBox />
      <EraseBox />
    </div>
  )
}
