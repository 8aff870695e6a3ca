import { Link } from "@tanstack/react-router"
import { isMine } from "../../feed/myDecisions.logic.ts"
import { useHeld, useLiveRuns, useOffersWaiting, useStart } from "../../feed/start.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { Logo } from "../../parts/icons/Logo.tsx"
import { words } from "../../words/en.ts"
import { toggle } from "../../parts/press/overlays.ts"
import { LiveDot } from "../LiveDot.tsx"
import { menuFor } from "./menu.ts"
import { sidebarLists, spaceIcon } from "./sidebar.logic.ts"

const Count = ({ of, words: said }: { readonly of: number; readonly words: string }) =>
  of === 0 ? null : (
    <span className="count push">
      <span aria-hidden="true">{of}</span>
      <span className="vh">{said}</span>
    </span>
  )

const unreadMark = (unread: number) => (unread > 0 ? { "data-unread": "" } : {})

export const Sidebar = () => {
  const { decisions, house, me, spaces } = useStart()
  const mine = decisions.filter((one) => isMine(one, me.id)).length
  const live = useLiveRuns().data?.length ?? 0
  const held = useHeld()
  const offers = useOffersWaiting()?.all ?? 0
  const marks: Readonly<Record<string, readonly [count: number, said: string]>> = {
    "/servers": [held, words.heldTools(held)],
    "/memory": [offers, words.offersWait(offers)],
  }
  const lists = sidebarLists(spaces, me.id)
  return (
    <aside className="side" aria-label={words.house}>
      <Link className="wordmark" to="/">
        <Logo />
        <b>{words.product}</b>
        <span className="cut">{house.name === words.product ? house.version : house.name}</span>
      </Link>
      <button type="button" className="jump" onClick={() => toggle("jump")}>
        <Icon name="search" small />
        {words.jump}
        <kbd>{words.jumpKeys}</kbd>
      </button>
      <nav className="nav" aria-label={words.main}>
        <Link to="/decisions" {...unreadMark(mine)}>
          <Icon name="inbox" />
          <span className="cut">{words.decisions}</span>
          <Count of={mine} words={words.waitsForYou(mine)} />
        </Link>
        <Link to="/runs">
          <Icon name="activity" />
          <span className="cut">{words.runs}</span>
          {live === 0 ? null : <span className="count quiet push">{words.liveRuns(live)}</span>}
        </Link>
        <div className="label">
          {words.spaces}
          <Link to="/spaces" search={{ open: true }} className="add" aria-label={words.openSpace}>
            <Icon name="plus" small />
          </Link>
        </div>
        {lists.spaces.map((space) => (
          <Link key={space.id} to="/s/$space" params={{ space: space.name }} {...unreadMark(space.unread)}>
            <Icon name={spaceIcon(space.kind)} />
            <span className="cut">{space.name}</span>
            <Count of={space.unread} words={words.unread(space.unread)} />
          </Link>
        ))}
        {lists.pairs.length === 0 ? null : <div className="label">{words.betweenTwo}</div>}
        {lists.pairs.map(({ other, space }) => (
          <Link key={space.id} to="/s/$space" params={{ space: space.name }} {...unreadMark(space.unread)}>
            <Avatar name={other?.name ?? space.name} kind={other?.kind ?? "person"} size="s" />
            <span className="cut">{other?.name ?? space.name}</span>
            <Count of={space.unread} words={words.unread(space.unread)} />
          </Link>
        ))}
        <div className="label">{words.house}</div>
        {menuFor(me).map(({ icon, name, to }) => (
          <Link key={to} to={to} {...unreadMark(marks[to]?.[0] ?? 0)}>
            <Icon name={icon} />
            <span className="cut">{name}</span>
            {marks[to] === undefined ? null : <Count of={marks[to][0]} words={marks[to][1]} />}
          </Link>
        ))}
      </nav>
      <div className="me">
        <Avatar name={me.name} kind={me.kind} size="s" />
        <Link to="/me" className="cut who">
          <span className="strong">{me.name}</span> <span className="faint small">{me.roles[0] ?? me.kind}</span>
        </Link>
        <LiveDot />
      </div>
    </aside>
  )
}
