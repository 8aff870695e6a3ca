/** Seed 000's six tools: three for conversation, and three for memory. The caller is never an argument. */
import { withoutPrefix } from "@stoa/contract"
import { Effect } from "effect"
import type { HandlerCall } from "../calls/road/Handler.ts"
import { catalogueOffer, text, withMemory } from "./toolsetTool.ts"
import { officeMemory } from "./parts/memory.ts"
import { makeConversation } from "./parts/conversation.ts"

export const office = Effect.gen(function* () {
  const conversation = yield* makeConversation
  return [
    catalogueOffer("office", {
      name: "send_message",
      approvedOnce: true,
      mergedDefaults: {},
      description: "Post a message to any channel or DM.",
      effects: "store",
      input: {
        properties: {
          channelId: text("The channel: its id or name, such as general or dm-michael-jim", { minLength: 1 }),
          text: text("What to say", { minLength: 1 }),
        },
        required: ["channelId", "text"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly channelId: string; readonly text: string },
        call: HandlerCall,
      ) {
        const { id } = yield* conversation.say(call, yield* conversation.readable(input.channelId), input.text)
        return { messageId: withoutPrefix(id) }
      }),
    }),
    catalogueOffer("office", {
      name: "react_to_message",
      houseText: true,
      description: "Add an emoji reaction to a message.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: {
          messageId: text("The message's id", { minLength: 1 }),
          emoji: text("One emoji", { minLength: 1, maxLength: 64 }),
        },
        required: ["messageId", "emoji"],
      },
      run: Effect.fnUntraced(function* (input: { readonly messageId: string; readonly emoji: string }) {
        yield* conversation.react(input.messageId, input.emoji)
        return { success: true }
      }),
    }),
    catalogueOffer("office", {
      name: "do_nothing",
      houseText: true,
      description: "Explicitly choose not to respond. Nothing happens.",
      effects: "none",
      input: { properties: {} },
      run: () => Effect.succeed({ action: "none" }),
    }),
    ...withMemory(yield* officeMemory),
  ]
})
