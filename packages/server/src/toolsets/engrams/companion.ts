/**
 * Seed 002's agents, Hecate and Moros: what each remembers, pins and cleans up. One mechanism with two names; each
 * changes only its own records (S2-59).
 */
import type { EngramType } from "@stoa/contract"
import { Effect } from "effect"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Engrams } from "../../memory/Engrams.ts"
import { Memories } from "../../memory/Memories.ts"
import { ChatSessions } from "../../sessions/ChatSessions.ts"
import { ChosenModels, ownModel } from "../../sessions/ChosenModels.ts"
import type { Companion } from "../../sessions/Companions.ts"
import { text } from "../toolsetTool.ts"
import type { WalletHolders } from "./walletHolders.ts"
import { makeSessionActor } from "./sessions.ts"
import { asJson, engramId, engramIdOf, engramType, key, wallet, writing } from "./shapes.ts"

/** The kinds that may be remembered in passing; strategies and compliance rules are written deliberately (S2-46). */
const remembered = ["persona", "preference", "knowledge"] as const
const usual = "knowledge"

export const companionTools = Effect.fnUntraced(function* (name: Companion, holders: WalletHolders) {
  const memories = yield* Memories
  const engrams = yield* Engrams
  const sessions = yield* ChatSessions
  const models = yield* ChosenModels
  const actorOf = yield* makeSessionActor
  const managed = [`${name}.management`]

  const pin = Effect.fnUntraced(function* (id: string, call: HandlerCall, pinned: boolean) {
    const { holder, record } = yield* holders.byId(id, call, "write")
    yield* memories.change(holder, record.id, { pinned })
    return id
  })

  return [
    writing("idempotent write", {
      name: `${name}_remember`,
      description:
        "Proactively save important context about a visitor. Use when they share preferences, facts, decisions, or anything worth remembering.",
      tags: [`${name}.memory`],
      input: {
        properties: {
          wallet_address: wallet("Wallet address of the visitor"),
          key: key("Dot-path key (e.g., `visitor.preference.chains`)"),
          content: text("Information to remember"),
          engram_type: engramType(remembered, "The type of engram (default knowledge)"),
        },
        required: ["wallet_address", "key", "content"],
      },
      run: Effect.fnUntraced(function* (
        input: {
          readonly wallet_address: string
          readonly key: string
          readonly content: string
          readonly engram_type?: EngramType
        },
        call: HandlerCall,
      ) {
        const holder = yield* holders.of(input.wallet_address, call)
        const before = yield* engrams.get(holder.id, holder.id, input.key)
        const kind = input.engram_type ?? remembered.find((one) => one === before?.kind) ?? usual
        const { record } = yield* memories.put(holder, holder.id, {
          namespace: "engrams",
          kind,
          key: input.key,
          // Free text, stored as a JSON string, so that every engram's content is JSON (S2-47).
          ...asJson(JSON.stringify(input.content)),
          tags: [...new Set([...(before?.tags ?? []), name, "auto"])],
          // A remark in passing is private.
          public: false,
        })
        return { remembered: true, key: record.key, id: engramIdOf(record.id) }
      }),
    }),
    writing("destructive", {
      name: `${name}_cleanup`,
      description: "Compact old conversation sessions. Keeps 5 most recent and all pinned sessions.",
      tags: managed,
      // May remove years of sessions at once.
      timeoutMs: 120_000,
      input: {
        properties: { wallet_address: wallet("Wallet address to clean up") },
        required: ["wallet_address"],
      },
      run: Effect.fnUntraced(function* (input: { readonly wallet_address: string }, call: HandlerCall) {
        const holder = yield* holders.of(input.wallet_address, call, "delete")
        const { deleted, pinned, retained } = yield* sessions.cleanUp(yield* actorOf(holder), name)
        const message = `${deleted} sessions removed, ${retained} retained, ${pinned} pinned (protected)`
        return { deleted, retained, pinned, message }
      }),
    }),
    writing("idempotent write", {
      name: `${name}_pin_engram`,
      description: "Pin an engram to protect it from cleanup/deletion.",
      tags: managed,
      input: { properties: { id: engramId("Engram ID to pin") }, required: ["id"] },
      run: (input: { readonly id: string }, call) =>
        Effect.map(pin(input.id, call, true), (id) => ({ pinned: true, id })),
    }),
    writing("write", {
      name: `${name}_unpin_engram`,
      description: "Remove pin protection from an engram, allowing deletion.",
      tags: managed,
      input: { properties: { id: engramId("Engram ID to unpin") }, required: ["id"] },
      run: (input: { readonly id: string }, call) =>
        Effect.map(pin(input.id, call, false), (id) => ({ unpinned: true, id })),
    }),
    writing("write", {
      name: `${name}_set_model`,
      description: `Switch the AI model. Search by name or keyword; \`${ownModel}\` goes back to the agent's own.`,
      tags: managed,
      input: {
        properties: {
          query: text("Model name or keyword (e.g., `opus`, `claude-sonnet`, `gpt-4o`)", {
            minLength: 1,
            maxLength: 200,
          }),
        },
        required: ["query"],
      },
      run: Effect.fnUntraced(function* (input: { readonly query: string }, call: HandlerCall) {
        const { alternatives, before, chosen } = yield* models.choose(yield* holders.self(call), name, input.query)
        return {
          success: true,
          model: chosen?.name ?? null,
          previous: before?.name ?? null,
          alternatives: alternatives.map((one) => one.name),
        }
      }),
    }),
  ]
})
