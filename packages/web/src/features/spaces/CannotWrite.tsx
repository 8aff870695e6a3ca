/** In place of the composer: why one cannot write here, and what would help. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import type { Space } from "../../feed/types.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import type { SpaceRights } from "./rights.logic.ts"
import { words } from "./words/en.ts"

export interface CannotWriteProps {
  readonly space: Space
  readonly me: string
  readonly may: SpaceRights
  readonly isGone: boolean
}

export const CannotWrite = ({ isGone, may, me, space }: CannotWriteProps) => {
  const [fault, fail] = useState<unknown>()
  const button = (label: string, act: () => Promise<unknown>) => (
    <button type="button" className="button tiny push" onClick={() => void act().catch(fail)}>
      {label}
    </button>
  )
  const why = isGone
    ? words.putOut
    : space.archivedAt !== null
      ? words.archived
      : space.kind === "dm"
        ? words.betweenOthers
        : words.membersWrite
  return (
    <>
      {fault === undefined ? null : <FaultPane error={fault} />}
      <p className="note stays line">
        <span>{why}</span>
        {may.restore ? button(words.bringBack, () => house.spaces.change(space.id, { archived: false })) : null}
        {may.join ? button(words.join, () => house.spaces.addMember(space.id, me)) : null}
      </p>
    </>
  )
}
