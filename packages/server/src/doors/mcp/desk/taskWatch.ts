/**
 * Tells a client the state of its tasks: of each at once, since it may have changed before the client listened, and
 * then each change.
 */
import { Effect } from "effect"
import type { CallNews } from "../../../calls/waiting/CallNews.ts"
import type { EndpointView } from "./Desk.ts"

type Get = NonNullable<EndpointView["tasks"]>["get"]

/**
 * The watching of a view, with its tasks. Every read is made as the caller: another principal's task does not exist for
 * it.
 */
export const withTasks = (news: CallNews["Service"], get: Get, inner: EndpointView["watch"]): EndpointView["watch"] =>
  Effect.fnUntraced(function* (interest, tell) {
    const others = yield* inner(interest, tell)
    if (interest.tasks.length === 0) return others
    const shown = new Map<string, string>()
    const look = (id: string) =>
      Effect.gen(function* () {
        const task = yield* get(id)
        if (task === undefined) return
        const now = JSON.stringify(task)
        if (shown.get(id) === now) return
        shown.set(id, now)
        tell({ kind: "task", task })
      }).pipe(Effect.catchCause((cause) => Effect.logError(`The state of task ${id} could not be sent`, cause)))
    const wanted = [...new Set(interest.tasks)]
    const stop = yield* news.listen(wanted, look)
    for (const id of wanted) yield* look(id)
    return {
      honoured: { ...others.honoured, tasks: wanted.filter((id) => shown.has(id)) },
      stop: () => {
        others.stop()
        stop()
      },
    }
  })
