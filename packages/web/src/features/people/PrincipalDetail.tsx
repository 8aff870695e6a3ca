/** One principal: what it is, its tokens, and what it was given. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Principal } from "../../feed/types.ts"
import { Copy } from "../../parts/Copy.tsx"
import { Face } from "../../parts/Face.tsx"
import { FaultPane, LoadingPane } from "../../parts/Pane.tsx"
import { AgoTime } from "../../parts/Time.tsx"
import { words } from "./words/en.ts"

const Tokens = ({ who }: { readonly who: Principal }) => {
  const tokens = useQuery({
    queryKey: ["tokens", who.id],
    queryFn: () => house.tokens.list({ principal: who.id, limit: 100 }),
  })
  const again = () => void cache.invalidateQueries({ queryKey: ["tokens"] })
  const made = useMutation({
    mutationFn: () => house.tokens.add({ principal: who.id, label: "page" }),
    onSuccess: again,
  })
  const revoked = useMutation({ mutationFn: (id: string) => house.tokens.revoke(id), onSuccess: again })
  return (
    <section className="stack" aria-label={words.tokens}>
      <h3>{words.tokens}</h3>
      {tokens.isPending ? <LoadingPane lines={2} /> : null}
      {tokens.error === null ? null : <FaultPane error={tokens.error} again={() => void tokens.refetch()} />}
      {tokens.data?.items.length === 0 ? <p className="faint">{words.noTokens}</p> : null}
      <ul className="stack">
        {tokens.data?.items.map((one) => (
          <li key={one.id} className="line wrap">
            <code>{one.label ?? one.id}</code>
            <span className="faint small">
              {one.lastUsedAt === null || one.lastUsedAt === undefined ? (
                words.never
              ) : (
                <>
                  {words.used} <AgoTime at={one.lastUsedAt} />
                </>
              )}
            </span>
            <button type="button" className="button tiny push" onClick={() => revoked.mutate(one.id)}>
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      {made.data === undefined ? null : (
        <p className="note" role="status">
          <span>
            {words.once} <code>{made.data.token}</code>
          </span>
          <Copy text={made.data.token} />
        </p>
      )}
      {made.error === null ? null : <FaultPane error={made.error} />}
      {revoked.error === null ? null : <FaultPane error={revoked.error} />}
      <p>
        <button type="button" className="button" disabled={made.isPending} onClick={() => made.mutate()}>
          {words.make}
        </button>
      </p>
    </section>
  )
}

const Grants = ({ who }: { readonly who: Principal }) => {
  const grants = useQuery({
    queryKey: ["grants", "of", who.id],
    queryFn: () => house.grants.list({ principal: who.id, limit: 100 }),
  })
  const revoked = useMutation({
    mutationFn: (id: string) => house.grants.revoke(id),
    onSuccess: () => cache.invalidateQueries({ queryKey: ["grants"] }),
  })
  return (
    <section className="stack" aria-label={words.grants}>
      <h3>{words.grants}</h3>
      {grants.error === null ? null : <FaultPane error={grants.error} />}
      {grants.data?.items.length === 0 ? <p className="faint">{words.noGrants}</p> : null}
      <ul className="stack">
        {grants.data?.items.map((one) => (
          <li key={one.id} className="line wrap">
            <span>
              {one.effect} {one.actions.join(", ")} <code>{one.resource}</code>
            </span>
            <button type="button" className="button tiny push" onClick={() => revoked.mutate(one.id)}>
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      {revoked.error === null ? null : <FaultPane error={revoked.error} />}
    </section>
  )
}

const Retire = ({ onDone, who }: { readonly who: Principal; readonly onDone: () => void }) => {
  const [asking, ask] = useState(false)
  const retired = useMutation({
    mutationFn: () => house.principals.retire(who.id),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: keys.people })
      onDone()
    },
  })
  if (!asking)
    return (
      <p>
        <button type="button" className="button" onClick={() => ask(true)}>
          {words.retire}
        </button>
      </p>
    )
  return (
    <div className="stack">
      <p className="line wrap">
        <span>{words.retireAsk(who.name)}</span>
        <button type="button" className="button" disabled={retired.isPending} onClick={() => retired.mutate()}>
          {words.yes}
        </button>
        <button type="button" className="button plain" onClick={() => ask(false)}>
          {words.no}
        </button>
      </p>
      {retired.error === null ? null : <FaultPane error={retired.error} />}
    </div>
  )
}

export const PrincipalDetail = (props: {
  readonly who: Principal
  readonly admin: boolean
  readonly onGone: () => void
}) => {
  const { admin, onGone, who } = props
  return (
    <div className="page stack wide-gap">
      <h2 className="line">
        <Face name={who.name} kind={who.kind} />
        {who.name}
      </h2>
      <dl className="kv">
        <dt>{words.kind}</dt>
        <dd>{who.kind}</dd>
        <dt>{words.roles}</dt>
        <dd>{who.roles.join(", ")}</dd>
        <dt>{words.toolsets}</dt>
        <dd>{who.toolsets.join(", ")}</dd>
      </dl>
      {admin ? (
        <>
          <p>
            <Link to="/why" search={{ principal: who.name, action: "execute", resource: "tools/*" }}>
              {words.why}
            </Link>
          </p>
          <Tokens who={who} />
          <Grants who={who} />
          <Retire who={who} onDone={onGone} />
        </>
      ) : null}
    </div>
  )
}
