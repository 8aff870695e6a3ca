/** The possible actions on a run. Stopping one asks for confirmation in place. */
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { useNames } from "../../feed/start.ts"
import type { Run } from "../../feed/types.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { Confirmation } from "../../parts/press/Confirmation.tsx"
import { actionsOf } from "./run.logic.ts"
import { readAgain } from "./useRuns.ts"
import { words } from "./words/en.ts"

/** Shown beside the selected row if the bar has no room. */
export const RetryHere = ({ run, step }: { readonly run: Run; readonly step: number }) => {
  const navigate = useNavigate()
  const [busy, work] = useState(false)
  const [fault, fail] = useState<unknown>()
  if (!actionsOf(run).includes("retry") || step < 2 || step > run.step + 1) return null
  const retry = async () => {
    work(true)
    try {
      const again = await house.runs.retry(run.id, { step })
      await navigate({ to: "/runs/$run", params: { run: again.id } })
    } catch (error) {
      fail(error)
      work(false)
    }
  }
  return (
    <div className="phone-only">
      <button type="button" className="button" disabled={busy} onClick={() => void retry()}>
        <Icon name="rotate-ccw" small />
        {words.retryFrom(step)}
      </button>
      {fault === undefined ? null : <FaultPane error={fault} />}
    </div>
  )
}

export const RunActions = ({ run, step }: { readonly run: Run; readonly step: number }) => {
  const navigate = useNavigate()
  const names = useNames()
  const [asks, ask] = useState(false)
  const [busy, work] = useState(false)
  const [fault, fail] = useState<string>()
  const acts = actionsOf(run)
  const doing = async (act: () => Promise<unknown>) => {
    work(true)
    fail(undefined)
    try {
      await act()
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error))
    }
    work(false)
    ask(false)
  }
  const cancel = () => doing(async () => [await house.runs.cancel(run.id), await readAgain(run.id)])
  const retry = (from?: number) =>
    doing(async () => {
      const again = await house.runs.retry(run.id, from === undefined ? {} : { step: from })
      await navigate({ to: "/runs/$run", params: { run: again.id } })
    })
  if (fault !== undefined)
    return (
      <span className="note small run-asks" data-tone="bad" role="alert">
        {fault}
      </span>
    )
  if (asks)
    return (
      <Confirmation className="line run-asks" label={words.cancelSure(names(run.agent))} close={() => ask(false)}>
        <span className="small wide-only">{words.cancelSure(names(run.agent))}</span>
        <ActButton of={run.id} className="button no" disabled={busy} onClick={() => void cancel()}>
          {words.cancel}
        </ActButton>
        <button type="button" className="button plain" data-first onClick={() => ask(false)}>
          {words.keep}
        </button>
      </Confirmation>
    )
  return (
    <>
      {acts.includes("cancel") ? (
        <button type="button" className="button" onClick={() => ask(true)}>
          <Icon name="square" small />
          {words.cancel}
        </button>
      ) : null}
      {acts.includes("retry") ? (
        <button type="button" className="button" disabled={busy} onClick={() => void retry()}>
          <Icon name="rotate-ccw" small />
          {words.retry}
        </button>
      ) : null}
      {acts.includes("retry") && step > 1 && step <= run.step + 1 ? (
        <span className="wide-only">
          <button type="button" className="button" disabled={busy} onClick={() => void retry(step)}>
            <Icon name="rotate-ccw" small />
            {words.retryFrom(step)}
          </button>
        </span>
      ) : null}
    </>
  )
}
