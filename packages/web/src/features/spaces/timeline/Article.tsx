/** A row with an avatar, or without one if the same author continues; and the props of every row. */
import type { ComponentType, FocusEvent, ReactNode } from "react"
import type { Decision, Message, Space } from "../../../feed/types.ts"
import { Avatar } from "../../../parts/icons/Avatar.tsx"
import { clockOf } from "../../../parts/figures/time.logic.ts"
import { ClockTime } from "../../../parts/figures/Time.tsx"
import type { SpaceRights } from "../rights.logic.ts"
import { words } from "../words/en.ts"

export interface RowContext {
  readonly space: Space
  readonly me: { readonly id: string; readonly name: string; readonly kind: string }
  /** The names a mention may mean. */
  readonly names: ReadonlyArray<string>
  readonly may: SpaceRights
  readonly openThread: (message: Message) => void
  /** How a decision is drawn; passed in by the screen, so that rows need not know decisions. */
  readonly decision: ComponentType<{ readonly decision: Decision }>
}

const kindTag = (kind: string): ReactNode =>
  kind === "person" ? null : <span className="tag">{kind === "agent" ? words.agent : words.service}</span>

export const Article = ({
  author,
  at,
  children,
  head,
  id,
  onNear,
}: {
  readonly author: { readonly name: string; readonly kind: string }
  readonly at: string
  readonly head: boolean
  readonly children: ReactNode
  readonly id?: string
  /** The pointer or the focus enters this row. */
  readonly onNear?: (event?: FocusEvent) => void
}) => (
  <article
    className={head ? "msg" : "msg on"}
    tabIndex={-1}
    data-row=""
    data-message={id}
    onPointerEnter={onNear && (() => onNear())}
    onFocus={onNear}
    aria-label={words.said(author.name, author.kind, clockOf(at))}
  >
    {head ? (
      <>
        <Avatar name={author.name} kind={author.kind} />
        <header>
          <b>{author.name}</b>
          {kindTag(author.kind)}
          <ClockTime at={at} />
        </header>
      </>
    ) : null}
    {children}
  </article>
)
