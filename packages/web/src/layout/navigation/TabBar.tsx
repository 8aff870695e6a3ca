import { Link, useLocation } from "@tanstack/react-router"
import { isMine } from "../../feed/myDecisions.logic.ts"
import { useStart } from "../../feed/start.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "../../words/en.ts"

/** A phone has no side: four tabs at the bottom, one pane at a time. */
export const TabBar = () => {
  const { decisions, me } = useStart()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const mine = decisions.filter((one) => isMine(one, me.id)).length
  const current = (is: boolean) => (is ? { "aria-current": "page" as const } : {})
  return (
    <nav className="tabs-bottom" aria-label={words.main}>
      <Link to="/spaces" {...current(path.startsWith("/s/") || path === "/spaces")}>
        <Icon name="message-square" />
        {words.spaces}
      </Link>
      <Link to="/decisions" {...current(path.startsWith("/decisions"))}>
        <Icon name="inbox" />
        {words.decisions}
        {mine === 0 ? null : <span className="count">{mine}</span>}
      </Link>
      <Link to="/runs" {...current(path.startsWith("/runs"))}>
        <Icon name="activity" />
        {words.runs}
      </Link>
      <Link to="/house" {...current(!/^\/(?:s\/|spaces|decisions|runs)/.test(path))}>
        <Icon name="menu" />
        {words.house}
      </Link>
    </nav>
  )
}
