/** Everything is paused: said on every screen, with the reason; Overview says it itself, and can lift it. */
import { useQuery } from "@tanstack/react-query"
import { Link, useLocation } from "@tanstack/react-router"
import { house } from "../feed/house.ts"
import { useNames, useStart } from "../feed/start.ts"
import { Icon } from "../parts/icons/Icon.tsx"
import { ClockTime } from "../parts/figures/Time.tsx"
import { words } from "../words/en.ts"

export const PausedBanner = () => {
  const { me } = useStart()
  const names = useNames()
  const { pathname } = useLocation()
  const { data } = useQuery({
    queryKey: ["pauses"],
    queryFn: async () => (await house.pauses.list()).items,
    // Users who may not see pauses would be refused, and the refusal recorded, on every screen.
    enabled: me.roles.includes("admin"),
    retry: false,
  })
  const all = data?.find(({ subject }) => subject === "everything")
  if (all === undefined || pathname === "/overview") return null
  return (
    <p className="note paused-all" data-tone="bad" role="status">
      <Icon name="circle-pause" small />
      <span>
        <b>{words.allPaused}</b> {words.pausedBy(names(all.by))} <ClockTime at={all.createdAt} />
        {all.reason === "" ? "" : `: “${all.reason}”`}. <Link to="/overview">{words.overview}</Link>
      </span>
    </p>
  )
}
