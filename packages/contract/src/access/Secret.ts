/** A named secret. Its value can be set but never read through this API. */
import { Schema } from "effect"
import { Moment } from "../Ids.ts"

export const secretName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

export const SecretName = Schema.String.check(
  Schema.isPattern(secretName, {
    message: "must be a secret's name of 1 to 64 letters, digits or _ . -, beginning with a letter",
  }),
).pipe(Schema.brand("SecretName"))
export type SecretName = typeof SecretName.Type

export class Secret extends Schema.Class<Secret>("Secret")({ name: SecretName, setAt: Moment }) {}

/** Any eight characters of a secret are redacted from answers; shorter ones could not be told from other text. */
export const shortestSecret = 8

export const SecretValue = Schema.Struct({
  value: Schema.RedactedFromValue(
    Schema.String.check(
      Schema.makeFilter(
        (value) =>
          value.trim().length >= shortestSecret ||
          `a secret of at least ${shortestSecret} characters: a shorter one could not be kept out of answers. Take a longer one`,
      ),
      Schema.isMaxLength(65_536),
    ),
  ),
}).annotate({ identifier: "SecretValue" })
export type SecretValue = typeof SecretValue.Type
