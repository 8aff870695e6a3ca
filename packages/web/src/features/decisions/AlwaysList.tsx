import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useNames } from "../../feed/start.ts"
import type { Approval } from "../../feed/types.ts"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { words } from "./words/en.ts"

const One = ({ approval, fail }: { readonly approval: Approval; readonly fail: (error: unknown) => void }) => {
  const nameOf = useNames()
  const [asks, ask] = useState(false)
  const takeBack = () =>
    void house.decisions
      .revoke(approval.id)
      .then(() => cache.invalidateQueries({ queryKey: keys.approvals }))
      .catch(fail)
  return (
    <li className="standing">
      <p>
        <b>{nameOf(approval.principal)}</b> · <code>{approval.tool}</code>
      </p>
      <div className="line small faint">
        <span>
          {words.givenBy(nameOf(approval.givenBy))}, <AgoTime at={approval.createdAt} />
        </span>
        {asks ? (
          <Confirmation className="push line" label={words.takeBackSure} close={() => ask(false)}>
            <span>{words.takeBackSure}</span>
            <ActButton of={approval.id} className="button tiny no" onClick={takeBack}>
              {words.yes}
            </ActButton>
            <button type="button" className="button tiny plain" data-first onClick={() => ask(false)}>
              {words.no}
            </button>
          </Confirmation>
        ) : (
          <button type="button" className="button tiny plain push" onClick={() => ask(true)}>
            {words.takeBack}
          </button>
        )}
      </div>
    </li>
  )
}

/** Standing approvals: who may do what without being asked, and how to revoke it. */
export const AlwaysList = () => {
  const [fault, fail] = useState<unknown>()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.approvals,
    queryFn: () => house.decisions.approvals({ limit: 100 }),
  })
  if (isPending) return <LoadingPane />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <EmptyPane>{words.nothingAlways}</EmptyPane>
  return (
    <>
      {fault === undefined ? null : <FaultPane error={fault} />}
      <ul className="rows">
        {data.items.map((one) => (
          <One key={one.id} approval={one} fail={fail} />
        ))}
      </ul>
    </>
  )
}
