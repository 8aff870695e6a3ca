/** On a phone: links to everything that is not a space or a decision. */
import { Link } from "@tanstack/react-router"
import { useOffersWaiting, useStart } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { menuFor } from "../../layout/navigation/menu.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "./words/en.ts"

export const MenuScreen = () => {
  const { me } = useStart()
  const offers = useOffersWaiting()?.all ?? 0
  return (
    <>
      <Header title={words.house} />
      <nav className="scroll grow nav menu-list" aria-label={words.house}>
        <Link to="/search">
          <Icon name="search" />
          <span>{words.search}</span>
        </Link>
        {menuFor(me).map(({ icon, name, to }) => (
          <Link key={to} to={to}>
            <Icon name={icon} />
            <span>{name}</span>
            {to !== "/memory" || offers === 0 ? null : <span className="count push">{offers}</span>}
          </Link>
        ))}
        <Link to="/help/$page" params={{ page: "first-steps" }}>
          <Icon name="circle-help" />
          <span>{words.help}</span>
        </Link>
      </nav>
    </>
  )
}
