/** The persona of an agent: the same field for a new one and for an existing one. */
import type { ComponentProps } from "react"
import { TextField } from "../../parts/form/Field.tsx"
import { words } from "./words/en.ts"

type Props = Omit<ComponentProps<typeof TextField>, "label" | "hint" | "rows" | "maxLength">

export const PersonaField = (props: Props) => (
  <TextField label={words.whoItIs} hint={words.whoHint} rows={3} maxLength={32_768} {...props} />
)
