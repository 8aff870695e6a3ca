/** A principal's tokens: when each was used last, a new one shown once, and an end to any of them. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Principal } from "../../feed/types.ts"
import { Copy } from "../../parts/text/Copy.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { Kept } from "./Kept.tsx"
import { words } from "./words/en.ts"

/** Enough to tell it from others. */
const middle = (id: string): string => `${id.slice(0, 8)}…${id.slice(-6)}`

const changed = () => cache.invalidateQueries({ queryKey: ["tokens"] })

export const Tokens = ({ who }: { readonly who: Principal }) => {
  const found = useQuery({
    queryKey: ["tokens", who.id],
    queryFn: async () => (await house.tokens.list({ principal: who.id, limit: 100 })).items,
  })
  const made = useMutation({
    mutationFn: () => house.tokens.add({ principal: who.id, label: "page" }),
    onSuccess: changed,
  })
  return (
    <Kept
      title={words.tokens}
      none={words.noTokens}
      found={found}
      revoke={(id) => house.tokens.revoke(id).then(changed)}
      held={found.data?.map(({ id, label, lastUsedAt }) => ({
        id,
        name: label ?? id,
        line: (
          <>
            {label === undefined || label === null ? <code title={id}>{middle(id)}</code> : <span>{label}</span>}
            <span className="faint small">
              {lastUsedAt === null || lastUsedAt === undefined ? (
                words.never
              ) : (
                <>
                  {words.used} <AgoTime at={lastUsedAt} />
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
            {words.once} <code>{made.data.token}</code>
          </span>
          <Copy text={made.data.token} />
        </p>
      )}
      {made.error === null ? null : <FaultPane error={made.error} />}
      <p>
        <button type="button" className="button" disabled={made.isPending} onClick={() => made.mutate()}>
          {words.make}
        </button>
      </p>
    </Kept>
  )
}
