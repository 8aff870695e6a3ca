/** A server is pasted, looked at, and then added: nothing of it is stored before that. */
import "./Servers.css"
import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { serverLines } from "../../feed/events/signals.ts"
import { useStore } from "../../feed/store.ts"
import { Header } from "../../layout/Header.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { OpenApi } from "./OpenApi.tsx"
import { openApiIn, type PastedServer, readPasted } from "./pasted.logic.ts"
import { ProgramNote } from "./ProgramNote.tsx"
import { words } from "./words/en.ts"

interface Wanted {
  readonly read: PastedServer
  /** The digest of the program that was shown, once it may run. */
  readonly confirm?: string
}

/**
 * Parsing is pure; keys are stored as secrets before the server is looked at with them. A program is only shown, and
 * nothing of it is stored, until somebody has confirmed it.
 */
const look = async ({ confirm, read }: Wanted) => {
  if (read.server.command === undefined || confirm !== undefined)
    for (const [name, value] of Object.entries(read.secrets)) await house.secrets.set(name, { value })
  return house.mcpServers.look(read.server, confirm === undefined ? {} : { confirm })
}

type ServerPreview = Awaited<ReturnType<typeof look>>

const Choice = ({ preview, read }: { readonly read: PastedServer; readonly preview: ServerPreview }) => {
  const navigate = useNavigate()
  const [off, set] = useState<ReadonlySet<string>>(new Set())
  const added = useMutation({
    mutationFn: () => {
      const allowedTools = preview.tools.map(({ name }) => name).filter((name) => !off.has(name))
      return house.mcpServers.add({ ...read.server, ...(off.size === 0 ? {} : { allowedTools }) })
    },
    onSuccess: ({ name }) => navigate({ to: "/servers/$server", params: { server: name } }),
  })
  const flip = (name: string) => {
    const next = new Set(off)
    if (!next.delete(name)) next.add(name)
    set(next)
  }
  return (
    <section className="stack">
      <p className="note" data-tone="good" role="status">
        <Icon name="circle-check" small />
        <span>{words.found(preview.version ?? "", preview.protocol ?? "", preview.tools.length)}</span>
      </p>
      <fieldset className="stack servers-choice">
        <legend className="label">{words.off}</legend>
        {preview.tools.map(({ description, name, risk }) => (
          <label key={name} className="line">
            <input type="checkbox" checked={!off.has(name)} onChange={() => flip(name)} />
            <code>{name}</code>
            <span className="faint small cut">{description}</span>
            <span className="pill push">{words.risk(risk)}</span>
          </label>
        ))}
      </fieldset>
      {added.error === null ? null : <FaultPane error={added.error} />}
      <p>
        <button type="button" className="button main-act" disabled={added.isPending} onClick={() => added.mutate()}>
          {words.addIt(read.server.name)}
        </button>
      </p>
    </section>
  )
}

export const AddServerScreen = () => {
  const [pasted, setPasted] = useState("")
  const [read, setRead] = useState<PastedServer | string>()
  const [api, setApi] = useState<string>()
  const [yaml, setYaml] = useState(false)
  const preview = useMutation({ mutationFn: look })
  const lines = useStore(serverLines)
  const begin = () => {
    const api = openApiIn(pasted)
    setApi(api === "json" ? pasted : undefined)
    setYaml(api === "yaml")
    if (api !== undefined) {
      setRead(undefined)
      return preview.reset()
    }
    try {
      const found = readPasted(pasted)
      setRead(found)
      preview.mutate({ read: found })
    } catch (cause) {
      setRead(cause instanceof Error ? cause.message : String(cause))
      preview.reset()
    }
  }
  const known = typeof read === "object" ? read : undefined
  const log = known === undefined ? [] : (lines.get(known.server.name) ?? [])
  return (
    <>
      <Header title={words.addTitle} up="/servers" />
      <div className="scroll grow">
        <div className="page narrow stack wide-gap">
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault()
              begin()
            }}
          >
            <label className="stack">
              <span className="label">{words.paste}</span>
              <textarea
                className="input mono"
                rows={7}
                placeholder={words.example}
                value={pasted}
                onChange={(event) => setPasted(event.target.value)}
              />
            </label>
            <p className="line wrap">
              <button type="submit" className="button main-act" disabled={preview.isPending || pasted.trim() === ""}>
                {words.look}
              </button>
              <label className="line small faint">
                {words.orFile}
                <input
                  type="file"
                  accept=".json,.yaml,.yml,application/json"
                  onChange={({ target }) => void target.files?.[0]?.text().then(setPasted)}
                />
              </label>
            </p>
          </form>
          {api === undefined ? null : <OpenApi key={api} document={api} />}
          {yaml ? (
            <p className="note" data-tone="warn" role="alert">
              <Icon name="circle-alert" small />
              <span>{words.yaml}</span>
            </p>
          ) : null}
          {typeof read === "string" ? (
            <p className="note" data-tone="bad" role="alert">
              <Icon name="circle-alert" small />
              <span>{words.unread(read)}</span>
            </p>
          ) : null}
          {known === undefined || known.count < 2 ? null : <p className="small">{words.several(known.count)}</p>}
          {known === undefined || Object.keys(known.secrets).length === 0 ? null : (
            <p className="small">{words.keys(Object.keys(known.secrets).join(", "))}</p>
          )}
          {preview.isPending ? (
            <>
              <p role="status">{words.looking}</p>
              <LoadingPane lines={3} />
            </>
          ) : null}
          {log.length === 0 ? null : <pre className="code scroll-x">{log.join("\n")}</pre>}
          {preview.error === null ? null : <FaultPane error={preview.error} again={begin} />}
          {preview.data?.program === undefined || known === undefined || preview.isPending ? null : (
            <ProgramNote program={preview.data.program} run={(confirm) => preview.mutate({ read: known, confirm })} />
          )}
          {preview.data?.status === "error" ? (
            <div className="note" data-tone="bad" role="alert">
              <Icon name="circle-alert" small />
              <div className="stack">
                <p className="strong">{words.failed[preview.data.failed ?? "protocol"]}</p>
                <p>{preview.data.error}</p>
              </div>
            </div>
          ) : null}
          {preview.data?.status === "connected" && known !== undefined ? (
            <Choice read={known} preview={preview.data} />
          ) : null}
        </div>
      </div>
    </>
  )
}
