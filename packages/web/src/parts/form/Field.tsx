/** A label above an input, with an optional hint: every field of the page. */
import type { ComponentProps, ReactNode } from "react"

export interface FieldHead {
  readonly id: string
  readonly label: string
  readonly hint?: string | undefined
}

export const Field = ({ children, hint, id, label }: FieldHead & { readonly children: ReactNode }) => (
  <div className="field">
    <label htmlFor={id}>
      {label} {hint === undefined ? null : <span className="hint">{hint}</span>}
    </label>
    {children}
  </div>
)

type Of<Tag extends "input" | "textarea" | "select"> = FieldHead & Omit<ComponentProps<Tag>, "id" | "className">

export const InputField = ({ hint, id, label, ...rest }: Of<"input">) => (
  <Field id={id} label={label} hint={hint}>
    <input className="input" id={id} autoComplete="off" {...rest} />
  </Field>
)

export const TextField = ({ hint, id, label, ...rest }: Of<"textarea">) => (
  <Field id={id} label={label} hint={hint}>
    <textarea className="input" id={id} {...rest} />
  </Field>
)

export const SelectField = ({ hint, id, label, ...rest }: Of<"select">) => (
  <Field id={id} label={label} hint={hint}>
    <select className="input" id={id} {...rest} />
  </Field>
)
