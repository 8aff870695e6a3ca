/** Posts that are not confirmed yet. A failed post stays in its place, and is retried with the same key. */
import { cache, keys } from "../../../feed/cache.ts"
import { moment, now } from "../../../feed/clock.ts"
import { house } from "../../../feed/house.ts"
import { type LoadedMessages, withPosted } from "../../../feed/messages.logic.ts"
import { makeStore } from "../../../feed/store.ts"

export interface Pending {
  readonly key: string
  readonly text: string
  readonly replyTo: string | null
  readonly at: string
  readonly error: Error | undefined
}

export const outbox = makeStore<ReadonlyMap<string, ReadonlyArray<Pending>>>(new Map())

const change = (space: string, of: (list: ReadonlyArray<Pending>) => ReadonlyArray<Pending>) =>
  outbox.set((old) => new Map(old).set(space, of(old.get(space) ?? [])))

/** A key that makes one post happen once, however often it is sent. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")

const trySend = async (space: string, pending: Pending): Promise<void> => {
  const { key, replyTo, text } = pending
  try {
    const said = await house.spaces.post(
      space,
      { text, ...(replyTo === null ? {} : { replyTo }) },
      { idempotencyKey: key },
    )
    // Together: the pending post disappears in the same render in which the real one appears.
    change(space, (list) => list.filter((one) => one.key !== key))
    cache.setQueryData<LoadedMessages>(keys.messages(space), (old) => old && withPosted(old, said))
    if (replyTo !== null) void cache.invalidateQueries({ queryKey: ["thread"] })
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause))
    change(space, (list) => list.map((one) => (one.key === key ? { ...one, error } : one)))
  }
}

export const post = (space: string, text: string, replyTo: string | null): Promise<void> => {
  const pending: Pending = { key: newKey(), text, replyTo, at: moment(now()).toISOString(), error: undefined }
  change(space, (list) => [...list, pending])
  return trySend(space, pending)
}

export const postAgain = (space: string, pending: Pending): Promise<void> => {
  change(space, (list) => list.map((one) => (one.key === pending.key ? { ...one, error: undefined } : one)))
  return trySend(space, pending)
}

export const giveUp = (space: string, key: string): void =>
  change(space, (list) => list.filter((one) => one.key !== key))
