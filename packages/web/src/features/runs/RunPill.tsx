import type { Run } from "../../feed/types.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { looksOf } from "./run.logic.ts"
import { words } from "./words/en.ts"

/** The state of a run: always an icon and a word. */
export const RunPill = ({ run }: { readonly run: Pick<Run, "state" | "stop"> }) => {
  const { icon, tone } = looksOf(run)
  return (
    <span className="pill" data-tone={tone}>
      <Icon name={icon} />
      {words.state(run)}
    </span>
  )
}
