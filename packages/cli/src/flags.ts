/** The flags most verbs have: an optional text, a switch that is off; and a body with only the given flags. */
import { Option, Record } from "effect"
import { Flag } from "effect/cli"

export const textFlag = (name: string, words: string) =>
  Flag.String(name).pipe(Flag.withDescription(words), Flag.optional)

export const switchFlag = (name: string, words: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(words), Flag.withDefault(false))

type Given<A> = { readonly [K in keyof A]?: A[K] extends Option.Option<infer B> ? B : never }

/** Only given flags, so that the house's own defaults apply. */
export const given = <A extends Readonly<globalThis.Record<string, Option.Option<unknown>>>>(flags: A): Given<A> =>
  Record.getSomes(flags) as Given<A>
