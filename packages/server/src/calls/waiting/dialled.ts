/**
 * Calls that go on only once their server has been dialled: just after a start of the house none has been, and nobody
 * knows its tools.
 */
import { serverOfTool } from "@stoa/contract"
import { Deferred, Effect } from "effect"
import { Servers } from "../../servers/Servers.ts"
import type { CallRow } from "../road/record/rows.ts"

/** How long a call waits for a server that did not answer at first. */
const maxWait = "1 minute"

export const makeWhenDialled = Effect.gen(function* () {
  const servers = yield* Servers
  const scope = yield* Effect.scope

  const isThere = (tool: string): boolean => servers.tools().some((one) => one.tool.definition.name === tool)

  /** Whether the tool is missing, and its server may still offer it. */
  const isExpected = (tool: string): boolean => {
    const server = serverOfTool(tool)
    return server !== undefined && !isThere(tool) && servers.isExpected(server)
  }

  /** Returns when the tool is there, or is not to be expected any more. */
  const known = (tool: string) =>
    Effect.gen(function* () {
      const there = Deferred.makeUnsafe<void>()
      yield* servers.onChange(() => void (isThere(tool) && Deferred.doneUnsafe(there, Effect.void)))
      const server = serverOfTool(tool)
      if (server === undefined || isThere(tool)) return
      const wasExpected = isExpected(tool)
      const dialled = Effect.andThen(
        servers.dialled(server),
        // A server that nobody has heard of may have been added elsewhere; one that has gone meanwhile is gone.
        Effect.suspend(() => (wasExpected && !isExpected(tool) ? Effect.void : Effect.sleep(maxWait))),
      )
      yield* Effect.raceFirst(Deferred.await(there), dialled)
    }).pipe(Effect.scoped)

  /** Calls of this process that wait for their server. */
  const awaiting = new Set<string>()

  /**
   * Goes on with the call in the background when its server has been dialled: no request waits for it, and the journal
   * reader must not be blocked. Once per call, however often it is found.
   */
  const whenDialled = ({ id, tool }: Pick<CallRow, "id" | "tool">, goOn: Effect.Effect<unknown>) =>
    Effect.suspend(() => {
      if (awaiting.has(id)) return Effect.void
      awaiting.add(id)
      const waited = Effect.ensuring(
        known(tool),
        Effect.sync(() => awaiting.delete(id)),
      )
      const going = Effect.catchCause(Effect.andThen(waited, goOn), (cause) =>
        Effect.logError(`Call ${id} could not go on`, cause),
      )
      return Effect.asVoid(Effect.forkIn(going, scope))
    })

  return { isExpected, whenDialled }
})
