/**
 * The time limit of a tool's handler (S4-56 … S4-60), and what happens to one that throws. The road runs every handler
 * through here, sandbox or not. It ends anything that yields to the event loop; code that never does belongs in
 * `Sandbox`.
 */
import { type ToolDefinition, ToolExecutionError, ToolTimeoutError } from "@stoa/contract"
import { Cause, Effect, Exit, Fiber } from "effect"
import { CurrentToolsConfig } from "../ToolsConfig.ts"

type Timed = Pick<ToolDefinition, "name" | "timeoutMs">

/** What is wrong with a definition's timeout, if anything: a tool without a limit is refused at registration. */
export const timeoutFault = ({ name, timeoutMs }: Timed): string | undefined =>
  Number.isFinite(timeoutMs) && timeoutMs > 0
    ? undefined
    : `Tool "${name}" has a timeoutMs of ${timeoutMs}; give it a number of milliseconds above 0.`

/** A handler that threw. */
export const crashed = (name: string, what: unknown) => {
  const said = what instanceof Error ? what.message : String(what)
  return new ToolExecutionError({ message: `Tool "${name}" crashed: ${said}`, toolName: name, cause: what })
}

/** Runs a handler for at most min(its own, the most) milliseconds. Interrupting this interrupts the handler. */
export const runInTime = <A, E, R>(
  timed: Timed,
  handler: () => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | ToolExecutionError | ToolTimeoutError, R> =>
  Effect.suspend(() => {
    try {
      return inTime(timed, handler())
    } catch (thrown) {
      return Effect.fail(crashed(timed.name, thrown))
    }
  })

/**
 * The same for an effect that a handler has returned. An effect that is done already needs neither a clock nor a fiber.
 */
export const inTime = <A, E, R>(
  timed: Timed,
  made: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | ToolExecutionError | ToolTimeoutError, R> =>
  Exit.isExit(made) && Exit.isSuccess(made) ? made : runTimed(timed, made)

const runTimed = Effect.fnUntraced(function* <A, E, R>(
  { name, timeoutMs }: Timed,
  handler: Effect.Effect<A, E, R>,
): Effect.fn.Return<A, E | ToolExecutionError | ToolTimeoutError, R> {
  const { execution } = yield* CurrentToolsConfig
  const limit = Math.min(timeoutMs, execution.maxTimeoutMs)
  const late = () =>
    new ToolTimeoutError({
      message: `Tool "${name}" was stopped after ${limit} ms. Ask for less at a time, or try again.`,
      toolName: name,
      timeoutMs: limit,
    })
  const guarded = handler.pipe(
    Effect.catchCauseIf(
      (cause) => !Cause.hasFails(cause),
      (cause) => Effect.fail(crashed(name, Cause.hasDies(cause) ? Cause.squash(cause) : "it interrupted itself")),
    ),
  )
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(guarded), { startImmediately: true }), (fiber) => {
      // Most handlers have ended by now: they need no clock.
      const ended = fiber.pollUnsafe()
      if (ended !== undefined) return ended
      // Interrupted but not awaited: an uninterruptible handler must not hold the call.
      const stop = Effect.suspend(() => {
        fiber.interruptUnsafe()
        return Effect.fail(late())
      })
      return restore(Effect.timeoutOrElse(Fiber.join(fiber), { duration: limit, orElse: () => stop })).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(fiber)),
      )
    }),
  )
})
