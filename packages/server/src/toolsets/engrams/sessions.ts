/** Seed 002's chat sessions of Hecate. Moros has no such tools: its sessions are started over HTTP (X-61). */
import { Caller, type ChatSession, Missing, type PrincipalId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Grants } from "../../access/rights/Grants.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { ChatSessions, sessionIdOf, type SessionActor } from "../../sessions/ChatSessions.ts"
import type { Companion } from "../../sessions/Companions.ts"
import { integer, text } from "../toolsetTool.ts"
import type { Change, WalletHolder, WalletHolders } from "./walletHolders.ts"
import { engramIdOf, reading, wallet, writing } from "./shapes.ts"

const usualList = 20
/** The most messages of a history returned at once: the newest. */
const maxShown = 500

/** The present rights of a wallet's holder, in the context of the token that calls. */
const makeViewerOf = Effect.map(
  Grants,
  (grants) => (id: PrincipalId) => Effect.flatMap(Caller, ({ context }) => grants.viewerNow(id, context, "spaces")),
)
export const makeSessionActor = Effect.map(
  makeViewerOf,
  (viewerOf) =>
    ({ acting, call, id }: WalletHolder) =>
      Effect.map(viewerOf(id), (viewer): SessionActor => ({ viewer, acting, call })),
)

const summary = (session: ChatSession) => ({
  session_id: session.id,
  engram_id: engramIdOf(session.memory),
  title: session.title,
  message_count: session.messageCount,
  created_at: DateTime.formatIso(session.createdAt),
  updated_at: DateTime.formatIso(session.updatedAt),
  is_pinned: session.pinned,
})

interface Wallet {
  readonly wallet_address: string
}

export const sessionTools = Effect.fnUntraced(function* (name: Companion, holders: WalletHolders) {
  const sessions = yield* ChatSessions
  const actorOf = yield* makeSessionActor
  const viewerOf = yield* makeViewerOf
  const tags = [`${name}.session`]
  const ofUser = wallet("Wallet address of the user")

  /** A session of this agent with the wallet's holder; any other counts as missing. */
  const named = Effect.fnUntraced(function* (
    input: Wallet & { readonly session_id: string },
    call: HandlerCall,
    action: Change,
  ) {
    const by = yield* actorOf(yield* holders.of(input.wallet_address, call, action))
    const found = yield* Effect.catchTag(
      sessions.between(sessionIdOf(input.session_id), by.viewer, name),
      "Missing",
      // In the words of the caller, who may have left out the beginning of the id.
      () => new Missing({ noun: "chat session", ref: input.session_id }),
    )
    return { by, found }
  })

  return [
    writing("write", {
      name: `${name}_new_session`,
      description: "Create a new chat session. Clears current conversation and starts fresh.",
      tags,
      input: { properties: { wallet_address: ofUser }, required: ["wallet_address"] },
      run: Effect.fnUntraced(function* (input: Wallet, call: HandlerCall) {
        const by = yield* actorOf(yield* holders.of(input.wallet_address, call))
        return { success: true, ...summary(yield* sessions.add(by, { agent: name })) }
      }),
    }),
    reading({
      name: `${name}_list_sessions`,
      description:
        "List all chat sessions for a wallet address. Returns session summaries sorted by most recently updated.",
      tags,
      input: {
        properties: {
          wallet_address: ofUser,
          limit: integer(`Max sessions to return (default ${usualList})`, {
            minimum: 1,
            maximum: 100,
            default: usualList,
          }),
        },
        required: ["wallet_address"],
      },
      run: Effect.fnUntraced(function* (input: Wallet & { readonly limit?: number }) {
        const whose = yield* holders.readable(input.wallet_address)
        if (whose === undefined) return { success: true, sessions: [], count: 0 }
        const { owner, reader } = whose
        const { items } = yield* sessions.list(yield* viewerOf(reader), {
          owner,
          agent: name,
          limit: input.limit ?? usualList,
        })
        return { success: true, sessions: items.map(summary), count: items.length }
      }),
    }),
    writing("write", {
      name: `${name}_resume_session`,
      description: "Resume an existing chat session. Loads the session's message history.",
      tags,
      input: {
        properties: {
          wallet_address: ofUser,
          session_id: text("ID of the session to resume", { minLength: 1, maxLength: 64 }),
        },
        required: ["wallet_address", "session_id"],
      },
      run: Effect.fnUntraced(function* (input: Wallet & { readonly session_id: string }, call: HandlerCall) {
        // It returns what was said, which needs the right to read.
        yield* holders.requireReading(input.wallet_address)
        const { by, found } = yield* named(input, call, "write")
        const resumed = yield* sessions.change(by, found.id, { current: true })
        const { items } = yield* sessions.messages(found.id, by.viewer, { limit: maxShown })
        const { engram_id, is_pinned: _, ...rest } = summary(resumed)
        const messages = items
          .filter(({ deletedAt }) => deletedAt === null)
          .map((message) => ({
            id: message.id,
            role: message.author.id === resumed.owner ? "user" : "assistant",
            author: message.author.name,
            content: message.text,
            created_at: DateTime.formatIso(message.createdAt),
          }))
        return { success: true, session: { ...rest, messages }, engram_id }
      }),
    }),
    writing("destructive", {
      name: `${name}_delete_session`,
      description: "Delete a chat session. Cannot delete pinned sessions.",
      tags,
      input: {
        properties: {
          wallet_address: ofUser,
          session_id: text("ID of the session to delete", { minLength: 1, maxLength: 64 }),
        },
        required: ["wallet_address", "session_id"],
      },
      run: Effect.fnUntraced(function* (input: Wallet & { readonly session_id: string }, call: HandlerCall) {
        const { by, found } = yield* named(input, call, "delete")
        yield* sessions.remove(by, found.id)
        return { success: true, deleted: true, session_id: found.id }
      }),
    }),
  ]
})
