/** A named secret. Its value goes in and never comes out of this API. */
import { Schema } from "effect"
import { Moment } from "./Ids.ts"

export const SecretName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, {
    message: "a secret's name of 1 to 64 letters, digits or _ . -, beginning with a letter",
  }),
).pipe(Schema.brand("SecretName"))
export type SecretName = typeof SecretName.Type

export class Secret extends Schema.Class<Secret>("Secret")({ name: SecretName, setAt: Moment }) {}

export const SecretValue = Schema.Struct({
  value: Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(65_536))),
}).annotate({ identifier: "SecretValue" })
export type SecretValue = typeof SecretValue.Type
