/** A principal's tokens: when each was last used, a new one shown once, and a way to revoke any. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Principal } from "../../feed/types.ts"
import { Copy } from "../../parts/text/Copy.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { millisUntil } from "../../parts/figures/time.logic.ts"
import { AgoTime, SoonTime, useNow } from "../../parts/figures/Time.tsx"
import { RevocableList } from "./RevocableList.tsx"
import { words } from "./words/en.ts"

/** Enough to tell it from others. */
const middle = (id: string): string => `${id.slice(0, 8)}…${id.slice(-6)}`

type Token = Awaited<ReturnType<typeof house.tokens.list>>["items"][number]

/** Why it is no longer valid, if so. */
const overOf = ({ expiresAt, revokedAt }: Token, now: number): string | undefined =>
  revokedAt !== null
    ? words.revoked
    : expiresAt !== null && millisUntil(expiresAt, now) <= 0
      ? words.expired
      : undefined

const changed = () => cache.invalidateQueries({ queryKey: ["tokens"] })

interface RotateProps {
  readonly name: string
  readonly busy: boolean
  readonly rotate: () => void
}

/** The old token stops working at once, so it asks first. */
const Rotate = ({ busy, name, rotate }: RotateProps) => {
  const [sure, ask] = useState(false)
  if (!sure)
    return (
      <button
        type="button"
        className="button tiny"
        disabled={busy}
        aria-label={words.rotateOne(name)}
        onClick={() => ask(true)}
      >
        {words.rotate}
      </button>
    )
  return (
    <span className="line wrap" role="group" aria-label={words.rotateOne(name)}>
      <span className="small">{words.rotateAsk}</span>
      <button
        type="button"
        className="button tiny"
        disabled={busy}
        onClick={() => {
          ask(false)
          rotate()
        }}
      >
        {words.yesRotate}
      </button>
      <button type="button" className="button plain tiny" onClick={() => ask(false)}>
        {words.keepIt}
      </button>
    </span>
  )
}

export const Tokens = ({ who }: { readonly who: Principal }) => {
  const found = useQuery({
    queryKey: ["tokens", who.id],
    queryFn: async () => (await house.tokens.list({ principal: who.id, limit: 100 })).items,
  })
  const now = useNow()
  // Kept here and not in the line of the old token, which becomes history while the new one is shown.
  const made = useMutation({
    mutationFn: (old: string | undefined) =>
      old === undefined ? house.tokens.add({ principal: who.id, label: "page" }) : house.tokens.rotate(old),
    onSuccess: () => void changed(),
  })
  // Valid tokens come first; the others are history.
  const tokens = found.data?.toSorted(
    (a, b) => Number(overOf(a, now) !== undefined) - Number(overOf(b, now) !== undefined),
  )
  return (
    <RevocableList
      title={words.tokens}
      none={words.noTokens}
      found={found}
      revoke={(id) => house.tokens.revoke(id).then(changed)}
      items={tokens?.map((one) => ({
        id: one.id,
        name: one.label ?? one.id,
        fixed: overOf(one, now),
        acts:
          overOf(one, now) !== undefined ? null : one.madeFor === undefined ? (
            <Rotate name={one.label ?? one.id} busy={made.isPending} rotate={() => made.mutate(one.id)} />
          ) : (
            <span className="faint small">{words.madeFor[one.madeFor]}</span>
          ),
        line: (
          <>
            {one.label === null ? <code title={one.id}>{middle(one.id)}</code> : <span>{one.label}</span>}
            <span className="faint small">
              {one.lastUsedAt === null ? (
                words.never
              ) : (
                <>
                  {words.used} <AgoTime at={one.lastUsedAt} said />
                </>
              )}
              {one.expiresAt === null || overOf(one, now) !== undefined ? null : (
                <>
                  {", "}
                  {words.ends} <SoonTime at={one.expiresAt} />
                </>
              )}
            </span>
          </>
        ),
      }))}
    >
      {made.data === undefined ? null : (
        <p className="note" role="status">
          <span>
            {words.once} <code className="whole">{made.data.token}</code>
            {made.data.expiresAt === null ? null : (
              <>
                {" "}
                {words.itEnds} <SoonTime at={made.data.expiresAt} />.
              </>
            )}
          </span>
          <Copy text={made.data.token} />
        </p>
      )}
      {made.error === null ? null : <FaultPane error={made.error} />}
      <p>
        <button type="button" className="button" disabled={made.isPending} onClick={() => made.mutate(undefined)}>
          {words.make}
        </button>
      </p>
    </RevocableList>
  )
}
