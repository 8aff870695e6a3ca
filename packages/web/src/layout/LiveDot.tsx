import { live } from "../feed/events/Feed.ts"
import { useStore } from "../feed/store.ts"
import { useNow } from "../parts/figures/Time.tsx"
import { words } from "../words/en.ts"

const Waiting = ({ until }: { readonly until: number }) => {
  const now = useNow(500)
  return <>{words.reconnecting(Math.max(0, Math.ceil((until - now) / 1000)))}</>
}

/** Whether the screen is up to date. */
export const LiveDot = () => {
  const now = useStore(live)
  return (
    <span className="live push" role="status" data-state={now.state === "live" ? "live" : "waiting"}>
      {now.state === "waiting" ? (
        <Waiting until={now.until} />
      ) : now.state === "live" ? (
        words.live
      ) : now.state === "offline" ? (
        words.offline
      ) : (
        words.opening
      )}
    </span>
  )
}
