/** Adding a tool: first its kind, then its form. */
import { Link, useNavigate } from "@tanstack/react-router"
import { house } from "../../feed/house.ts"
import type { Json } from "../../feed/types.ts"
import { ToggleGroup } from "../../parts/form/ToggleGroup.tsx"
import { initialForm, newKinds } from "./toolForm.logic.ts"
import { toolsChanged } from "./ToolActions.tsx"
import { ToolEditor } from "./ToolEditor.tsx"
import { words } from "./words/en.ts"

export const NewTool = ({ kind: asked }: { readonly kind: string }) => {
  const navigate = useNavigate()
  const kind = newKinds.find((one) => one === asked) ?? "http"
  const save = async (form: Json) => {
    const made = await house.tools.add(form as never)
    await toolsChanged()
    await navigate({ to: "/tools/$tool", params: { tool: made.name } })
  }
  return (
    <div className="page narrow stack wide-gap">
      <div className="stack">
        <ToggleGroup
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
        begin={initialForm(kind)}
        save={save}
        cancel={() => void navigate({ to: "/tools" })}
      />
    </div>
  )
}
