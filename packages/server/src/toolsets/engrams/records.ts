/** Seed 002's engrams and profiles: eight tools, each one operation on the memory of the wallet's holder. */
import { Caller, type EngramType, NameTaken } from "@stoa/contract"
import { Effect } from "effect"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Engrams } from "../../memory/Engrams.ts"
import { Memories } from "../../memory/Memories.ts"
import { profilePrefix } from "../../memory/VisitorProfile.ts"
import { tagList, text } from "../toolsetTool.ts"
import type { WalletHolders } from "./walletHolders.ts"
import { asJson, engramId, engramType, key, page, reading, types, wallet, writing } from "./shapes.ts"

const usualSearch = 20
const usualList = 50
const content = (description: string) => text(description)
const typeFilter = engramType(types, "Type filter")

/** One part of a dotted key: no dots, no paths (S2-37). */
const field = text("Profile field name (e.g., `base`)", { pattern: "^[A-Za-z0-9_-]{1,64}$" })
const profileTags = ["hecate.engrams", "hecate.profile"]

interface Wallet {
  readonly wallet_address: string
}
interface Paged {
  readonly limit?: number
  readonly offset?: number
}

export const engramTools = Effect.fnUntraced(function* (holders: WalletHolders) {
  const memories = yield* Memories
  const engrams = yield* Engrams

  const listed = Effect.fnUntraced(function* (query: Parameters<typeof engrams.find>[0]) {
    const found = yield* holders.show(yield* engrams.find(query))
    return { count: found.length, engrams: found }
  })

  return [
    writing("write", {
      name: "engram_create",
      description: "Create a new engram (memory unit) for a wallet.",
      input: {
        properties: {
          wallet_address: wallet("Wallet address that owns this engram"),
          engram_type: engramType(types, "The type of engram"),
          key: key("Unique key (e.g., `user.profile.base`)"),
          content: content("JSON string content"),
          tags: tagList("Tags for categorization"),
          is_public: { type: "boolean", description: "Whether publicly visible", default: false },
        },
        required: ["wallet_address", "engram_type", "key", "content"],
      },
      run: Effect.fnUntraced(function* (
        input: Wallet & {
          readonly engram_type: EngramType
          readonly key: string
          readonly content: string
          readonly tags?: ReadonlyArray<string>
          readonly is_public?: boolean
        },
        call: HandlerCall,
      ) {
        const holder = yield* holders.of(input.wallet_address, call)
        const { record } = yield* memories
          .put(holder, holder.id, {
            namespace: "engrams",
            kind: input.engram_type,
            key: input.key,
            ...asJson(input.content),
            ...(input.tags === undefined ? {} : { tags: input.tags }),
            public: input.is_public ?? false,
            expectedVersion: 0,
          })
          .pipe(Effect.catchTag("StaleVersion", () => new NameTaken({ noun: "engram", name: input.key })))
        return (yield* holders.show([record]))[0]
      }),
    }),
    reading({
      name: "engram_get",
      description: "Get a specific engram by wallet address and key.",
      input: {
        properties: {
          wallet_address: wallet("Wallet address that owns the engram"),
          key: key("Engram key to look up"),
        },
        required: ["wallet_address", "key"],
      },
      run: Effect.fnUntraced(function* (input: Wallet & { readonly key: string }) {
        const whose = yield* holders.readable(input.wallet_address)
        const found = whose === undefined ? undefined : yield* engrams.get(whose.reader, whose.owner, input.key)
        if (found === undefined) return { found: false, message: "Engram not found" }
        return { found: true, ...(yield* holders.show([found]))[0] }
      }),
    }),
    reading({
      name: "engram_search",
      description:
        "Search engrams with filters by wallet, type, tags, and query. Without a wallet it finds your own and public ones.",
      input: {
        properties: {
          wallet_address: wallet("Filter by wallet address"),
          engram_type: typeFilter,
          tags: tagList("Filter by tags: any of them"),
          query: text("A question in plain words; then the best answers come first", { maxLength: 2000 }),
          ...page(usualSearch),
        },
      },
      run: Effect.fnUntraced(function* (
        input: Partial<Wallet> &
          Paged & {
            readonly engram_type?: EngramType
            readonly tags?: ReadonlyArray<string>
            readonly query?: string
          },
      ) {
        const { engram_type: type, limit = usualSearch, offset = 0, query, tags, wallet_address: address } = input
        const { principal } = yield* Caller
        const whose = address === undefined ? { reader: principal.id } : yield* holders.readable(address)
        if (whose === undefined) return { count: 0, engrams: [] }
        return yield* listed({
          reader: whose.reader,
          ...("owner" in whose ? { owner: whose.owner } : {}),
          ...(type === undefined ? {} : { type }),
          ...(tags === undefined ? {} : { tags }),
          ...(query === undefined ? {} : { query }),
          limit,
          offset,
        })
      }),
    }),
    writing("write", {
      name: "engram_update",
      description: "Update an existing engram's content and/or tags by its ID.",
      input: {
        properties: {
          id: engramId("Engram ID to update"),
          content: content("New JSON string content"),
          tags: tagList("New tags (replaces existing)"),
        },
        required: ["id", "content"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly id: string; readonly content: string; readonly tags?: ReadonlyArray<string> },
        call: HandlerCall,
      ) {
        const { holder, record } = yield* holders.byId(input.id, call, "write")
        const changed = yield* memories.change(holder, record.id, {
          ...asJson(input.content),
          ...(input.tags === undefined ? {} : { tags: input.tags }),
        })
        return (yield* holders.show([changed]))[0]
      }),
    }),
    writing("destructive", {
      name: "engram_delete",
      description: "Delete an engram by its ID. This action is permanent.",
      input: { properties: { id: engramId("Engram ID to delete") }, required: ["id"] },
      run: Effect.fnUntraced(function* (input: { readonly id: string }, call: HandlerCall) {
        const { holder, record } = yield* holders.byId(input.id, call, "delete")
        yield* memories.remove(holder, record.id, true)
        return { deleted: true, id: input.id }
      }),
    }),
    reading({
      name: "engram_list_by_type",
      description: "List all engrams for a wallet filtered by engram type.",
      input: {
        properties: {
          wallet_address: wallet("Wallet address to list engrams for"),
          engram_type: typeFilter,
          ...page(usualList),
        },
        required: ["wallet_address", "engram_type"],
      },
      run: Effect.fnUntraced(function* (input: Wallet & Paged & { readonly engram_type: EngramType }) {
        const { engram_type: type, limit = usualList, offset = 0 } = input
        const whose = yield* holders.readable(input.wallet_address)
        if (whose === undefined) return { count: 0, engrams: [] }
        return yield* listed({ reader: whose.reader, owner: whose.owner, type, limit, offset })
      }),
    }),
    reading({
      name: "user_profile_get",
      description: "Get user profile engrams (persona type with `user.profile.*` keys) for a wallet.",
      tags: profileTags,
      input: {
        properties: { wallet_address: wallet("Wallet address to get profile for") },
        required: ["wallet_address"],
      },
      run: Effect.fnUntraced(function* (input: Wallet) {
        const whose = yield* holders.readable(input.wallet_address)
        if (whose === undefined) return { count: 0, profile: [] }
        const { reader, owner } = whose
        const query = { reader, owner, type: "persona" as const, prefix: profilePrefix, limit: 100, offset: 0 }
        const found = yield* holders.show(yield* engrams.find(query))
        return { count: found.length, profile: found }
      }),
    }),
    writing("idempotent write", {
      name: "user_profile_update",
      description: "Update a user profile engram field. Maps field name to engram key `user.profile.<field>`.",
      tags: profileTags,
      input: {
        properties: {
          wallet_address: wallet("Wallet address to update"),
          field,
          content: content("New JSON string content"),
        },
        required: ["wallet_address", "field", "content"],
      },
      run: Effect.fnUntraced(function* (
        input: Wallet & { readonly field: string; readonly content: string },
        call: HandlerCall,
      ) {
        const holder = yield* holders.of(input.wallet_address, call)
        const name = `${profilePrefix}${input.field}`
        const before = yield* engrams.get(holder.id, holder.id, name)
        const { record } = yield* memories.put(holder, holder.id, {
          namespace: "engrams",
          kind: "persona",
          key: name,
          ...asJson(input.content),
          tags: [...new Set([...(before?.tags ?? []), "user", "profile"])],
        })
        return (yield* holders.show([record]))[0]
      }),
    }),
  ]
})
