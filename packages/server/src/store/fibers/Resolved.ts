/** Avoids a fiber: an effect that already has its value is a plain object whose value can be read. */
import { Effect, Exit } from "effect"

/** The value of an effect that has already succeeded. */
export const resolvedValue = <A, E, R>(effect: Effect.Effect<A, E, R>): { readonly value: A } | undefined =>
  Exit.isExit(effect) && Exit.isSuccess(effect) ? { value: effect.value as A } : undefined

/**
 * Continues at once if the value is already there, otherwise like `Effect.flatMap`. For code that runs at every call.
 */
export const chain = <A, E, R, B, E2, R2>(
  effect: Effect.Effect<A, E, R>,
  next: (value: A) => Effect.Effect<B, E2, R2>,
): Effect.Effect<B, E | E2, R | R2> =>
  Exit.isExit(effect) && Exit.isSuccess(effect) ? next(effect.value as A) : Effect.flatMap(effect, next)
