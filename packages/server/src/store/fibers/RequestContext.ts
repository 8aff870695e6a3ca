/**
 * A small context for fibers that are created often. It has no services of the rooms, because the code below already
 * holds references to them.
 */
import { Context, Effect } from "effect"

/**
 * Keeps what a runtime provides (clock, loggers, references of `@stoa/tools`) and drops our own services. Effect
 * sometimes copies the whole map when something is added to it, and a request adds a dozen things.
 */
export const requestContext: Effect.Effect<Context.Context<never>> = Effect.map(Effect.context<never>(), (context) =>
  Context.makeUnsafe<never>(new Map([...context.mapUnsafe].filter(([key]) => !key.startsWith("server/")))),
)
