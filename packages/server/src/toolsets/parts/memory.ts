/**
 * The memory tools of the toolsets: seed 000's blocks and passages, and the house's own notes. Each works on its
 * caller's memory.
 */
import { Caller, type MemoryRecord, type NewMemory, withoutPrefix } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { makeVisiblePrincipal } from "../../access/rights/VisiblePrincipal.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Memories } from "../../memory/Memories.ts"
import { Shares } from "../../memory/Shares.ts"
import { foreignText, foreignTextRule, markFor } from "../../models/text/ForeignText.ts"
import { type ToolsetTool, integer, lineOfText, catalogueOffer, tagList, text } from "../toolsetTool.ts"
import { makeWriters, type Written } from "./writers.ts"

const tags = tagList("Words to sort it by")
const me = Effect.map(Caller, ({ principal }) => principal)
/** The writer and the call: every version records them. */
const writerIn = ({ id: call }: HandlerCall) => Effect.map(me, ({ id }) => ({ id, call }))
type Writer = Effect.Success<ReturnType<typeof writerIn>>

/** update_memory, search_memory, store_memory: exactly seed 000's (S0-32 … S0-47). */
export const officeMemory = Effect.gen(function* () {
  const memories = yield* Memories
  const writers = yield* makeWriters
  const write = (by: Writer, memory: NewMemory) => memories.put(by, by.id, { namespace: "office", ...memory })
  return [
    catalogueOffer("office", {
      name: "update_memory",
      houseText: true,
      description: "Update one of your own core memory blocks. An unknown label makes a new block.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: {
          label: lineOfText("The block: personality, relationships, current_state, or one of your own", 512),
          content: text("What the block says from now on"),
        },
        required: ["label", "content"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly label: string; readonly content: string },
        call: HandlerCall,
      ) {
        yield* write(yield* writerIn(call), { kind: "block", key: input.label, content: input.content })
        return { success: true }
      }),
    }),
    catalogueOffer("office", {
      name: "search_memory",
      description: "Search your own archival passages by keyword: any text they contain. The newest first, at most 50.",
      effects: "none",
      input: { properties: { query: text("The text to look for", { minLength: 1 }) }, required: ["query"] },
      run: Effect.fnUntraced(function* (input: { readonly query: string }) {
        const found = yield* memories.containing(yield* me, { namespace: "office", kind: "passage", text: input.query })
        const passages = yield* Effect.forEach(found, (record) =>
          Effect.map(writers.ofRecord(record), (written) => ({
            id: withoutPrefix(record.id),
            content: record.content,
            ...written,
            tags: record.tags,
            createdAt: DateTime.formatIso(record.createdAt),
          })),
        )
        return { passages }
      }),
    }),
    catalogueOffer("office", {
      name: "store_memory",
      houseText: true,
      description: "Save a new archival passage.",
      effects: "store",
      input: {
        properties: {
          content: text("What to keep", { minLength: 1 }),
          tags,
        },
        required: ["content"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly content: string; readonly tags?: ReadonlyArray<string> },
        call: HandlerCall,
      ) {
        const { record } = yield* write(yield* writerIn(call), { kind: "passage", ...input })
        return { passageId: withoutPrefix(record.id) }
      }),
    }),
  ]
})

const shown = (record: MemoryRecord, ownerName: string, written: Written) => {
  const { content, id, key, kind, match, owner, pinned, tags: own, updatedAt, version } = record
  return {
    id,
    owner,
    ownerName,
    kind,
    key,
    content,
    ...written,
    tags: own,
    version,
    pinned,
    updatedAt: DateTime.formatIso(updatedAt),
    ...(match === undefined ? {} : { match }),
  }
}

interface Named {
  readonly id?: string
  readonly kind?: string
  readonly key?: string
}

