import type { ReactNode } from "react"

/** What may be wider than its place and then scrolls by itself, with the keys too. */
export const Sideways = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="scroll-x" tabIndex={0} role="region" aria-label={label}>
    {children}
  </div>
)
