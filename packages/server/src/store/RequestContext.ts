/**
 * A small context for fibers that are created often: without the services of the rooms, which the code below already
 * holds by name.
 */
import { Context, Effect } from "effect"

/**
 * What a runtime provides (clock, loggers, references of `@stoa/tools`) stays; our own services go. Effect copies the whole
 * map now and then when something is added to it, and a request adds a dozen things.
 */
export const requestContext: Effect.Effect<Context.Context<never>> = Effect.map(Effect.context<never>(), (context) =>
  Context.makeUnsafe<never>(new Map([...context.mapUnsafe].filter(([key]) => !key.startsWith("server/")))),
)
