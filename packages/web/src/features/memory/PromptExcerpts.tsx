/** Where a record is in the prompts of agents, with the text being edited in its place. */
import { usePeople } from "../../feed/start.ts"
import type { MemoryRecord } from "../../feed/types.ts"
import { counted } from "../../parts/figures/money.logic.ts"
import { isInEveryPrompt, type Excerpt, excerptOf } from "./memory.logic.ts"
import { usePrompts, useShares } from "./useMemory.ts"
import { words } from "./words/en.ts"

export type AgentExcerpts = ReadonlyArray<{ readonly agent: string; readonly place: Excerpt; readonly whole: number }>

/**
 * The prompts that contain it: of its owner, and of those it is shared with. Only the agent itself and admins may see
 * an agent's prompt.
 */
export const usePromptExcerpts = (record: MemoryRecord | undefined): AgentExcerpts => {
  const people = usePeople()
  const told = record !== undefined && isInEveryPrompt(record)
  const { data: shares = [] } = useShares(told ? record.id : "")
  const ids = told ? [record.owner, ...shares.map(({ principal }) => principal)] : []
  const agents = people.filter(({ id, kind, retiredAt }) => kind === "agent" && retiredAt === null && ids.includes(id))
  return usePrompts(agents.map(({ name }) => name)).flatMap(({ agent, prompt }) => {
    const place = excerptOf(prompt.sections, record!)
    return place === undefined ? [] : [{ agent, place, whole: prompt.tokens }]
  })
}

export const PromptExcerpts = ({ excerpts, text }: { readonly excerpts: AgentExcerpts; readonly text: string }) => (
  <aside className="scroll memory-prompt" aria-label={words.inPrompt}>
    <h3 className="label memory-label">{words.inPrompt}</h3>
    {excerpts.map(({ agent, place, whole }) => (
      <section key={agent} className="stack" aria-label={words.promptOf(agent)}>
        <p className="line wrap">
          <b>{words.promptOf(agent)}</b>
          <span className="faint small push">{words.tokensOf(counted(place.tokens), counted(whole))}</span>
        </p>
        <pre className="code" tabIndex={0}>
          {`# ${place.name}\n\n${place.before}`}
          <mark>{text}</mark>
          {place.after}
        </pre>
      </section>
    ))}
    <p className="faint small">{words.nextRun}</p>
  </aside>
)
