/** The loaded messages of a space: one range without gaps, and whether there is more at either end. */
import type { Message } from "./types.ts"

export interface LoadedMessages {
  readonly items: ReadonlyArray<Message>
  readonly older: boolean
  readonly newer: boolean
}

/** At most this many are kept: the far end is dropped. */
export const maxLoaded = 600

/** Sorted by number, the later version of each. */
export const mergeMessages = (a: ReadonlyArray<Message>, b: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const last = a.at(-1)
  const first = b[0]
  if (last === undefined || first === undefined || first.seq > last.seq) return [...a, ...b]
  const by = new Map([...a, ...b].map((one) => [one.seq, one]))
  return [...by.values()].toSorted((x, y) => x.seq - y.seq)
}

export const withOlder = (loaded: LoadedMessages, page: ReadonlyArray<Message>, more: boolean): LoadedMessages => {
  const items = mergeMessages(page, loaded.items)
  return items.length > maxLoaded
    ? { items: items.slice(0, maxLoaded), older: more, newer: true }
    : { ...loaded, items, older: more }
}

export const withNewer = (loaded: LoadedMessages, page: ReadonlyArray<Message>, more: boolean): LoadedMessages => {
  const items = mergeMessages(loaded.items, page)
  return items.length > maxLoaded
    ? { items: items.slice(-maxLoaded), older: true, newer: more }
    : { ...loaded, items, newer: more }
}

/** Adds a new message. If the end is not loaded, it will be there when the reader gets to it. */
export const withPosted = (loaded: LoadedMessages, message: Message): LoadedMessages => {
  if (loaded.newer && message.seq > (loaded.items.at(-1)?.seq ?? 0)) return loaded
  if (loaded.items.some(({ id }) => id === message.id)) return withChanged(loaded, message.id, () => message)
  return withNewer(loaded, [message], loaded.newer)
}

export const withChanged = (
  loaded: LoadedMessages,
  id: string,
  change: (message: Message) => Message,
): LoadedMessages =>
  loaded.items.some((one) => one.id === id)
    ? { ...loaded, items: loaded.items.map((one) => (one.id === id ? change(one) : one)) }
    : loaded

export const asDeleted = (message: Message, at: string): Message => ({
  ...message,
  text: "",
  call: null,
  mentions: [],
  reactions: [],
  pinned: false,
  deletedAt: at,
})

export const withReaction = (message: Message, emoji: string, by: string, on: boolean): Message => {
  const found = message.reactions.find((one) => one.emoji === emoji)
  const others = (found?.by ?? []).filter((one) => one !== by)
  const left = on ? [...others, by] : others
  const reactions =
    found === undefined
      ? on
        ? [...message.reactions, { emoji, by: [by] }]
        : message.reactions
      : message.reactions.flatMap((one) =>
          one.emoji !== emoji ? [one] : left.length === 0 ? [] : [{ ...one, by: left }],
        )
  return { ...message, reactions }
}
