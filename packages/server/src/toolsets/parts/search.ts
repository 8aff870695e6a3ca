/**
 * One search over the messages in spaces the caller sees, and its memory: one ranking, with the rights of both rooms.
 */
import { Caller } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Meanings } from "../../memory/meaning/Meanings.ts"
import { Memories } from "../../memory/Memories.ts"
import { SearchIndex } from "../../store/search/SearchIndex.ts"
import { type ToolsetTool, integer, catalogueOffer, text } from "../toolsetTool.ts"
import { makeConversation } from "./conversation.ts"
import { makeWriters } from "./writers.ts"

/** How many ranked results are checked for those the caller may see. */
const most = 200

export const stoaSearch = Effect.gen(function* () {
  const conversation = yield* makeConversation
  const memories = yield* Memories
  const index = yield* SearchIndex
  const meanings = yield* Meanings
  const writers = yield* makeWriters
  const tool = <A>(form: ToolsetTool<A>) => catalogueOffer("stoa", form)

  return [
    tool({
      name: "search",
      countedAs: "calls/memory",
      description:
        "Ask everything you may see here in plain words: messages of your spaces, and your own memory. The best answers first.",
      effects: "none",
      input: {
        properties: {
          query: text("A question or a few words; what stands in quotes must be there word for word", {
            minLength: 1,
            maxLength: 2000,
          }),
          limit: integer("How many", { minimum: 1, maximum: 100, default: 10 }),
        },
        required: ["query"],
      },
      run: Effect.fnUntraced(function* (input: { readonly query: string; readonly limit?: number }) {
        const viewer = yield* conversation.viewer
        const by = (yield* Caller).principal
        const scopes = [...memories.scopes(by), ...(yield* conversation.messages.scopes(viewer))]
        const answered = yield* index.find(scopes, input.query, [], {
          meaning: yield* meanings.of(input.query),
          by: by.id,
        })
        const ids = answered.found.slice(0, most).map(({ ref }) => ref)
        const records = yield* memories.among(by, answered, ids)
        const messages = yield* conversation.messages.among(viewer, answered, ids)
        const all = ids.filter((id) => records.has(id) || messages.has(id)).slice(0, input.limit ?? 10)
        const items = yield* Effect.forEach(
          all,
          Effect.fnUntraced(function* (id) {
            const record = records.get(id)
            if (record !== undefined)
              return {
                from: "memory",
                id,
                kind: record.kind,
                key: record.key,
                text: record.match?.passage ?? record.content,
                ...(yield* writers.ofRecord(record)),
                owner: record.owner,
                at: DateTime.formatIso(record.updatedAt),
                match: record.match,
              }
            const message = messages.get(id)!
            return {
              from: "message",
              id,
              space: message.space,
              seq: message.seq,
              author: message.author.name,
              text: message.match.passage ?? message.text,
              at: DateTime.formatIso(message.createdAt),
              match: message.match,
            }
          }),
        )
        return { items }
      }),
    }),
  ]
})
