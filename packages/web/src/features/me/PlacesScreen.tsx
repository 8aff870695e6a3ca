/** On a phone: links to everything that is not a space or a decision. */
import { Link } from "@tanstack/react-router"
import { useStart } from "../../feed/start.ts"
import { Bar } from "../../frame/Bar.tsx"
import { placesFor } from "../../frame/navigation/places.ts"
import { Icon } from "../../parts/signs/Icon.tsx"
import { words } from "./words/en.ts"

export const PlacesScreen = () => {
  const { me } = useStart()
  return (
    <>
      <Bar title={words.house} />
      <nav className="scroll grow nav places" aria-label={words.house}>
        <Link to="/search">
          <Icon name="search" />
          <span>{words.search}</span>
        </Link>
        {placesFor(me).map(({ icon, name, to }) => (
          <Link key={to} to={to}>
            <Icon name={icon} />
            <span>{name}</span>
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
