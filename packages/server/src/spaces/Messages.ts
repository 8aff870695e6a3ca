/** What is said. A post takes the next number of its space in the same transaction: no gap, no double (S1-68). */
import {
  Forbidden,
  largestText,
  type Message,
  type MessageCall,
  type MessageId,
  Missing,
  type NewMessage,
  type Page,
  type Principal,
  type PrincipalId,
  type Provenance,
  type Space,
  TooLarge,
  WrongState,
} from "@stoa/contract"
import { Array as Arr, Context, DateTime, Effect, Layer, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { findText, indexText } from "../store/Search.ts"
import { mentionsIn } from "./mentions.ts"
import { messageColumns, messageFrom, messagesFrom } from "./rows.ts"
import { isMember, type Viewer } from "./Spaces.ts"
import { addresseesOf, readsMentions } from "./trigger.ts"

/** So far up a thread is looked for those who take part in it. */
const deepest = 100
/** So many ids in one question, and so many matches looked through for those the viewer may see. */
const idsAtOnce = 1000
const mostLookedAt = 50_000

/** What a post may carry besides its words: rooms above fill it in. */
export interface PostOptions {
  readonly call?: MessageCall
  readonly provenance?: Provenance
  readonly origin?: Schema.Json
}

export interface MessageQuery {
  readonly limit?: number
  readonly before?: number
  readonly after?: number
}

export class Messages extends Context.Service<
  Messages,
  {
    readonly post: (
      space: Space,
      author: Principal,
      message: NewMessage,
      options?: PostOptions,
    ) => Effect.Effect<Message, Missing | WrongState | TooLarge, Transaction>
    /** A call's message gets what became of it: the same message, not a second one (S1-78). */
    readonly settleCall: (id: MessageId, call: MessageCall) => Effect.Effect<void, never, Transaction>
    /** Ascending by seq: the newest, or those just before or after a number. */
    readonly list: (space: Space, query: MessageQuery) => Effect.Effect<Page<Message>>
    /** A message of a space the viewer cannot see is not there. */
    readonly get: (id: MessageId, viewer: Viewer) => Effect.Effect<Message, Missing>
    readonly history: (id: MessageId) => Effect.Effect<Page<{ readonly text: string; readonly at: string }>>
    readonly edit: (
      message: Message,
      by: Principal,
      text: string,
    ) => Effect.Effect<Message, Forbidden | WrongState | TooLarge, Transaction>
    readonly remove: (message: Message) => Effect.Effect<void, never, Transaction>
    readonly react: (message: Message, by: Principal, emoji: string) => Effect.Effect<void, WrongState, Transaction>
    readonly unreact: (message: Message, by: Principal, emoji: string) => Effect.Effect<void, never, Transaction>
    readonly pin: (message: Message, pinned: boolean) => Effect.Effect<void, WrongState, Transaction>
    readonly search: (query: {
      readonly words: string
      readonly viewer: Viewer
      readonly space?: Space
      readonly limit?: number
    }) => Effect.Effect<Page<Message>>
  }
>()("server/spaces/Messages") {
  static readonly layer = Layer.effect(
    Messages,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const columns = messageColumns(sql)
      const index = (id: string, text: string, isNew = false) =>
        Effect.orDie(Effect.provideService(indexText("messages", id, text, isNew), SqlClient.SqlClient, sql))

      const short = Effect.fnUntraced(function* (text: string) {
        const size = Buffer.byteLength(text)
        if (size > largestText) return yield* new TooLarge({ noun: "message", size, limit: largestText })
      })

      const byId = Effect.fnUntraced(function* (id: string) {
        const rows =
          yield* sql`SELECT ${columns} FROM messages m JOIN principals p ON p.id = m.author WHERE m.id = ${id}`
        return (yield* messagesFrom(sql, rows as never))[0]
      }, Effect.orDie)

      /** The message that is answered must be in this space, and one that can be answered (S1-65). */
      const threadOf = Effect.fnUntraced(function* (space: Space, replyTo: MessageId | undefined) {
        if (replyTo === undefined) return []
        const root = yield* byId(replyTo)
        if (root === undefined || root.space !== space.id) return yield* new Missing({ noun: "message", ref: replyTo })
        if (root.call !== null)
          return yield* new WrongState({ detail: "A tool call cannot be replied to; reply to a message." })
        if (root.deletedAt !== null) return yield* new WrongState({ detail: "This message was deleted." })
        // Up to the first message of the thread, and whoever has answered on the way (S0-60).
        const voices = yield* Effect.orDie(
          sql<{ author: PrincipalId }>`WITH RECURSIVE up (id, reply_to, author, depth) AS (
              SELECT id, reply_to, author, 0 FROM messages WHERE id = ${replyTo}
              UNION ALL SELECT m.id, m.reply_to, m.author, up.depth + 1 FROM messages m JOIN up ON m.id = up.reply_to
              WHERE up.depth < ${deepest})
            SELECT author FROM up UNION SELECT author FROM messages WHERE reply_to IN (SELECT id FROM up)`,
        )
        return voices.map((row) => row.author)
      })

      const post: Messages["Service"]["post"] = Effect.fn("Messages.post")(function* (
        space,
        author,
        message,
        options = {},
      ) {
        yield* short(message.text)
        const thread = yield* threadOf(space, message.replyTo)
        const mentions =
          options.call === undefined && readsMentions(space.trigger)
            ? mentionsIn(message.text, space.members).filter((id) => id !== author.id)
            : []
        const numbered = yield* Effect.orDie(
          sql<{ lastSeq: number }>`UPDATE spaces SET last_seq = last_seq + 1
            WHERE id = ${space.id} AND archived_at IS NULL RETURNING last_seq`,
        )
        if (numbered[0] === undefined)
          return yield* new WrongState({ detail: `${space.name} is archived: it can be read, not written to.` })
        const id = newId<MessageId>("msg")
        const provenance = options.provenance ?? (author.kind === "service" ? "outside" : author.kind)
        const row = {
          id,
          space: space.id,
          seq: numbered[0].lastSeq,
          author: author.id,
          text: message.text,
          call: options.call === undefined ? null : JSON.stringify(options.call),
          replyTo: message.replyTo ?? null,
          mentions: JSON.stringify(mentions),
          provenance,
          origin: options.origin === undefined ? null : JSON.stringify(options.origin),
          pinned: false,
          createdAt: DateTime.formatIso(yield* DateTime.now),
        }
        yield* Effect.orDie(sql`INSERT INTO messages ${sql.insert(row)}`)
        yield* index(id, message.text, true)
        // What one has said one has read.
        yield* Effect.orDie(
          sql`UPDATE members SET read_seq = ${row.seq} WHERE space = ${space.id} AND principal = ${author.id}`,
        )
        const posted = messageFrom(
          { ...row, authorName: author.name, authorKind: author.kind, editedAt: null, deletedAt: null } as never,
          [],
        )
        const addressees =
          options.call === undefined
            ? addresseesOf({ trigger: space.trigger, author, members: space.members, mentions, thread })
            : []
        yield* journal.append({
          kind: "message.created",
          space: space.id,
          actor: author.id,
          provenance,
          body: { message: posted, addressees },
        })
        return posted
      })

      const settleCall: Messages["Service"]["settleCall"] = Effect.fn("Messages.settleCall")(function* (id, call) {
        const rows = yield* Effect.orDie(
          sql`UPDATE messages SET call = ${JSON.stringify(call)} WHERE id = ${id} AND deleted_at IS NULL RETURNING id`,
        )
        if (rows.length === 0) return
        const message = (yield* byId(id))!
        yield* journal.append({
          kind: "message.settled",
          space: message.space,
          actor: message.author.id,
          provenance: message.provenance,
          body: { message },
        })
      })

      const list: Messages["Service"]["list"] = Effect.fn("Messages.list")(function* (
        space: Space,
        query: MessageQuery,
      ) {
        const limit = query.limit ?? 50
        const where = [sql`m.space = ${space.id}`]
        if (query.before !== undefined) where.push(sql`m.seq < ${query.before}`)
        if (query.after !== undefined) where.push(sql`m.seq > ${query.after}`)
        const forward = query.after !== undefined && query.before === undefined
        const order = sql.literal(forward ? "ASC" : "DESC")
        const rows = yield* sql`SELECT ${columns} FROM messages m JOIN principals p ON p.id = m.author
          WHERE ${sql.and(where)} ORDER BY m.seq ${order} LIMIT ${limit + 1}`
        const found = yield* messagesFrom(sql, rows.slice(0, limit) as never)
        const items = forward ? found : found.toReversed()
        const edge = forward ? items.at(-1) : items[0]
        return { items, next: rows.length > limit && edge !== undefined ? String(edge.seq) : null }
      }, Effect.orDie)

      const get: Messages["Service"]["get"] = Effect.fn("Messages.get")(function* (id, { all, principal }) {
        const seen = all
          ? [1]
          : yield* Effect.orDie(
              sql`SELECT m.id FROM messages m JOIN spaces s ON s.id = m.space WHERE m.id = ${id} AND
                (s.kind = 'public' OR s.id IN (SELECT space FROM members WHERE principal = ${principal.id}))`,
            )
        const found = seen.length === 0 ? undefined : yield* byId(id)
        return found ?? (yield* new Missing({ noun: "message", ref: id }))
      })

      const history: Messages["Service"]["history"] = Effect.fn("Messages.history")(function* (id: MessageId) {
        const items = yield* sql<{ text: string; at: string }>`SELECT text, at FROM message_edits
          WHERE message = ${id} ORDER BY place`
        return { items, next: null }
      }, Effect.orDie)

      const edit: Messages["Service"]["edit"] = Effect.fn("Messages.edit")(function* (message, by, text) {
        yield* short(text)
        if (message.deletedAt !== null || message.call !== null)
          return yield* new WrongState({ detail: "A deleted message and a tool call cannot be edited." })
        if (message.author.id !== by.id)
          return yield* new Forbidden({ action: "edit", resource: `messages/${message.id}`, rule: "its author's" })
        if (text === message.text) return message
        const now = DateTime.formatIso(yield* DateTime.now)
        // First the row, which holds back others who edit it: history has what really stood there.
        const before = yield* Effect.orDie(
          sql<{ text: string }>`UPDATE messages SET edited_at = ${now}
            WHERE id = ${message.id} AND deleted_at IS NULL RETURNING text`,
        )
        if (before[0] === undefined) return yield* new WrongState({ detail: "This message was deleted." })
        yield* Effect.orDie(sql`INSERT INTO message_edits (message, place, text, at)
          VALUES (${message.id}, (SELECT count(*) FROM message_edits WHERE message = ${message.id}), ${before[0].text}, ${now})`)
        yield* Effect.orDie(sql`UPDATE messages SET text = ${text} WHERE id = ${message.id}`)
        yield* index(message.id, text)
        const edited = (yield* byId(message.id))!
        yield* journal.append({ kind: "message.edited", space: message.space, body: { message: edited } })
        return edited
      })

      const remove: Messages["Service"]["remove"] = Effect.fn("Messages.remove")(function* (message: Message) {
        const now = DateTime.formatIso(yield* DateTime.now)
        // Its place stays, so that numbers have no gap and replies keep their thread; what it said does not.
        const rows = yield* sql`UPDATE messages SET text = '', call = NULL, mentions = '[]', pinned = ${false},
          deleted_at = ${now} WHERE id = ${message.id} AND deleted_at IS NULL RETURNING id`
        if (rows.length === 0) return
        yield* sql`DELETE FROM reactions WHERE message = ${message.id}`
        yield* sql`DELETE FROM message_edits WHERE message = ${message.id}`
        yield* index(message.id, "")
        yield* journal.append({
          kind: "message.deleted",
          space: message.space,
          body: { message: message.id, seq: message.seq },
        })
      }, Effect.orDie)

      const react: Messages["Service"]["react"] = Effect.fn("Messages.react")(function* (message, by, emoji) {
        // Holds the row, so that a deletion comes wholly before this or wholly after.
        const there = yield* Effect.orDie(
          sql`UPDATE messages SET pinned = pinned WHERE id = ${message.id} AND deleted_at IS NULL RETURNING id`,
        )
        if (there.length === 0) return yield* new WrongState({ detail: "This message was deleted." })
        const createdAt = DateTime.formatIso(yield* DateTime.now)
        const row = { message: message.id, emoji, principal: by.id, createdAt }
        const rows = yield* Effect.orDie(
          sql`INSERT INTO reactions ${sql.insert(row)} ON CONFLICT (message, emoji, principal) DO NOTHING RETURNING message`,
        )
        if (rows.length === 0) return
        yield* journal.append({
          kind: "reaction.added",
          space: message.space,
          body: { message: message.id, emoji, by: by.id },
        })
      })

      const unreact: Messages["Service"]["unreact"] = Effect.fn("Messages.unreact")(function* (
        message: Message,
        by: Principal,
        emoji: string,
      ) {
        const rows = yield* sql`DELETE FROM reactions
          WHERE message = ${message.id} AND principal = ${by.id} AND emoji = ${emoji} RETURNING message`
        if (rows.length === 0) return
        yield* journal.append({
          kind: "reaction.removed",
          space: message.space,
          body: { message: message.id, emoji, by: by.id },
        })
      }, Effect.orDie)

      const pin: Messages["Service"]["pin"] = Effect.fn("Messages.pin")(function* (message, pinned) {
        if (message.deletedAt !== null) return yield* new WrongState({ detail: "This message was deleted." })
        const rows = yield* Effect.orDie(
          sql`UPDATE messages SET pinned = ${pinned}
            WHERE id = ${message.id} AND pinned <> ${pinned} AND deleted_at IS NULL RETURNING id`,
        )
        if (rows.length === 0) return
        yield* journal.append({ kind: "message.pinned", space: message.space, body: { message: message.id, pinned } })
      })

      const search: Messages["Service"]["search"] = Effect.fn("Messages.search")(function* ({
        limit = 50,
        space,
        viewer,
        words,
      }: Parameters<Messages["Service"]["search"]>[0]) {
        const where = [sql`m.deleted_at IS NULL`]
        if (space !== undefined) where.push(sql`m.space = ${space.id}`)
        if (!viewer.all)
          where.push(
            sql`(s.kind = 'public' OR s.id IN (SELECT space FROM members WHERE principal = ${viewer.principal.id}))`,
          )
        // What the viewer may not see is taken out afterwards, and must not keep out what it may see: then more is looked at.
        for (let most = limit * 20; ; most *= 8) {
          const ids = yield* Effect.provideService(findText("messages", words, most), SqlClient.SqlClient, sql)
          if (ids.length === 0) return { items: [], next: null }
          const rows: Array<{ readonly createdAt: string }> = []
          for (const some of Arr.chunksOf(ids, idsAtOnce))
            rows.push(
              ...(yield* sql<{
                createdAt: string
              }>`SELECT ${columns} FROM messages m JOIN principals p ON p.id = m.author
                JOIN spaces s ON s.id = m.space WHERE ${sql.and([sql.in("m.id", some), ...where])}
                ORDER BY m.created_at DESC, m.id LIMIT ${limit}`),
            )
          if (rows.length < limit && ids.length === most && most < mostLookedAt) continue
          const newest = rows.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1)).slice(0, limit)
          return { items: yield* messagesFrom(sql, newest as never), next: null }
        }
      }, Effect.orDie)

      return Messages.of({ post, settleCall, list, get, history, edit, remove, react, unreact, pin, search })
    }),
  )
}

/** Posting needs membership; public spaces are open to the house. */
export const mayPost = (space: Space, principal: PrincipalId): boolean =>
  space.kind === "public" || isMember(space, principal)
