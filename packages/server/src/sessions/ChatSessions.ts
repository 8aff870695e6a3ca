/**
 * Lasting conversations: a memory record of the owner names a private space with the messages. This room joins
 * the two and has no table of its own, so that nothing is lost at a restart and nothing is stored twice. The space
 * decides who may read and write, and its owner is the owner of the session: a record that somebody wrote by hand gives
 * no access.
 */
import {
  BadInput,
  type CallId,
  type ChatSession,
  type ChatSessionChange,
  type ChatSessionId,
  Forbidden,
  houseKinds,
  type MemoryRecord,
  type Message,
  Missing,
  type NewChatSession,
  type NewMessage,
  type Page,
  type PageQuery,
  type PrincipalId,
  type Space,
  type TooLarge,
  type TooManyRequests,
  WrongState,
} from "@stoa/contract"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { nameKey, Principals } from "../access/identity/Principals.ts"
import { demandsOf, findVisible } from "../access/rights/FindIfPermitted.ts"
import type { Viewer } from "../access/rights/Viewer.ts"
import { Memories } from "../memory/Memories.ts"
import { Messages } from "../spaces/messages/Messages.ts"
import type { MessageQuery } from "../spaces/messages/PostOptions.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { lockName, lockNames } from "../store/database/dialect/Locks.ts"
import { newId } from "../store/journal/Correlation.ts"
import type { Transaction } from "../store/journal/Journal.ts"
import { isCompanion } from "./Companions.ts"
import { messagesPerStep, makeSessionCleanup } from "./SessionCleanup.ts"
import {
  type Content,
  contentOf,
  contentText,
  keyOf,
  sessionFrom,
  sessionOf,
  spaceOf,
  titleFrom,
  untitled,
} from "./sessionRecord.ts"
import { makeSettings } from "./settings.ts"
import { makeVisitorOf, spaceNameOf, type VisitorOf } from "./visitors.ts"

export { sessionIdOf } from "./sessionRecord.ts"

/** What a clean-up keeps, besides pinned sessions (S2-49). */
const kept = 5
/** The most messages of one session; then a new one must be started. */
const maxMessages = 5000
/** The most sessions per clean-up, so that others can write in between. */
const cleanedAtOnce = 200

/** Whose rights are used, and who acts if that is somebody else. */
export interface SessionActor {
  readonly viewer: Viewer
  readonly acting?: PrincipalId
  readonly call?: CallId
}

type Refused = Missing | Forbidden | WrongState

export class ChatSessions extends Context.Service<
  ChatSessions,
  {
    /** Makes the new session the current one of its owner and the agent. */
    readonly add: (
      by: SessionActor,
      wanted: NewChatSession,
    ) => Effect.Effect<ChatSession, Refused | BadInput, Transaction>
    /**
     * The last used first, of those whose space the viewer may see. Sessions are never public: of another owner's, a
     * viewer is shown none.
     */
    readonly list: (
      viewer: Viewer,
      query: PageQuery & { readonly agent?: string; readonly owner?: PrincipalId },
    ) => Effect.Effect<Page<ChatSession>>
    /** Whether a space belongs to a session. */
    readonly isSession: (space: string) => Effect.Effect<boolean>
    /** The visitor of a space that belongs to a session. */
    readonly visitorOf: VisitorOf
    readonly get: (id: ChatSessionId, viewer: Viewer) => Effect.Effect<ChatSession, Missing | Forbidden>
    /** A session that the viewer itself has with this agent; any other counts as missing. */
    readonly between: (
      id: ChatSessionId,
      viewer: Viewer,
      agent: string,
    ) => Effect.Effect<ChatSession, Missing | Forbidden>
    /** The current session of an owner and an agent, if there is one. */
    readonly current: (owner: PrincipalId, agent: string) => Effect.Effect<ChatSession | undefined>
    readonly change: (
      by: SessionActor,
      id: ChatSessionId,
      changes: ChatSessionChange,
    ) => Effect.Effect<ChatSession, Refused, Transaction>
    /**
     * Deletes it with all its messages, permanently; of a long session, the rest follows soon. A pinned one cannot be
     * deleted.
     */
    readonly remove: (by: SessionActor, id: ChatSessionId) => Effect.Effect<void, Refused, Transaction>
    /** Keeps the five last used and every pinned one; pinned ones are not among the five. */
    readonly cleanUp: (
      by: SessionActor,
      agent: string,
    ) => Effect.Effect<
      { readonly deleted: number; readonly retained: number; readonly pinned: number },
      Refused,
      Transaction
    >
    readonly post: (
      by: SessionActor,
      id: ChatSessionId,
      message: NewMessage,
    ) => Effect.Effect<Message, Refused | TooLarge | TooManyRequests, Transaction>
    readonly messages: (
      id: ChatSessionId,
      viewer: Viewer,
      query: MessageQuery,
    ) => Effect.Effect<Page<Message>, Missing | Forbidden>
  }
