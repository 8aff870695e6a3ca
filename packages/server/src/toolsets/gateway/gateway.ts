/**
 * Seed 001's built-in tools for conversation, runs and memory. Only enter_space and read_messages name a destination: a
 * message goes to the caller's active space (S1-04, X-02).
 */
import { Caller, type Message, type Space, withoutPrefix } from "@stoa/contract"
import { type HandlerCall, PendingResult } from "../../calls/road/Handler.ts"
import { DateTime, Effect } from "effect"
import { integer, catalogueOffer, text, withMemory } from "../toolsetTool.ts"
import { Waits } from "../../runs/waiting/Waits.ts"
import { gatewayRuns } from "../parts/runs.ts"
import { gatewayMemory } from "./memory.ts"
import { makeConversation } from "../parts/conversation.ts"

const most = 100
const usual = 50

const line = (message: Message) => ({
  id: withoutPrefix(message.id),
  content: message.call === null ? message.text : null,
  ...(message.call === null ? {} : { toolCall: message.call }),
  senderName: message.author.name,
  senderType: message.author.kind === "person" ? "human" : message.author.kind,
  timestamp: DateTime.formatIso(message.createdAt),
})

const limit = integer("How many messages", { minimum: 1, maximum: most, default: usual })
const words = { text: text("What to say. @Name addresses a member", { minLength: 1 }) }

export const gateway = Effect.gen(function* () {
  const conversation = yield* makeConversation
  const waits = yield* Waits

  const delivered = (message: Message) => ({ success: true, messageId: withoutPrefix(message.id), status: "delivered" })

  const newest = (space: Space, count: number, before?: number) =>
    conversation.read(space, { limit: count, ...(before === undefined ? {} : { before }) })

  return [
    catalogueOffer("gateway", {
      name: "enter_space",
      description: "Set the active space. Messages and visible tool results go there from now on.",
      effects: "store",
      input: {
        properties: { spaceId: text("The space's id or name", { minLength: 1 }), limit },
        required: ["spaceId"],
      },
      run: Effect.fnUntraced(function* (input: { readonly spaceId: string; readonly limit?: number }) {
        const caller = yield* Caller
        const space = yield* conversation.memberOf(input.spaceId)
        const { items } = yield* newest(space, input.limit ?? usual)
        const read = space.lastSeq - space.unread
        yield* conversation.active.enter(caller, space)
        return {
          success: true,
          spaceId: withoutPrefix(space.id),
          name: space.name,
          history: items.map((message) => ({ ...line(message), seen: message.seq <= read })),
          total: space.lastSeq,
        }
      }),
    }),
    catalogueOffer("gateway", {
      name: "send_message",
      approvedOnce: true,
      mergedDefaults: { success: true, status: "delivered" },
      description: "Send a message to the active space.",
      effects: "store",
      input: {
        properties: { ...words, wait: { type: "boolean", description: "Wait for replies", default: false } },
        required: ["text"],
      },
      run: Effect.fnUntraced(function* (input: { readonly text: string; readonly wait?: boolean }, call: HandlerCall) {
        const space = yield* conversation.here(call)
        const message = yield* conversation.say(call, space, input.text)
        if (input.wait !== true) return delivered(message)
        return new PendingResult("reply", 0, yield* waits.open(call, { space, message }))
      }),
    }),
    catalogueOffer("gateway", {
      name: "send_reply",
      approvedOnce: true,
      description: "Send a reply to a message of the active space.",
      effects: "store",
      input: {
        properties: { ...words, replyToMessageId: text("The message that is answered", { minLength: 1 }) },
        required: ["text", "replyToMessageId"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly text: string; readonly replyToMessageId: string },
        call: HandlerCall,
      ) {
        const space = yield* conversation.here(call)
        return delivered(yield* conversation.say(call, space, input.text, input.replyToMessageId))
      }),
    }),
    catalogueOffer("gateway", {
      name: "read_messages",
      description: "Read recent messages of the active space, or of a given one; offset reads further back.",
      // Stores the position from which it reads backwards.
      effects: "store",
      annotations: { readOnlyHint: true, idempotentHint: true },
      input: {
        properties: {
          spaceId: text("Another space than the active one", { minLength: 1 }),
          limit,
          offset: integer("How many to pass over, counted back from where you last read the newest", {
            minimum: 0,
            default: 0,
          }),
          before: integer("Only messages before this number: the exact way", { minimum: 1 }),
        },
      },
      run: Effect.fnUntraced(function* (
        input: {
          readonly spaceId?: string
          readonly limit?: number
          readonly offset?: number
          readonly before?: number
        },
        call: HandlerCall,
      ) {
        const caller = yield* Caller
        const space =
          input.spaceId === undefined ? yield* conversation.here(call) : yield* conversation.memberOf(input.spaceId)
        const { limit: count = usual, offset = 0 } = input
        // New messages do not shift older ones: the offset counts from the newest message at the last read from the
        // end.
        if (offset === 0 && input.before === undefined)
          yield* conversation.active.setAnchor(caller, space.id, space.lastSeq)
        const anchor = (yield* conversation.active.anchor(caller, space.id)) ?? space.lastSeq
        const before = input.before ?? anchor - offset + 1
        const { items } = before <= 1 ? { items: [] } : yield* newest(space, count, before)
        return { messages: items.map(line), total: space.lastSeq }
      }),
    }),
    ...(yield* gatewayRuns),
    ...withMemory(yield* gatewayMemory),
  ]
})
