/** All principals: people, agents and services, with their tokens and grants. */
import "../../parts/panes/Pick.css"
import "./People.css"
import { type PrincipalKind, principalKinds } from "@stoa/contract"
import { useMutation, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { isWide } from "../../parts/settings.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { PrincipalDetail } from "./PrincipalDetail.tsx"
import { words } from "./words/en.ts"

const Add = ({ onMade }: { readonly onMade: (name: string) => void }) => {
  const [name, setName] = useState("")
  const [kind, setKind] = useState<PrincipalKind>("person")
  const made = useMutation({
    mutationFn: () => house.principals.add({ kind, name: name.trim() }),
    onSuccess: async ({ name }) => {
      setName("")
      await cache.invalidateQueries({ queryKey: keys.people })
      onMade(name)
    },
  })
  return (
    <form
      className="page-pad stack"
      onSubmit={(event) => {
        event.preventDefault()
        made.mutate()
      }}
    >
      <div className="line">
        <input
          className="input grow"
          aria-label={words.name}
          placeholder={words.name}
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <select
          className="input people-kind"
          aria-label={words.kind}
          value={kind}
          onChange={(event) => setKind(event.target.value as PrincipalKind)}
        >
          {principalKinds.map((one) => (
            <option key={one} value={one}>
              {words.kinds[one]}
            </option>
          ))}
        </select>
        <button type="submit" className="button" disabled={made.isPending}>
          {words.add}
        </button>
      </div>
      {made.error === null ? null : <FaultPane error={made.error} />}
    </form>
  )
}

export const PeopleScreen = () => {
  const { me } = useStart()
  const admin = me.roles.includes("admin")
  const { who: chosen } = useSearch({ from: "/house/people" })
  const navigate = useNavigate()
  const choose = (who: string | undefined) => void navigate({ to: "/people", search: who === undefined ? {} : { who } })
  const people = useQuery({ queryKey: [...keys.people, "all"], queryFn: () => house.principals.list({ limit: 100 }) })
  const items = people.data?.items ?? []
  // If there is room for both, the first one is shown at once.
  const who = items.find(({ name }) => name === chosen) ?? (chosen === undefined && isWide() ? items[0] : undefined)
  return (
    <>
      <Header title={words.title} up={chosen === undefined ? "/house" : "/people"} />
      {people.isPending ? <LoadingPane /> : null}
      {people.error === null ? null : <FaultPane error={people.error} again={() => void people.refetch()} />}
      {people.data === undefined ? null : (
        <div className="split list-first grow">
          <nav className={chosen === undefined ? "scroll" : "scroll not-phone"} aria-label={words.list}>
            {admin ? <Add onMade={choose} /> : null}
            {items.length === 0 ? <EmptyPane>{words.none}</EmptyPane> : null}
            <ul className="rows">
              {items.map((one) => (
                <li key={one.id}>
                  <Link
                    className="pick"
                    to="/people"
                    search={{ who: one.name }}
                    aria-current={one === who ? "true" : undefined}
                  >
                    <Avatar name={one.name} kind={one.kind} size="s" />
                    <b className="cut">{one.name}</b>
                    <span className="sub">
                      {words.kinds[one.kind]} · {one.roles.join(", ")}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <div className={chosen === undefined ? "scroll not-phone" : "scroll"}>
            {who === undefined ? (
              <EmptyPane>{words.pick}</EmptyPane>
            ) : (
              <PrincipalDetail key={who.id} who={who} admin={admin} onGone={() => choose(undefined)} />
            )}
          </div>
        </div>
      )}
    </>
  )
}
