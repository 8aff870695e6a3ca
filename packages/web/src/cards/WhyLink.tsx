/** A link from a call, a question or a refusal to every matching rule; for those who may see rules. */
import { Link } from "@tanstack/react-router"
import { useStart } from "../feed/start.ts"
import { words } from "./words/en.ts"

export interface WhyLinkProps {
  /** By name. */
  readonly principal: string
  readonly tool: string
  /** By id. */
  readonly space: string | null
}

export const WhyLink = ({ principal, space, tool }: WhyLinkProps) => {
  const { me, spaces } = useStart()
  if (!me.roles.includes("admin")) return null
  const place = spaces.find(({ id }) => id === space)
  return (
    <Link
      to="/why"
      search={{
        principal,
        action: "execute",
        resource: `tools/${tool}`,
        ...(place === undefined ? {} : { space: place.name }),
      }}
    >
      {words.why}
    </Link>
  )
}
