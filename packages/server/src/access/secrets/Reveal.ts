/**
 * Replaces `${secret.NAME}` and `${env.NAME}` by their values, when a tool is called or an MCP server is connected, and
 * nowhere else. Every revealed value is added to the redactor of its receiver.
 */
import { type Placeholder, placeholdersIn, shortestSecret } from "@stoa/contract"
import { isLongEnough, Redactor } from "@stoa/tools"
import { Effect, Redacted } from "effect"
import { Confidential } from "./Confidential.ts"
import { Environment } from "./Environment.ts"
import { Secrets } from "./Secrets.ts"

/** The failure is an error text. */
export type Reveal = (place: Placeholder, redactor: Redactor) => Effect.Effect<string, string>

const tooShort = (name: string) =>
  `The secret "${name}" has fewer than ${shortestSecret} characters and could not be kept out of answers. An operator has to set a longer one.`

/** Built with the house's services; reads the value at each use. */
export const makeReveal = Effect.gen(function* () {
  const secrets = yield* Secrets
  const environment = yield* Environment
  const confidential = yield* Confidential

  const read = ({ from, name }: Placeholder): Effect.Effect<string, string> =>
    from === "env"
      ? Effect.mapBoth(environment.read(name), { onSuccess: Redacted.value, onFailure: (error) => error.message })
      : Effect.mapBoth(secrets.reveal(name), {
          onSuccess: Redacted.value,
          onFailure: (error) =>
            error._tag === "Missing" ? `The secret "${name}" is not set. An operator has to set it.` : error.message,
        }).pipe(
          // A short secret that was stored before they were refused.
          Effect.filterOrFail(isLongEnough, () => tooShort(name)),
        )

  const reveal: Reveal = (place, redactor) =>
    Effect.tap(read(place), (value) =>
      Effect.sync(() => {
        redactor.add(value)
        confidential.add(value)
      }),
    )
  return reveal
})

/** A text with all its placeholders revealed. */
const revealIn = (text: string, reveal: Reveal, redactor: Redactor, name?: string): Effect.Effect<string, string> => {
  const read = placeholdersIn(text)
  if ("fault" in read) return Effect.fail(name === undefined ? read.fault : `${name}: ${read.fault}`)
  return Effect.map(
    Effect.forEach(read.parts, (part) => (typeof part === "string" ? Effect.succeed(part) : reveal(part, redactor))),
    (parts) => parts.join(""),
  )
}

/** Headers or variables of the environment; a malformed placeholder is reported with their name. */
export const revealAll = Effect.fnUntraced(function* (
  texts: Readonly<Record<string, string>>,
  reveal: Reveal,
  redactor: Redactor,
): Effect.fn.Return<Readonly<Record<string, string>>, string> {
  const revealed: Array<readonly [string, string]> = []
  for (const [name, text] of Object.entries(texts)) revealed.push([name, yield* revealIn(text, reveal, redactor, name)])
  return Object.fromEntries(revealed)
})

/** For something that goes to one address that the operator chose. */
export const makeRevealText = Effect.map(
  makeReveal,
  (reveal) => (text: string) => revealIn(text, reveal, new Redactor()),
)
