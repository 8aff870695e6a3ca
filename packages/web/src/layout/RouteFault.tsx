import { FaultPane } from "../parts/panes/Pane.tsx"
import { words } from "../words/en.ts"

/** An unknown address, or a screen that failed: shown in its place. */
export const RouteFault = ({ error }: { readonly error?: unknown }) => (
  <main className="page alone">
    <h1>{words.product}</h1>
    {error === undefined ? <p className="soft">{words.nothingHere}</p> : null}
    {error === undefined ? null : <FaultPane error={error} again={() => location.reload()} />}
    <p>
      <a href="/">{words.product}</a>
    </p>
  </main>
)

export const NotFound = () => <RouteFault />
