/** Messages to rows: days, the line of new messages, groups by author, calls in one frame. Pure, with stable keys. */
import type { Decision, Message } from "../../../feed/types.ts"
import { dayKey } from "../../../parts/figures/time.logic.ts"
import type { Pending } from "../composer/outbox.ts"

export type Row =
  | { readonly kind: "day"; readonly key: string; readonly at: string }
  | { readonly kind: "new"; readonly key: string }
  | {
      readonly kind: "message"
      readonly key: string
      readonly message: Message
      /** The first of its group shows the author. */
      readonly head: boolean
      readonly replies: number
    }
  | { readonly kind: "calls"; readonly key: string; readonly messages: ReadonlyArray<Message>; readonly head: boolean }
  | {
      readonly kind: "decision"
      readonly key: string
      readonly decision: Decision
      readonly message: Message | undefined
      readonly head: boolean
    }
  | { readonly kind: "pending"; readonly key: string; readonly pending: Pending; readonly head: boolean }

const groupMillis = 5 * 60_000

/** The root message of a reply, as far as it is loaded. */
export const rootsOf = (messages: ReadonlyArray<Message>): ReadonlyMap<string, string> => {
  const parents = new Map(messages.map((one) => [one.id, one.replyTo]))
  const roots = new Map<string, string>()
  for (const { id } of messages) {
    let at: string = id
    for (let up = parents.get(at); up !== null && up !== undefined; up = parents.get(at)) {
      if (!parents.has(up) || up === id) break
      at = up
    }
    if (at !== id) roots.set(id, at)
  }
  return roots
}

export interface RowsOf {
  readonly messages: ReadonlyArray<Message>
  /** Open decisions of this space. */
  readonly decisions: ReadonlyArray<Decision>
  readonly pending: ReadonlyArray<Pending>
  /** The number of the first message that is new to the reader. */
  readonly newFrom: number | undefined
  readonly me: string
}

const time = (at: string) => Date.parse(at)

export const rowsOf = ({ decisions, me, messages, newFrom, pending }: RowsOf): ReadonlyArray<Row> => {
  const roots = rootsOf(messages)
  const replies = new Map<string, number>()
  for (const { deletedAt, id } of messages) {
    const root = roots.get(id)
    if (root !== undefined && deletedAt === null) replies.set(root, (replies.get(root) ?? 0) + 1)
  }
  const byCall = new Map(decisions.flatMap((one) => (one.call === null ? [] : [[one.call.id, one] as const])))
  const shown = new Set(messages.flatMap(({ call, id }) => (call === null || roots.has(id) ? [] : [call.id])))
  /** Decisions of calls without a visible message: each stands where it was asked, above what was said later. */
  const alone = decisions
    .filter(({ call }) => call === null || !shown.has(call.id))
    .toSorted((one, other) => time(one.createdAt) - time(other.createdAt))
  const rows: Array<Row> = []
  let day: number | undefined
  let author: string | undefined
  let last = 0
  let isNew = false
  const headOf = (who: string, at: string): boolean => {
    const head = who !== author || time(at) - last > groupMillis
    author = who
    last = time(at)
    return head
  }
  const begin = (at: string, seq: number | undefined) => {
    if (dayKey(at) !== day) {
      day = dayKey(at)
      author = undefined
      rows.push({ kind: "day", key: `day-${day}`, at })
    }
    if (!isNew && newFrom !== undefined && seq !== undefined && seq >= newFrom) {
      isNew = true
      author = undefined
      rows.push({ kind: "new", key: "new" })
    }
  }
  const drawAlone = (before: number) => {
    while (alone[0] !== undefined && time(alone[0].createdAt) < before) {
      const decision = alone.shift()!
      begin(decision.createdAt, undefined)
      const head = headOf(decision.askedBy, decision.createdAt)
      rows.push({ kind: "decision", key: decision.id, decision, message: undefined, head })
    }
  }
  for (const message of messages) {
    if (roots.has(message.id) || (message.deletedAt !== null && message.call === null && !replies.has(message.id)))
      continue
    drawAlone(time(message.createdAt))
    begin(message.createdAt, message.seq)
    const head = headOf(message.author.id, message.createdAt)
    const decision = message.call === null ? undefined : byCall.get(message.call.id)
    const before = rows.at(-1)
    if (decision !== undefined) rows.push({ kind: "decision", key: message.id, decision, message, head })
    else if (message.call === null)
      rows.push({ kind: "message", key: message.id, message, head, replies: replies.get(message.id) ?? 0 })
    else if (!head && before?.kind === "calls")
      rows[rows.length - 1] = { ...before, messages: [...before.messages, message] }
    else rows.push({ kind: "calls", key: message.id, messages: [message], head })
  }
  drawAlone(Infinity)
  for (const one of pending.filter(({ replyTo }) => replyTo === null)) {
    begin(one.at, undefined)
    rows.push({ kind: "pending", key: one.key, pending: one, head: headOf(me, one.at) })
  }
  return rows
}

const sameList = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean =>
  one.length === other.length && one.every((item, at) => item === other[at])

/** Whether a row would look the same: rows are rebuilt with every batch, and most do not change. */
export const sameRow = (one: Row, other: Row): boolean => {
  if (one === other) return true
  if (one.key !== other.key) return false
  if (one.kind === "new" && other.kind === "new") return true
  if (one.kind === "message" && other.kind === "message")
    return one.message === other.message && one.head === other.head && one.replies === other.replies
  if (one.kind === "calls" && other.kind === "calls")
    return one.head === other.head && sameList(one.messages, other.messages)
  if (one.kind === "decision" && other.kind === "decision")
    return one.decision === other.decision && one.message === other.message && one.head === other.head
  // Pending posts are redrawn, and a day says "today" only while it is.
  return false
}

/** An estimate before it is measured, so that little moves. */
export const heightOf = (row: Row): number => {
  if (row.kind === "day" || row.kind === "new") return 34
  if (row.kind === "decision") return 300
  if (row.kind === "calls") return (row.head ? 38 : 16) + Math.min(row.messages.length, 6) * 35
  const text = row.kind === "message" ? row.message.text : row.pending.text
  // As drawn in a window of usual width; an empty line is the gap between two paragraphs.
  const lines = text.split("\n").map((line) => (line === "" ? 7 : Math.ceil(line.length / 80) * 23.4))
  return (row.head ? 36 : 3.2) + lines.reduce((sum, height) => sum + height, 0)
}