/** remember, recall, forget, memory_history, list_offers, answer_offer: lasting, shared, attributed memory for any MCP client. */
export const stoaMemory = Effect.gen(function* () {
  const memories = yield* Memories
  const shares = yield* Shares
  const principals = yield* Principals
  const visible = yield* makeVisiblePrincipal
  const writers = yield* makeWriters
  const tool = <A>(form: ToolsetTool<A>) => catalogueOffer("stoa", form)

  /** By its id, or by kind and key. */
  const named = Effect.fnUntraced(function* ({ id, key, kind = "note" }: Named) {
    const by = yield* me
    if (id !== undefined) return yield* memories.get(by, id as MemoryRecord["id"])
    const { items } = yield* memories.list(by, {
      namespace: "stoa",
      kind,
      ...(key === undefined ? {} : { key }),
      owner: by.id,
      limit: 1,
    })
    return key === undefined ? undefined : items[0]
  })
  /** The owner's name; a principal that no longer exists is shown by its id. */
  const namesOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const names = new Map<string, string>()
    for (const id of new Set(ids))
      names.set(
        id,
        yield* Effect.match(principals.get(id), { onFailure: () => id, onSuccess: (one): string => one.name }),
      )
    return (id: string): string => names.get(id) ?? id
  })
  const nothing = (input: Named): { readonly message: string } => ({
    message: `There is no memory ${JSON.stringify(input.id ?? input.key ?? "")} of yours. recall lists what there is.`,
  })
  const place = {
    id: text("The record's id, which begins with mem_"),
    kind: text("Its kind, if it is named by its key (note)"),
    key: text("Its key"),
  }

  return [
    tool({
      name: "remember",
      countedAs: "calls/memory",
      description:
        "Keep something for later, beyond this conversation. With a key it replaces what was kept there; every version stays in its history.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: {
          content: text("What to remember, in full sentences", { minLength: 1 }),
          key: lineOfText(
            "A name to find and replace it by, such as project/deploy; with slashes it joins a series",
            512,
          ),
          kind: text("What it is, in one word: for example note, fact, preference or decision (note)", {
            pattern: "^[\\p{L}\\p{N}][\\p{L}\\p{N}._-]{0,63}$",
          }),
          tags,
          share_with: {
            type: "array",
            items: { type: "string", minLength: 1, maxLength: 100 },
            maxItems: 50,
            description: "Names of those to whom it is offered to read: they have it once they take it",
          },
        },
        required: ["content"],
      },
      run: Effect.fnUntraced(function* (
        input: {
          readonly content: string
          readonly key?: string
          readonly kind?: string
          readonly tags?: ReadonlyArray<string>
          readonly share_with?: ReadonlyArray<string>
        },
        call: HandlerCall,
      ) {
        const { kind = "note", share_with: readers = [], ...rest } = input
        const by = yield* writerIn(call)
        const { record } = yield* memories.put(by, by.id, { kind, ...rest })
        for (const name of readers) yield* shares.share(by, record.id, (yield* visible(name)).id, "read")
        return { id: record.id, kind, key: record.key, version: record.version, sharedWith: readers }
      }),
    }),
    tool({
      name: "recall",
      countedAs: "calls/memory",
      description:
        "What was remembered: by a question in plain words, the best answers first, or the newest. Yours, and what others share with you.",
      effects: "none",
      input: {
        properties: {
          query: text("A question or a few words", { maxLength: 2000 }),
          kind: text("Only this kind"),
          tag: text("Only with this tag"),
          key: text("Only with this key"),
          limit: integer("How many", { minimum: 1, maximum: 100, default: 10 }),
          cursor: text("The next of the page before"),
        },
      },
      run: Effect.fnUntraced(function* (input: {
        readonly query?: string
        readonly kind?: string
        readonly tag?: string
        readonly key?: string
        readonly limit?: number
        readonly cursor?: string
      }) {
        const { limit = 10, query, ...rest } = input
        const page = yield* memories.list(yield* me, { ...rest, limit, ...(query === undefined ? {} : { q: query }) })
        const nameOf = yield* namesOf(page.items.map(({ owner }) => owner))
        const items = yield* Effect.forEach(page.items, (record) =>
          Effect.map(writers.ofRecord(record), (written) => shown(record, nameOf(record.owner), written)),
        )
        return { items, next: page.next }
      }),
    }),
    tool({
      name: "forget",
      description: "Delete something you remembered, by its id or its key. A pinned record stays.",
      effects: "store",
      annotations: { destructiveHint: true, idempotentHint: true },
      input: { properties: place },
      run: Effect.fnUntraced(function* (input: Named) {
        const record = yield* named(input)
        if (record === undefined) return yield* Effect.fail(nothing(input))
        yield* memories.remove(yield* me, record.id, false)
        return { forgotten: record.id, key: record.key }
      }),
    }),
    tool({
      name: "memory_history",
      description:
        "The versions of something remembered, newest first: what it said, since when, who made them, and who wrote the words if it was not they.",
      effects: "none",
      input: { properties: { ...place, limit: integer("How many", { minimum: 1, maximum: 100, default: 20 }) } },
      run: Effect.fnUntraced(function* (input: Named & { readonly limit?: number }) {
        const record = yield* named(input)
        if (record === undefined) return yield* Effect.fail(nothing(input))
        const { items, next } = yield* memories.history(yield* me, record.id, { limit: input.limit ?? 20 })
        const nameOf = yield* namesOf(items.map(({ origin }) => origin.principal))
        return {
          id: record.id,
          key: record.key,
          versions: yield* Effect.forEach(items, (item) =>
            Effect.map(writers.ofVersion(item), (written) => ({
              version: item.version,
              content: item.content,
              ...written,
              tags: item.tags,
              by: item.origin.principal,
              byName: nameOf(item.origin.principal),
              at: DateTime.formatIso(item.at),
            })),
          ),
          more: next !== null,
        }
      }),
    }),
    tool({
      name: "list_offers",
      countedAs: "calls/memory",
      description:
        "What others offer to share with you and you have not answered: who offers it, what it is, and how it begins. It is in none of your lists and prompts until you take it (answer_offer).",
      effects: "none",
      input: {
        properties: {
          limit: integer("How many", { minimum: 1, maximum: 20, default: 10 }),
          cursor: text("The next of the page before"),
        },
      },
      run: Effect.fnUntraced(function* ({ cursor, limit = 10 }: { readonly cursor?: string; readonly limit?: number }) {
        const { id: me } = (yield* Caller).principal
        const { items, next } = yield* shares.offers(me, {
          limit,
          withText: true,
          ...(cursor === undefined ? {} : { cursor }),
        })
        const nameOf = yield* namesOf(items.map(({ owner }) => owner))
        const mark = markFor(items.flatMap(({ key, text: begins = "" }) => [key, begins]))
        return {
          ...(items.length === 0 ? {} : { note: foreignTextRule(mark) }),
          items: items.map(({ id, kind, key, offeredAt, owner, right, size, text: begins = "" }) => ({
            id,
            owner,
            ownerName: nameOf(owner),
            kind,
            right,
            size,
            offeredAt: DateTime.formatIso(offeredAt),
            text: foreignText(mark, "shared", { author: nameOf(owner), title: key }, begins),
          })),
          next,
        }
      }),
    }),
    tool({
      name: "answer_offer",
      houseText: true,
      description:
        "Take what somebody offers to share with you, or decline it. What you declined is not offered again, and you can still take it; what you took you can give back.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: {
          id: text("The record's id, from list_offers"),
          take: { type: "boolean", description: "true takes it, false declines it" },
        },
        required: ["id", "take"],
      },
      run: Effect.fnUntraced(function* ({ id, take }: { readonly id: string; readonly take: boolean }) {
        yield* shares.answer((yield* Caller).principal.id, id as MemoryRecord["id"], take)
        return { id, taken: take }
      }),
    }),
  ]
})
