/** The states every pane has besides its content: loading, empty, error, no rights. */
import { StoaError } from "@stoa/sdk"
import { type ReactNode, useEffect, useState } from "react"
import { later } from "../../feed/clock.ts"
import { words } from "../../words/en.ts"
import { Icon } from "../icons/Icon.tsx"

/** Nothing for a moment, then lines of the right height: fast answers do not flash. */
export const LoadingPane = ({ lines = 4 }: { readonly lines?: number }) => {
  const [shown, show] = useState(false)
  useEffect(() => later(150, () => show(true)), [])
  return (
    <div className="loading" role="status" aria-busy="true" aria-label={words.loading}>
      {shown ? Array.from({ length: lines }, (_, at) => <i key={at} />) : null}
    </div>
  )
}

export const EmptyPane = ({ action, children }: { readonly children: ReactNode; readonly action?: ReactNode }) => (
  <div className="empty">
    <p>{children}</p>
    {action}
  </div>
)

export interface FaultProps {
  readonly error: unknown
  readonly again?: () => void
}

/** Shown where it happened, with what to do next. */
export const FaultPane = ({ again, error }: FaultProps) => {
  const refused = error instanceof StoaError ? error : undefined
  if (refused?.status === 404 || refused?.status === 403)
    return (
      <div className="empty" role="alert">
        <p>{refused.status === 404 ? words.nothingHere : refused.message}</p>
      </div>
    )
  const title = refused?.problem["title"]
  return (
    <div className="note fault" data-tone="bad" role="alert">
      <Icon name="circle-alert" small />
      <div className="stack">
        {typeof title === "string" ? <p className="strong">{title}</p> : null}
        <p>{error instanceof Error ? error.message : String(error)}</p>
        <p className="line wrap">
          {refused === undefined || refused.tag === "Unknown" ? null : (
            <a href={`/docs/errors/${refused.tag}`}>{refused.tag}</a>
          )}
          {again === undefined ? null : (
            <button type="button" className="button tiny" onClick={again}>
              {words.tryAgain}
            </button>
          )}
        </p>
      </div>
    </div>
  )
}
