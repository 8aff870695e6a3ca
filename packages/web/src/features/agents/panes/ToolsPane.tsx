/** The tools an agent has, and why; those it does not have, and why not. */
import { Icon } from "../../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { useTools } from "../useAgents.ts"
import { words } from "../words/en.ts"

export const ToolsPane = ({ name }: { readonly name: string }) => {
  const { data, error, isPending, refetch } = useTools(name)
  if (isPending) return <LoadingPane lines={6} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <EmptyPane>{words.toolsEmpty}</EmptyPane>
  return (
    <>
      <p className="faint small">{words.hasTools(data.items.length)}</p>
      <ul className="rows agents-tools">
        {data.items.map((tool) => (
          <li key={tool.name}>
            <code>{tool.name}</code>
            <span className="faint small cut">{tool.description}</span>
            <span className="tag">{tool.set}</span>
            {tool.asks === true ? (
              <span className="pill" data-tone="warn">
                <Icon name="inbox" />
                {words.asks}
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      {data.leftOut.length === 0 ? null : (
        <details>
          <summary className="line">
            <Icon name="chevron-right" small />
            {words.leftOut} <span className="count quiet">{data.leftOut.length}</span>
          </summary>
          <ul className="rows agents-tools">
            {data.leftOut.map((tool) => (
              <li key={tool.name}>
                <code>{tool.name}</code>
                <span className="faint small">{tool.why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
