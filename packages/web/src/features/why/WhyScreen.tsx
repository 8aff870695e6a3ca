/** Why somebody may or may not, and who did what. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { Bar } from "../../frame/Bar.tsx"
import { type Filters, Trail } from "./Trail.tsx"
import { Judgement, type Question } from "./Judgement.tsx"
import { words } from "./words/en.ts"

export const WhyScreen = () => {
  const search: Question & Filters = useSearch({ strict: false })
  const navigate = useNavigate()
  const { me } = useStart()
  const people = useQuery({ queryKey: [...keys.people, "all"], queryFn: () => house.principals.list({ limit: 100 }) })
  const names = new Map((people.data?.items ?? [me]).map(({ id, name }) => [id, name]))
  const put = (more: Question & Filters) => {
    const all = Object.entries({ ...search, ...more }).filter(([, value]) => value !== undefined && value !== "")
    void navigate({ to: "/why", search: Object.fromEntries(all) })
  }
  const all = [me.name, ...[...names.values()].filter((name) => name !== me.name)]
  return (
    <>
      <Bar title={words.title} up="/house" />
      <div className="scroll grow">
        <div className="page stack wide-gap">
          <Judgement key={JSON.stringify(search)} question={search} names={all} onAsk={put} />
          <Trail filters={search} names={names} onFilter={put} />
        </div>
      </div>
    </>
  )
}
