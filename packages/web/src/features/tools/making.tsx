/** Adding, changing and removing tools, for those who may; tools of the configuration file are changed there. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Tool } from "../../feed/tools.ts"
import type { Json } from "../../feed/types.ts"
import { OneOf } from "../../parts/form/OneOf.tsx"
import { AskOnce } from "../../parts/panes/AskOnce.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { beginning, newKinds } from "./form.logic.ts"
import { ToolEditor } from "./ToolEditor.tsx"
import { words } from "./words/en.ts"

const changed = () => cache.invalidateQueries({ queryKey: ["tools"] })

export const NewTool = ({ kind: asked }: { readonly kind: string }) => {
  const navigate = useNavigate()
  const kind = newKinds.find((one) => one === asked) ?? "http"
  const save = async (form: Json) => {
    const made = await house.tools.add(form as never)
    await changed()
    await navigate({ to: "/tools/$tool", params: { tool: made.name } })
  }
  return (
    <div className="page narrow stack wide-gap">
      <div className="stack">
        <OneOf
          options={newKinds}
          value={kind}
          nameOf={(one) => words.form.kinds[one]}
          choose={(one) => void navigate({ to: "/tools", search: { new: one } as never, replace: true })}
          label={words.form.kind}
        />
        <p className="soft">
          {words.form.kindHint[kind]} <Link to="/servers/add">{words.form.otherWays}</Link>
        </p>
      </div>
      <ToolEditor
        key={kind}
        title={words.addTool}
        act={words.addIt}
        isNew
        begin={beginning(kind)}
        save={save}
        cancel={() => void navigate({ to: "/tools" })}
      />
    </div>
  )
}

interface ChangeProps {
  readonly tool: Tool
  readonly done: () => void
}

const Change = ({ done, tool }: ChangeProps) => {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["tools", "form", tool.name],
    queryFn: () => house.tools.form(tool.name) as Promise<unknown> as Promise<Json>,
  })
  const save = async (form: Json) => {
    await house.tools.change(tool.name, form as never)
    await changed()
    done()
  }
  if (isPending) return <LoadingPane />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  return (
    <ToolEditor
      title={words.changeTool(tool.name)}
      act={words.saveIt}
      isNew={false}
      begin={data}
      save={save}
      cancel={done}
    />
  )
}

/** The possible actions on a configured tool. */
export const ToolActs = ({ tool }: { readonly tool: Tool }) => {
  const navigate = useNavigate()
  const [edits, edit] = useState(false)
  const remove = async () => {
    await house.tools.remove(tool.name)
    await changed()
    await navigate({ to: "/tools" })
  }
  if (tool.declaredIn !== undefined)
    return (
      <p className="note">
        <span>
          {words.declared} <code>{tool.declaredIn.key}</code> {words.inFile}{" "}
          <code className="whole">{tool.declaredIn.file}</code>. {words.changedThere}
        </span>
      </p>
    )
  if (edits) return <Change tool={tool} done={() => edit(false)} />
  return (
    <div className="line wrap top">
      <button type="button" className="button" onClick={() => edit(true)}>
        {words.change}
      </button>
      <AskOnce
        act={words.remove}
        question={words.removeAsk(tool.name)}
        yes={words.yesRemove}
        no={words.keep}
        onYes={remove}
      />
    </div>
  )
}
