/** Answers without a fiber: an effect that already has its value is a plain object whose value can be read. */
import { Effect, Exit } from "effect"

/** What an effect gives, if it is at hand. */
export const resolvedValue = <A, E, R>(effect: Effect.Effect<A, E, R>): { readonly value: A } | undefined =>
  Exit.isExit(effect) && Exit.isSuccess(effect) ? { value: effect.value as A } : undefined

/** Goes on at once where the value is at hand, and as `Effect.flatMap` does otherwise. For what is asked of every call. */
export const chain = <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  next: (value: A) => Effect.Effect<B, E2, R2>,
): Effect.Effect<B, E | E2, R | R2> =>
  Exit.isExit(effect) && Exit.isSuccess(effect) ? next(effect.value as A) : Effect.flatMap(effect, next)
