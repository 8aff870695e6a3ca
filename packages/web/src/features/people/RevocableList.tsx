/** Things that a principal holds, one line each, with a way to revoke them: tokens, grants, delegations. */
import { useMutation, type UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { ActButton } from "../../parts/press/ActButton.tsx"
import { words } from "./words/en.ts"

interface RevocableItem {
  readonly id: string
  /** Its name in the label of its button. */
  readonly name: string
  readonly line: ReactNode
  /** Why it cannot be revoked here, if so. */
  readonly fixed?: string | undefined
  /** Other actions on it. */
  readonly acts?: ReactNode
}

export interface RevocableListProps {
  readonly title: string
  readonly none: string
  readonly found: Pick<UseQueryResult, "isPending" | "error" | "refetch">
  readonly items: ReadonlyArray<RevocableItem> | undefined
  readonly revoke: (id: string) => Promise<unknown>
  readonly children?: ReactNode
}

/** A change of rights may need a second person: then nothing has changed yet, and the page says so. */
export const isWaiting = (answer: unknown): boolean =>
  typeof answer === "object" && answer !== null && "state" in answer && answer.state === "waiting"

export const RevocableList = ({ children, found, items, none, revoke, title }: RevocableListProps) => {
  const revoked = useMutation({ mutationFn: revoke })
  return (
    <section className="card" aria-label={title}>
      <header>
        <h3>{title}</h3>
      </header>
      <div className="in stack">
        {found.isPending ? <LoadingPane lines={2} /> : null}
        {found.error === null ? null : <FaultPane error={found.error} again={() => void found.refetch()} />}
        {items?.length === 0 ? <p className="faint">{none}</p> : null}
        <ul className="stack">
          {items?.map(({ acts, fixed, id, line, name }) => (
            <li key={id} className="line wrap">
              {line}
              <span className="push" />
              {acts}
              {fixed === undefined ? (
                <ActButton
                  of={id}
                  className="button tiny"
                  aria-label={words.revokeOne(name)}
                  disabled={revoked.isPending}
                  onClick={() => revoked.mutate(id)}
                >
                  {words.revoke}
                </ActButton>
              ) : (
                <span className="faint small">{fixed}</span>
              )}
            </li>
          ))}
        </ul>
        {revoked.error === null ? null : <FaultPane error={revoked.error} />}
        {isWaiting(revoked.data) ? <p role="status">{words.second}</p> : null}
        {children}
      </div>
    </section>
  )
}
