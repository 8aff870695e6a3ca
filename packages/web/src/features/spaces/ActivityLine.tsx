/** Who is doing what now. */
import { Link } from "@tanstack/react-router"
import { activities } from "../../feed/events/signals.ts"
import { useStore } from "../../feed/store.ts"
import type { Space } from "../../feed/types.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { useNow } from "../../parts/figures/Time.tsx"
import { words } from "./words/en.ts"

export const ActivityLine = ({ me, space }: { readonly space: Space; readonly me: string }) => {
  const now = useNow(1000)
  const list = (useStore(activities).get(space.id) ?? []).filter(
    ({ until, waits, who }) => until > now && waits !== true && who !== me,
  )
  const [first] = list
  const member = space.members.find(({ id }) => id === first?.who)
  return (
    <p className="doing" role="status">
      {first === undefined || member === undefined ? null : (
        <>
          <Avatar name={member.name} kind={member.kind} size="s" />
          <span className="cut">
            {first.what === "writes" ? words.writes(member.name) : words.isWorking(member.name, first.step)}
            {first.tool === undefined ? null : (
              <>
                {words.calling} <code>{first.tool}</code>
              </>
            )}
          </span>
          {first.run === undefined ? null : (
            <Link to="/runs/$run" params={{ run: first.run }} className="push">
              {words.itsRun}
            </Link>
          )}
        </>
      )}
    </p>
  )
}
