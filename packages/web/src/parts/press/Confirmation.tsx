/** Asks once more, in its place, before something is done that cannot be taken back. "No" has the focus (`data-first`). */
import type { ReactNode } from "react"
import { useOverlay } from "./overlays.ts"

export interface ConfirmationProps {
  readonly label: string
  readonly close: () => void
  readonly className?: string
  readonly tone?: "bad" | undefined
  readonly children: ReactNode
}

export const Confirmation = ({ children, className = "note line wrap", close, label, tone }: ConfirmationProps) => {
  const overlay = useOverlay<HTMLDivElement>("confirm", close)
  return (
    <div {...overlay} className={className} data-tone={tone} role="alertdialog" aria-label={label}>
      {children}
    </div>
  )
}
