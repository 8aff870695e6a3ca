/** A button whose press cannot be taken back: it counts a press only from somebody who can have seen it. */
import { type ComponentProps, useLayoutEffect, useRef } from "react"
import { guard } from "./press.ts"

export interface ActButtonProps extends ComponentProps<"button"> {
  /** What it acts on: if that changes, it is another control. */
  readonly of: string
  /** Enter in a field of its form means it. */
  readonly fromField?: boolean
}

export const ActButton = ({ fromField = false, of, ...rest }: ActButtonProps) => {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => guard(button.current!, { fromField }), [fromField, of])
  return <button type="button" ref={button} {...rest} />
}
