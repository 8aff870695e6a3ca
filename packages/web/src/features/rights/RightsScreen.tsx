/** Why somebody may or may not do something, and who did what. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { type Filters, Trail } from "./Trail.tsx"
import { Judgement, type JudgementQuery } from "./Judgement.tsx"
import { words } from "./words/en.ts"

export const RightsScreen = () => {
  const search: JudgementQuery & Filters = useSearch({ strict: false })
  const navigate = useNavigate()
  const { me } = useStart()
  const people = useQuery({ queryKey: [...keys.people, "all"], queryFn: () => house.principals.list({ limit: 100 }) })
  const known = new Map((people.data?.items ?? [me]).map((one) => [one.id, one]))
  const put = (more: JudgementQuery & Filters) => {
    const all = Object.entries({ ...search, ...more }).filter(([, value]) => value !== undefined && value !== "")
    void navigate({ to: "/why", search: Object.fromEntries(all) })
  }
  const all = [me.name, ...[...known.values()].map(({ name }) => name).filter((name) => name !== me.name)]
  return (
    <>
      <Header title={words.title} up="/house">
        <a className="button wide-only" href="/api/v1/audit/export" download="audit.jsonl">
          <Icon name="download" small />
          {words.export}
        </a>
      </Header>
      <div className="scroll grow">
        <div className="page stack wide-gap">
          <Judgement key={JSON.stringify(search)} question={search} names={all} onAsk={put} />
          <Trail filters={search} people={known} onFilter={put} />
        </div>
      </div>
    </>
  )
}
