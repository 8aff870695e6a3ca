/** Revokes a rule where it is shown. It asks for confirmation. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import { isWaiting, reloadJudgement } from "./AccessForm.tsx"
import { revocableRule } from "./accessForm.logic.ts"
import { words } from "./words/en.ts"

export interface RevokeRuleProps {
  readonly rule: { readonly name: string; readonly words: string }
}

export const RevokeRule = ({ rule }: RevokeRuleProps) => {
  const [sure, ask] = useState(false)
  const made = revocableRule(rule.name)
  const taken = useMutation({
    mutationFn: async () => {
      const answer = await (made!.kind === "grant" ? house.grants.revoke(made!.id) : house.delegations.revoke(made!.id))
      await reloadJudgement()
      return answer ?? null
    },
  })
  if (made === undefined) return null
  if (isWaiting(taken.data)) return <p role="status">{words.second}</p>
  if (!sure)
    return (
      <button type="button" className="button tiny" aria-label={words.takeBackOne(rule.name)} onClick={() => ask(true)}>
        {words.takeBack}
      </button>
    )
  return (
    <Confirmation className="stack" label={words.takeBackOne(rule.name)} close={() => ask(false)}>
      <p className="small">{words.noLonger(rule.words)}</p>
      <p className="line wrap">
        <ActButton of={rule.name} className="button tiny" disabled={taken.isPending} onClick={() => taken.mutate()}>
          {words.yesTakeBack}
        </ActButton>
        <button type="button" className="button plain tiny" data-first onClick={() => ask(false)}>
          {words.leave}
        </button>
      </p>
      {taken.error === null ? null : <FaultPane error={taken.error} />}
    </Confirmation>
  )
}
