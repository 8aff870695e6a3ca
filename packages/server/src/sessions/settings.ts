/** What one owner told an agent to use from now on: which session, which model. Small records in the owner's memory. */
import { houseKinds, type PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import type { MemoryActor, Memories } from "../memory/Memories.ts"

const namespace = "engrams"
const kind = houseKinds.setting
/** Settings change here alone. */
const room = "sessions"

export const makeSettings = (memories: Memories["Service"]) => {
  const recordOf = (owner: PrincipalId, key: string) =>
    Effect.map(memories.list({ id: owner }, { namespace, kind, key, owner, limit: 1 }), ({ items }) => items[0])

  const get = (owner: PrincipalId, key: string): Effect.Effect<string | undefined> =>
    Effect.map(recordOf(owner, key), (record) => record?.content)

  const set = (by: MemoryActor, key: string, value: string) =>
    memories
      .put({ ...by, room }, by.id, { namespace, kind, key, content: value, public: false })
      .pipe(Effect.catchTag(["StaleVersion", "TooLarge"], Effect.die), Effect.asVoid)

  const remove = Effect.fnUntraced(function* (by: MemoryActor, key: string) {
    const record = yield* recordOf(by.id, key)
    // A pinned setting stays: what it refers to is gone, so it has no effect.
    if (record !== undefined && !record.pinned) yield* memories.remove({ ...by, room }, record.id, true)
  })

  /** Removes the setting. A pinned record cannot be deleted, so it is emptied. */
  const clear = Effect.fnUntraced(function* (by: MemoryActor, key: string) {
    const record = yield* recordOf(by.id, key)
    if (record === undefined) return
    if (record.pinned) yield* set(by, key, "")
    else yield* memories.remove({ ...by, room }, record.id, true)
  })

  return { get, set, remove, clear }
}
