/**
 * The arguments and flags most verbs have: a name that must be given, a text that may be given, a switch that is off; and
 * a body of what was given alone. An empty name is a mistake (`stoa token rm "$ID"` without an ID), and is reported here.
 */
import { DateTime, Effect, Option, Record } from "effect"
import { Argument, CliError, Flag } from "effect/cli"

const unlessEmpty = (message: string) => (text: string) =>
  text.trim() === "" ? Effect.fail(new CliError.ValidationError({ message })) : Effect.succeed(text)

/** What a verb is about. `give` says what to give where it is empty, and where to find it. */
export const nameArgument = (name: string, words: string, give: string) =>
  Argument.String(name).pipe(Argument.withDescription(words), Argument.mapEffect(unlessEmpty(give)))

/** The part of a name: a flag that means something only with a value. */
export const nameFlag = (name: string) =>
  Flag.String(name).pipe(Flag.mapEffect(unlessEmpty(`--${name} is empty: give a value, or leave it out`)))

export const textFlag = (name: string, words: string) => nameFlag(name).pipe(Flag.withDescription(words), Flag.optional)

/** A point in time, as the house reads it. */
export const timeFlag = (name: string, words: string) => {
  const right = "such as 2027-01-31T00:00:00Z"
  return nameFlag(name).pipe(
    Flag.mapEffect((text) =>
      Option.isSome(DateTime.make(text))
        ? Effect.succeed(text)
        : Effect.fail(
            new CliError.ValidationError({
              message: `--${name} ${JSON.stringify(text)} is not a time: give one ${right}`,
            }),
          ),
    ),
    Flag.withDescription(`${words}, ${right}`),
    Flag.optional,
  )
}

/** Words of a person, which may be none. */
export const wordsFlag = (name: string, words: string) =>
  Flag.String(name).pipe(Flag.withDescription(words), Flag.optional)

export const switchFlag = (name: string, words: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(words), Flag.withDefault(false))

type Given<A> = { readonly [K in keyof A]?: A[K] extends Option.Option<infer B> ? B : never }

/** Only given flags, so that the house's own defaults apply. */
export const givenFlags = <A extends Readonly<globalThis.Record<string, Option.Option<unknown>>>>(flags: A): Given<A> =>
  Record.getSomes(flags) as Given<A>
