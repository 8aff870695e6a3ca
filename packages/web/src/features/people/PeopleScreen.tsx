/** Who is here: people, agents and services, with their tokens and what they were given. */
import "../../parts/Pick.css"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { Bar } from "../../frame/Bar.tsx"
import { Face } from "../../parts/Face.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/Pane.tsx"
import { PrincipalDetail } from "./PrincipalDetail.tsx"
import { words } from "./words/en.ts"

const kinds = ["person", "agent", "service"] as const

const Add = ({ onMade }: { readonly onMade: (id: string) => void }) => {
  const [name, setName] = useState("")
  const [kind, setKind] = useState<(typeof kinds)[number]>("person")
  const made = useMutation({
    mutationFn: () => house.principals.add({ kind, name: name.trim() }),
    onSuccess: async ({ id }) => {
      setName("")
      await cache.invalidateQueries({ queryKey: keys.people })
      onMade(id)
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
      <div className="line wrap">
        <input
          className="input"
          aria-label={words.name}
          placeholder={words.name}
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <select
          className="input"
          aria-label={words.kind}
          value={kind}
          onChange={(event) => setKind(event.target.value as (typeof kinds)[number])}
        >
          {kinds.map((one) => (
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
  const [chosen, choose] = useState<string>()
  const people = useQuery({ queryKey: [...keys.people, "all"], queryFn: () => house.principals.list({ limit: 100 }) })
  const items = people.data?.items ?? []
  const who = items.find(({ id }) => id === chosen)
  return (
    <>
      <Bar title={words.title} up="/house" />
      {people.isPending ? <LoadingPane /> : null}
      {people.error === null ? null : <FaultPane error={people.error} again={() => void people.refetch()} />}
      {people.data === undefined ? null : (
        <div className="split list-first grow">
          <nav className="scroll" aria-label={words.list}>
            {admin ? <Add onMade={choose} /> : null}
            {items.length === 0 ? <EmptyPane>{words.none}</EmptyPane> : null}
            <ul className="rows">
              {items.map((one) => (
                <li key={one.id}>
                  <button
                    type="button"
                    className="pick flat"
                    aria-current={one.id === chosen ? "true" : undefined}
                    onClick={() => choose(one.id)}
                  >
                    <span className="line">
                      <Face name={one.name} kind={one.kind} size="s" />
                      <b className="cut">{one.name}</b>
                    </span>
                    <span className="sub">{one.roles.join(", ")}</span>
                  </button>
                </li>
              ))}
            </ul>
          </nav>
          <div className="scroll">
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
