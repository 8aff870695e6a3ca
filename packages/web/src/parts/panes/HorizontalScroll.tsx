import type { ReactNode } from "react"

/** Content that may be wider than its place and then scrolls sideways, with the keyboard too. */
export const HorizontalScroll = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="scroll-x" tabIndex={0} role="region" aria-label={label}>
    {children}
  </div>
)