>()("server/sessions/ChatSessions") {
  static readonly layer = Layer.effect(
    ChatSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const principals = yield* Principals
      const memories = yield* Memories
      const spaces = yield* Spaces
      const messages = yield* Messages
      const { emptied } = yield* makeSessionCleanup
      const settings = makeSettings(memories)

      const settingOf = (agent: string) => `${nameKey(agent)}.session`
      const currentOf = (owner: PrincipalId, agent: string) =>
        Effect.map(settings.get(owner, settingOf(agent)), (id) => id as ChatSessionId | undefined)
      const asOwner = (owner: PrincipalId, { acting, call, viewer }: SessionActor) => ({
        id: owner,
        room: "sessions" as const,
        acting: acting ?? viewer.principal.id,
        ...(call === undefined ? {} : { call }),
      })

      const missing = (id: ChatSessionId) => new Missing({ noun: "chat session", ref: id })

      const recordOf = Effect.fnUntraced(function* (owner: PrincipalId, id: ChatSessionId) {
        const { items } = yield* memories.list(
          { id: owner },
          { namespace: "engrams", kind: houseKinds.session, key: keyOf(id), owner, limit: 1 },
        )
        return items[0]
      })

      interface Found {
        readonly space: Space
        readonly record: MemoryRecord
        readonly content: Content
        readonly owner: PrincipalId
      }

      const find = Effect.fnUntraced(function* (id: ChatSessionId, viewer: Viewer) {
        const space = yield* Effect.catchTag(spaces.get(spaceOf(id), viewer), ["Missing", "Ambiguous"], () =>
          missing(id),
        )
        const owner = space.members.find(({ role }) => role === "owner")?.id
        const record = owner === undefined ? undefined : yield* recordOf(owner, id)
        const content = record === undefined ? undefined : contentOf(record)
        if (owner === undefined || record === undefined || content === undefined) return yield* missing(id)
        return { space, record, content, owner } satisfies Found
      })

      const isSession: ChatSessions["Service"]["isSession"] = Effect.fnUntraced(function* (space) {
        const id = sessionOf(space)
        for (const owner of yield* spaces.ownersOf(space)) if ((yield* recordOf(owner, id)) !== undefined) return true
        return false
      })

      /** Counts also what an agent said in the space on its own. */
      const shown = Effect.fnUntraced(function* (owner: PrincipalId, records: ReadonlyArray<MemoryRecord>) {
        const current = new Map<string, ChatSessionId | undefined>()
        const held = records.flatMap((record) => {
          const content = contentOf(record)
          return content === undefined ? [] : [{ record, content }]
        })
        const ids = held.map(({ content }) => spaceOf(content.session_id))
        const counts = yield* spaces.lastSeqs(owner, ids)
        const items: Array<ChatSession> = []
        for (const { content, record } of held) {
          if (!current.has(content.agent)) current.set(content.agent, yield* currentOf(owner, content.agent))
          const count = counts.get(spaceOf(content.session_id)) ?? content.message_count
          items.push(sessionFrom(record, content, { current: current.get(content.agent), count }))
        }
        return items
      })
      const shownOne = (record: MemoryRecord) => Effect.map(shown(record.owner, [record]), (items) => items[0]!)

      /** For what only the owner may do. */
      const owned = Effect.fnUntraced(function* (by: SessionActor, id: ChatSessionId) {
        yield* Effect.orDie(lockName(sql, "chat session", id))
        const found = yield* find(id, by.viewer)
        if (found.owner !== by.viewer.principal.id)
          return yield* new Forbidden({
            action: "change",
            resource: `chat-sessions/${id}`,
            rule: "only the owner",
            instead: "Only its owner may rename, pin, resume and delete it.",
          })
        return found
      })

      const agentOf = Effect.fnUntraced(function* (ref: string, viewer: Viewer) {
        const found = isCompanion(ref)
          ? Option.getOrUndefined(yield* Effect.option(principals.get(ref)))
          : yield* findVisible(demandsOf(viewer), principals.get(ref), { ref, self: viewer.principal.id })
        if (found === undefined) return { name: nameKey(ref), members: [] }
        if (found.retiredAt !== null) return yield* new Missing({ noun: "principal", ref })
        if (found.kind !== "agent")
          return yield* new BadInput({
            issues: [{ path: "agent", message: `${found.name} is a ${found.kind}; a chat session is with an agent` }],
          })
        return { name: found.name, members: [found.id] }
      })

      const add: ChatSessions["Service"]["add"] = Effect.fn("ChatSessions.add")(function* (by, wanted) {
        const { members, name } = yield* agentOf(wanted.agent, by.viewer)
        const owner = by.viewer.principal.id
        const id = newId<ChatSessionId>("ses")
        const space = yield* spaces
          .add({ name: spaceNameOf(id), kind: "private", members, topic: `Chat with ${name}` }, by.viewer, {
            id: spaceOf(id),
          })
          .pipe(Effect.catchTag("NameTaken", Effect.die))
        const content = contentText({
          session_id: id,
          agent: name,
          title: wanted.title ?? untitled,
          space: space.id,
          message_count: 0,
          last_message: null,
        })
        const { record } = yield* memories
          .put(asOwner(owner, by), owner, {
            namespace: "engrams",
            kind: houseKinds.session,
            key: keyOf(id),
            content,
            mediaType: "application/json",
            tags: ["chat", "session", nameKey(name)],
          })
          .pipe(Effect.catchTag(["StaleVersion", "TooLarge"], Effect.die))
        yield* settings.set(asOwner(owner, by), settingOf(name), id)
        return yield* shownOne(record)
      })

      const list: ChatSessions["Service"]["list"] = Effect.fn("ChatSessions.list")(function* (viewer, query) {
        const { agent, owner = viewer.principal.id, ...page } = query
        if (owner !== viewer.principal.id) return { items: [], next: null }
        const seen = yield* spaces.ownOf(viewer, "owner")
        const found = yield* memories.list(
          { id: owner },
          {
            ...page,
            namespace: "engrams",
            kind: houseKinds.session,
            keys: seen.map((space) => keyOf(sessionOf(space))),
            owner,
            tag: agent === undefined ? "session" : nameKey(agent),
          },
        )
        return { items: yield* shown(owner, found.items), next: found.next }
      })

      const get: ChatSessions["Service"]["get"] = Effect.fn("ChatSessions.get")(function* (id, viewer) {
        return yield* shownOne((yield* find(id, viewer)).record)
      })

      const between: ChatSessions["Service"]["between"] = Effect.fn("ChatSessions.between")(
        function* (id, viewer, agent) {
          const { content, owner, record } = yield* find(id, viewer)
          if (owner !== viewer.principal.id || nameKey(content.agent) !== nameKey(agent)) return yield* missing(id)
          return yield* shownOne(record)
        },
      )

      const current: ChatSessions["Service"]["current"] = Effect.fn("ChatSessions.current")(function* (owner, agent) {
        const id = yield* currentOf(owner, agent)
        const record = id === undefined ? undefined : yield* recordOf(owner, id)
        return record === undefined ? undefined : (yield* shown(owner, [record]))[0]
      })

      const change: ChatSessions["Service"]["change"] = Effect.fn("ChatSessions.change")(function* (by, id, changes) {
        const { content, owner, record } = yield* owned(by, id)
        const { current: resumed, pinned, title } = changes
        const after = yield* memories
          .change(asOwner(owner, by), record.id, {
            ...(title === undefined ? {} : { content: contentText({ ...content, title }) }),
            ...(pinned === undefined ? {} : { pinned }),
          })
          .pipe(Effect.catchTag(["StaleVersion", "TooLarge"], Effect.die))
        if (resumed === true) yield* settings.set(asOwner(owner, by), settingOf(content.agent), id)
        return yield* shownOne(after)
      })

      const removed = Effect.fnUntraced(function* (by: SessionActor, id: ChatSessionId, most: number) {
        const { content, owner, record, space } = yield* owned(by, id)
        if (record.pinned)
          return yield* new WrongState({
            detail: `"${content.title}" is pinned, so it cannot be deleted. Unpin it first.`,
          })
        yield* emptied(space, by.viewer, { space: space.id, owner, after: 0 }, most)
        yield* memories.remove(asOwner(owner, by), record.id, true)
        const setting = settingOf(content.agent)
        if ((yield* settings.get(owner, setting)) === id) yield* settings.remove(asOwner(owner, by), setting)
        return Math.max(0, most - space.lastSeq)
      })
      const remove: ChatSessions["Service"]["remove"] = Effect.fn("ChatSessions.remove")(function* (by, id) {
        yield* removed(by, id, messagesPerStep)
      })

      const all = Effect.fnUntraced(function* (viewer: Viewer, agent: string) {
        const sessions: Array<ChatSession> = []
        let cursor: string | undefined
        do {
          const page = yield* list(viewer, { agent, limit: 100, ...(cursor === undefined ? {} : { cursor }) })
          sessions.push(...page.items)
          cursor = page.next ?? undefined
        } while (cursor !== undefined)
        return sessions
      })

      const cleanUp: ChatSessions["Service"]["cleanUp"] = Effect.fn("ChatSessions.cleanUp")(function* (by, agent) {
        const sessions = yield* all(by.viewer, agent)
        const loose = sessions.filter(({ pinned }) => !pinned)
        let [deleted, left] = [0, messagesPerStep]
        const ended = loose.slice(kept, kept + cleanedAtOnce).map(({ id }) => id)
        // All of them before the first is removed, because each removal also locks settings.
        yield* Effect.orDie(lockNames(sql, "chat session", ended))
        for (const id of ended) {
          left = yield* removed(by, id, left)
          deleted++
        }
        return { deleted, retained: loose.length - deleted, pinned: sessions.length - loose.length }
      })

      const post: ChatSessions["Service"]["post"] = Effect.fn("ChatSessions.post")(function* (by, id, message) {
        yield* Effect.orDie(lockName(sql, "chat session", id))
        const { content, owner, record, space } = yield* find(id, by.viewer)
        if (space.lastSeq >= maxMessages)
          return yield* new WrongState({
            detail: `This session has ${maxMessages} messages, and takes no more. Start a new one.`,
          })
        const said = yield* messages.post(space, by.viewer, message)
        const first = content.title === untitled && said.author.id === owner
        const after = contentText({
          ...content,
          title: first ? titleFrom(said.text) : content.title,
          message_count: said.seq,
          last_message: said.id,
        })
        yield* memories
          .change({ ...asOwner(owner, by), message: said.id }, record.id, { content: after })
          .pipe(Effect.catchTag(["StaleVersion", "TooLarge"], Effect.die))
        return said
      })

      const said: ChatSessions["Service"]["messages"] = Effect.fn("ChatSessions.messages")(
        function* (id, viewer, query) {
          const { space } = yield* find(id, viewer)
          return yield* messages.list(space, viewer, query)
        },
      )

      return ChatSessions.of({
        add,
        isSession,
        visitorOf: makeVisitorOf({ principals, spaces, recordOf }),
        list,
        get,
        between,
        current,
        change,
        remove,
        cleanUp,
        post,
        messages: said,
      })
    }),
  )
}
