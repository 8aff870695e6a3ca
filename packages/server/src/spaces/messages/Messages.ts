/** Messages, and who may post them (`rules.ts`). A post gets the next number of its space: no gaps, no duplicates (S1-68). */
import {
  BadInput,
  Forbidden,
  type FoundMessage,
  largestText,
  type Message,
  type MessageCall,
  type MessageId,
  Missing,
  type NewMessage,
  type Page,
  type PrincipalId,
  type Space,
  TooLarge,
  type TooManyRequests,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../access/limits/Limits.ts"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { newId, provenanceOf } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { type SearchAnswer, SearchIndex } from "../../store/search/SearchIndex.ts"
import { mentionsIn } from "../addressees/mentions.ts"
import { type MessageQuery, type MessageSearch, type PostOptions, runOf } from "./PostOptions.ts"
import { messageColumns, messageFrom, messagesFrom, withinPage } from "../rows.ts"
import type { Act } from "../rules.ts"
import { withoutWrongState, type SpaceRefusal, refuseSight } from "../refusals.ts"
import { Spaces } from "../Spaces.ts"
import { makeErase } from "./erase.ts"
import { type ExcerptsAsked, type MessageExcerpt, readExcerpts } from "./MessageExcerpts.ts"
import { isHeldMember, makeNumbering } from "./numbering.ts"
import { makeReactions } from "./reactions.ts"
import { makeSearch, scopeOf } from "./search.ts"
import { messagesIn, authorsIn } from "./thread.ts"
import { originFields, recipientsOf, readsMentions } from "../addressees/addressees.ts"

export class Messages extends Context.Service<
  Messages,
  {
    /** The space is loaded in the same transaction: its members, its trigger rule and its state are judged as given. */
    readonly post: (
      space: Space,
      author: Viewer,
      message: NewMessage,
      options?: PostOptions,
    ) => Effect.Effect<Message, SpaceRefusal | TooLarge | TooManyRequests, Transaction>
    /** Writes the outcome of a call into its message: the same message, not a second one (S1-78). */
    readonly settleCall: (id: MessageId, call: MessageCall) => Effect.Effect<void, never, Transaction>
    /** The call waits or continues: the same message shows it. */
    readonly changeCall: (id: MessageId, call: MessageCall) => Effect.Effect<void, never, Transaction>
    /** Ascending by seq: the newest, or those just before or after a number. */
    readonly list: (
      space: Space,
      viewer: Viewer,
      query: MessageQuery,
    ) => Effect.Effect<Page<Message>, Missing | Forbidden>
    /** The newest, ascending by seq, for a prompt: no more of them is read than asked for. */
    readonly excerpts: (
      space: Space,
      viewer: Viewer,
      asked: ExcerptsAsked,
    ) => Effect.Effect<ReadonlyArray<MessageExcerpt>, Missing | Forbidden>
    /** A message in a space the viewer cannot see counts as missing. */
    readonly get: (id: MessageId, viewer: Viewer) => Effect.Effect<Message, Missing | Forbidden>
    readonly history: (
      id: MessageId,
      viewer: Viewer,
    ) => Effect.Effect<Page<{ readonly text: string; readonly at: string }>, Missing | Forbidden>
    readonly edit: (
      id: MessageId,
      by: Viewer,
      text: string,
    ) => Effect.Effect<Message, SpaceRefusal | TooLarge, Transaction>
    readonly remove: (id: MessageId, by: Viewer) => Effect.Effect<void, SpaceRefusal, Transaction>
    /**
     * Deletes some messages of a space that its owner gives up, archived or not. The number after which the rest begins;
     * null: there is no more.
     */
    readonly clear: (
      space: Space,
      by: Viewer,
      part: { readonly after: number; readonly limit: number },
    ) => Effect.Effect<number | null, SpaceRefusal, Transaction>
    readonly react: (
      id: MessageId,
      by: Viewer,
      emoji: string,
    ) => Effect.Effect<void, SpaceRefusal | BadInput, Transaction>
    readonly unreact: (id: MessageId, by: Viewer, emoji: string) => Effect.Effect<void, SpaceRefusal, Transaction>
    readonly pin: (id: MessageId, by: Viewer, pinned: boolean) => Effect.Effect<void, SpaceRefusal, Transaction>
    readonly search: (query: MessageSearch) => Effect.Effect<Page<FoundMessage>, Forbidden | BadInput>
    /** The scopes of a search of everything the viewer may see, and which of its results still exist. */
    readonly scopes: (viewer: Viewer) => Effect.Effect<ReadonlyArray<string>>
    readonly among: (
      viewer: Viewer,
      answered: SearchAnswer,
      ids: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyMap<string, FoundMessage>>
    /** Whether the viewer sees one of these: in a visible space, and not deleted. */
    readonly seesAny: (ids: ReadonlyArray<string>, viewer: Viewer) => Effect.Effect<boolean>
  }
>()("server/spaces/Messages") {
  static readonly layer = Layer.effect(
    Messages,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const spaces = yield* Spaces
      const limits = yield* Limits
      const numbered = yield* makeNumbering
      const columns = messageColumns(sql)
      const index = yield* SearchIndex
      const messageSearch = makeSearch(sql, index)
      const erase = makeErase(sql, index, journal)
      const reactions = makeReactions(sql, journal)

      const short = Effect.fnUntraced(function* (text: string) {
        const size = Buffer.byteLength(text)
        if (size > largestText) return yield* new TooLarge({ noun: "message", size, limit: largestText })
      })

      const byId = Effect.fnUntraced(function* (id: string) {
        const rows =
          yield* sql`SELECT ${columns} FROM messages m JOIN principals p ON p.id = m.author WHERE m.id = ${id}`
        return (yield* messagesFrom(sql, rows as never))[0]
      }, Effect.orDie)

      /** A message, if the viewer may do this to it. */
      const reach = Effect.fnUntraced(function* (act: Act, id: MessageId, viewer: Viewer) {
        const message = yield* byId(id)
        const hidden = refuseSight("message", id, viewer, "spaces/*")
        if (message === undefined) return yield* hidden
        // Whoever changes something stays a member until it is done; what is loaded after this says whether they are one.
        if (act !== "see") yield* Effect.orDie(sql`SELECT ${isHeldMember(sql, message.space, viewer.principal.id)}`)
        const space = yield* Effect.catch(spaces.get(message.space, viewer), () => hidden)
        yield* spaces.require(act, space, viewer, message)
        return message
      })

      /** The answered message must be in this space, and one that can be answered (S1-65). */
      const threadOf = Effect.fnUntraced(function* (space: Space, replyTo: MessageId | undefined) {
        if (replyTo === undefined) return []
        const root = yield* byId(replyTo)
        if (root === undefined || root.space !== space.id) return yield* new Missing({ noun: "message", ref: replyTo })
        if (root.call !== null)
          return yield* new WrongState({ detail: "A tool call cannot be replied to; reply to a message." })
        if (root.deletedAt !== null) return yield* new WrongState({ detail: "This message was deleted." })
        const voices = yield* Effect.orDie(authorsIn(sql, replyTo))
        return voices.map((row) => (row as { readonly author: PrincipalId }).author)
      })

      const post: Messages["Service"]["post"] = Effect.fn("Messages.post")(function* (space, by, message, given = {}) {
        const options: PostOptions = { ...(yield* runOf(by.principal.id)), ...given }
        yield* spaces.require("post", space, by)
        // A call was counted as a call already; messages of the house itself are not counted.
        if (options.call === undefined && by.epoch !== undefined)
          yield* limits.take({ principal: by.principal, epoch: by.epoch }, `spaces/${space.name}`)
        yield* short(message.text)
        const author = by.principal
        const thread = yield* threadOf(space, message.replyTo)
        const mentions =
          options.call === undefined && readsMentions(space.trigger)
            ? mentionsIn(message.text, space.members).filter((id) => id !== author.id)
            : []
        const seq = yield* numbered(space, by)
        const id = newId<MessageId>("msg")
        const provenance = options.provenance ?? provenanceOf(author.kind)
        const row = {
          id,
          space: space.id,
          seq,
          author: author.id,
          text: message.text,
          call: options.call === undefined ? null : JSON.stringify(options.call),
          replyTo: message.replyTo ?? null,
          mentions: JSON.stringify(mentions),
          provenance,
          origin: options.origin === undefined ? null : JSON.stringify(options.origin),
          run: options.run ?? null,
          pinned: false,
          createdAt: DateTime.formatIso(yield* DateTime.now),
        }
        yield* Effect.orDie(sql`INSERT INTO messages ${sql.insert(row)}`)
        yield* messageSearch.put({ ...row, authorName: author.name }, true)
        // Authors have read their own messages.
        yield* Effect.orDie(
          sql`UPDATE members SET read_seq = ${row.seq} WHERE space = ${space.id} AND principal = ${author.id}`,
        )
        const posted = messageFrom(
          { ...row, authorName: author.name, authorKind: author.kind, editedAt: null, deletedAt: null } as never,
          [],
        )
        const addressees = recipientsOf(options, {
          trigger: space.trigger,
          author,
          members: space.members,
          mentions,
          thread,
        })
        yield* journal.append({
          kind: "message.created",
          space: space.id,
          actor: author.id,
          provenance,
          body: { message: posted, addressees, ...originFields(options) },
        })
        return posted
      })

      const putCall = Effect.fnUntraced(function* (
        kind: "message.changed" | "message.settled",
        id: MessageId,
        call: MessageCall,
      ) {
        const rows = yield* Effect.orDie(
          sql`UPDATE messages SET call = ${JSON.stringify(call)} WHERE id = ${id} AND deleted_at IS NULL RETURNING id`,
        )
        if (rows.length === 0) return
        const message = (yield* byId(id))!
        yield* journal.append({
          kind,
          space: message.space,
          actor: message.author.id,
          provenance: message.provenance,
          body: { message },
        })
      })

      const settleCall: Messages["Service"]["settleCall"] = Effect.fn("Messages.settleCall")((id, call) =>
        putCall("message.settled", id, call),
      )
      const changeCall: Messages["Service"]["changeCall"] = Effect.fn("Messages.changeCall")((id, call) =>
        putCall("message.changed", id, call),
      )

      const list: Messages["Service"]["list"] = Effect.fn("Messages.list")(function* (space, viewer, query) {
        yield* withoutWrongState(spaces.require("see", space, viewer))
        const limit = query.limit ?? 50
        const where = [sql`m.space = ${space.id}`]
        if (query.before !== undefined) where.push(sql`m.seq < ${query.before}`)
        if (query.after !== undefined) where.push(sql`m.seq > ${query.after}`)
        if (query.thread !== undefined) where.push(sql`m.id IN (${messagesIn(sql, query.thread)})`)
        const forward = query.after !== undefined && query.before === undefined
        const order = sql.literal(forward ? "ASC" : "DESC")
        const rows = yield* Effect.orDie(
          sql`SELECT ${columns} FROM messages m JOIN principals p ON p.id = m.author
            WHERE ${sql.and(where)} ORDER BY m.seq ${order} LIMIT ${limit + 1}`,
        )
        const page = withinPage(rows.slice(0, limit) as never)
        const found = yield* Effect.orDie(messagesFrom(sql, page))
        const items = forward ? found : found.toReversed()
        const edge = forward ? items.at(-1) : items[0]
        return { items, next: rows.length > page.length && edge !== undefined ? String(edge.seq) : null }
      })

      const excerpts: Messages["Service"]["excerpts"] = Effect.fn("Messages.excerpts")(
        function* (space, viewer, asked) {
          yield* withoutWrongState(spaces.require("see", space, viewer))
          return yield* readExcerpts(sql, space.id, asked)
        },
      )

      const get: Messages["Service"]["get"] = Effect.fn("Messages.get")(function* (id, viewer) {
        // A viewer that sees a space may see its messages, whatever the state of the space.
        return yield* withoutWrongState(reach("see", id, viewer))
      })

      const history: Messages["Service"]["history"] = Effect.fn("Messages.history")(function* (id, viewer) {
        yield* get(id, viewer)
        const items = yield* Effect.orDie(
          sql<{ text: string; at: string }>`SELECT text, at FROM message_edits WHERE message = ${id} ORDER BY place`,
        )
        return { items, next: null }
      })

      const edit: Messages["Service"]["edit"] = Effect.fn("Messages.edit")(function* (id, by, text) {
        yield* short(text)
        const message = yield* reach("edit", id, by)
        if (message.deletedAt !== null || message.call !== null)
          return yield* new WrongState({ detail: "A deleted message and a tool call cannot be edited." })
        if (text === message.text) return message
        const now = DateTime.formatIso(yield* DateTime.now)
        // Updates the row first, which locks out other edits: the history then has the real previous text.
        const before = yield* Effect.orDie(
          sql<{ text: string }>`UPDATE messages SET edited_at = ${now}
            WHERE id = ${message.id} AND deleted_at IS NULL RETURNING text`,
        )
        if (before[0] === undefined) return yield* new WrongState({ detail: "This message was deleted." })
        yield* Effect.orDie(sql`INSERT INTO message_edits (message, place, text, at)
          VALUES (${message.id}, (SELECT count(*) FROM message_edits WHERE message = ${message.id}), ${before[0].text}, ${now})`)
        yield* Effect.orDie(sql`UPDATE messages SET text = ${text} WHERE id = ${message.id}`)
        const edited = (yield* byId(message.id))!
        yield* messageSearch.put({ ...edited, authorName: edited.author.name })
        yield* journal.append({ kind: "message.edited", space: message.space, body: { message: edited } })
        return edited
      })

      const remove: Messages["Service"]["remove"] = Effect.fn("Messages.remove")(function* (id, by) {
        yield* erase(yield* reach("remove", id, by))
      })

      const clear: Messages["Service"]["clear"] = Effect.fn("Messages.clear")(function* (space, by, part) {
        // The act of a space's owner that its being archived does not prevent.
        yield* spaces.require("restore", space, by)
        const { items, next } = yield* list(space, by, part)
        yield* Effect.forEach(items, erase, { discard: true })
        return next === null ? null : Number(next)
      })

      const react: Messages["Service"]["react"] = Effect.fn("Messages.react")(function* (id, by, emoji) {
        return yield* reactions.give(yield* reach("react", id, by), by.principal.id, emoji)
      })

      const unreact: Messages["Service"]["unreact"] = Effect.fn("Messages.unreact")(function* (id, by, emoji) {
        return yield* reactions.takeBack(yield* reach("react", id, by), by.principal.id, emoji)
      })

      const pin: Messages["Service"]["pin"] = Effect.fn("Messages.pin")(function* (id, by, pinned) {
        const message = yield* reach("pin", id, by)
        if (message.deletedAt !== null) return yield* new WrongState({ detail: "This message was deleted." })
        const rows = yield* Effect.orDie(
          sql`UPDATE messages SET pinned = ${pinned}
            WHERE id = ${message.id} AND pinned <> ${pinned} AND deleted_at IS NULL RETURNING id`,
        )
        if (rows.length === 0) return
        yield* journal.append({ kind: "message.pinned", space: message.space, body: { message: message.id, pinned } })
      })

      /** The spaces a search covers, among those the viewer may see. */
      const searched = Effect.fnUntraced(function* (viewer: Viewer, space?: Space) {
        const seen = yield* spaces.visibleTo(viewer)
        if (seen.size > 0) return space === undefined ? seen : new Set(seen.has(space.id) ? [space.id] : [])
        const { rule, verdict } = viewer.judge("read", "spaces/*")
        return verdict === "allow" ? seen : yield* new Forbidden({ action: "read", resource: "spaces/*", rule })
      })

      const search: Messages["Service"]["search"] = Effect.fn("Messages.search")(function* (query) {
        const { cursor, limit = 50, space, viewer, words } = query
        return yield* messageSearch.search({
          words,
          by: viewer.principal.id,
          limit,
          cursor,
          seen: yield* searched(viewer, space),
        })
      })

      const scopes: Messages["Service"]["scopes"] = (viewer) =>
        Effect.map(spaces.visibleTo(viewer), (seen) => [...seen].map(scopeOf))

      const among: Messages["Service"]["among"] = Effect.fnUntraced(function* (viewer, answered, ids) {
        return yield* messageSearch.among(answered, ids, yield* spaces.visibleTo(viewer))
      })

      const seesAny: Messages["Service"]["seesAny"] = Effect.fnUntraced(function* (ids, viewer) {
        return ids.length > 0 && (yield* messageSearch.anyIn(ids, yield* spaces.visibleTo(viewer)))
      })

      return Messages.of({
        post,
        settleCall,
        changeCall,
        list,
        excerpts,
        get,
        history,
        edit,
        remove,
        clear,
        react,
        unreact,
        pin,
        search,
        scopes,
        among,
        seesAny,
      })
    }),
  )
}
