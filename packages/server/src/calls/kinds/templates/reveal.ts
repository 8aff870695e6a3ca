/**
 * Where secrets and variables become values: at the call, for the places its configuration names, and nowhere else.
 * Whatever is revealed is added to what its call has `revealed`, in each form it may come back in.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Effect, Redacted } from "effect"
import { Environment } from "../../../access/secrets/Environment.ts"
import { Secrets } from "../../../access/secrets/Secrets.ts"
import type { Traces } from "../../road/Handler.ts"
import { type FromHouse, nameOf } from "./template.ts"

/** By name: `secret.KEY` to its value. */
export type Values = ReadonlyMap<string, string>

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** As it is; in JSON, and in JSON that stands in JSON, as an echo has it; in an address and in a form. */
const formsOf = (value: string): ReadonlyArray<string> => {
  const once = inJson(value)
  const twice = inJson(once)
  const inUrl = encodeURIComponent(value.toWellFormed())
  const inForm = new URLSearchParams({ "": value }).toString().slice(1)
  return [...new Set([value, once, twice, inJson(twice), inUrl, inUrl.replaceAll("'", "%27"), inForm])]
}

/** Takes revealed values out of a text, and says what stood there. */
export const hide = (text: string, values: Values): string => {
  const forms = [...values].flatMap(([name, value]) => formsOf(value).map((form) => ({ name, form })))
  // The longest first: a value may be part of another.
  return forms
    .toSorted((one, other) => other.form.length - one.form.length)
    .reduce((hidden, { form, name }) => hidden.replaceAll(form, () => `\${${name}}`), text)
}

/** Built with the house's services, asked at each call. */
export const makeReveal = Effect.gen(function* () {
  const secrets = yield* Secrets
  const environment = yield* Environment

  const read = ({ from, name }: FromHouse): Effect.Effect<Redacted.Redacted, string> =>
    from === "env"
      ? Effect.mapError(environment.read(name), (error) => error.message)
      : Effect.mapError(secrets.reveal(name), (error) =>
          error._tag === "Missing"
            ? `The secret "${name}" is not set. An operator sets it with "stoa secrets set ${name}".`
            : error.message,
        )

  return Effect.fnUntraced(function* (
    toolName: string,
    places: ReadonlyArray<FromHouse>,
    { revealed }: Traces,
  ): Effect.fn.Return<Values, ToolExecutionError> {
    const values = new Map<string, string>()
    for (const place of places) {
      const value = Redacted.value(
        yield* Effect.mapError(read(place), (message) => new ToolExecutionError({ message, toolName })),
      )
      values.set(nameOf(place), value)
      for (const form of formsOf(value)) revealed.add(form)
    }
    return values
  })
})
