/** Changing and removing a tool, for those who may; tools of the configuration file are changed there. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Tool } from "../../feed/tools.ts"
import type { Json } from "../../feed/types.ts"
import { ConfirmButton } from "../../parts/panes/ConfirmButton.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { ToolEditor } from "./ToolEditor.tsx"
import { words } from "./words/en.ts"

export const toolsChanged = () => cache.invalidateQueries({ queryKey: ["tools"] })

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
    await toolsChanged()
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
export const ToolActions = ({ tool }: { readonly tool: Tool }) => {
  const navigate = useNavigate()
  const [edits, edit] = useState(false)
  const remove = async () => {
    await house.tools.remove(tool.name)
    await toolsChanged()
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
      <ConfirmButton
        act={words.remove}
        question={words.removeAsk(tool.name)}
        yes={words.yesRemove}
        no={words.keep}
        onYes={remove}
      />
    </div>
  )
}
