/**
 * The house's own tools for any MCP client with a token: messages, memory, the state of calls, and answers to
 * decisions.
 */
import {
  Caller,
  Decision,
  inputIn,
  type NewAnswer,
  questionIn,
  reachWords,
  type Space,
  visibleValue,
  WrongState,
} from "@stoa/contract"
import { Clock, Effect, Schema } from "effect"
import { Limits } from "../../access/limits/Limits.ts"
import { monotonicMillis } from "../../store/Moment.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import { Pacing } from "../../store/fibers/Pacing.ts"
import { callFrom, Calls } from "../../calls/Calls.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Decisions } from "../../decisions/Decisions.ts"
import { type ToolsetTool, integer, catalogueOffer, text, withMemory } from "../toolsetTool.ts"
import { makeMessageWaits } from "./messageWaits.ts"
import { stoaMemory } from "../parts/memory.ts"
import { stoaSearch } from "../parts/search.ts"
import { stoaRuns } from "../parts/runs.ts"
import { makeConversation, messageView } from "../parts/conversation.ts"

const space = text("The space's id or name", { minLength: 1 })
const limit = integer("How many", { minimum: 1, maximum: 100, default: 50 })
/** Less than the minute after which clients give up. */
const longestWait = 50

const encode = Schema.encodeSync(Schema.toCodecJson(Decision))

/** A decision as shown by a client: invisible characters are written out, and texts of others are marked as theirs. */
const decisionFor = (decision: Decision) => {
  const { heading, lines } = questionIn(decision)
  return {
    ...(visibleValue(encode(decision)) as object),
    question: [...(heading === null ? [] : [heading]), ...lines].join("\n"),
    ...(decision.call === null ? {} : { inputFrom: inputIn(decision)!.heading }),
    ...(decision.options === undefined
      ? {}
      : { covers: Object.fromEntries(decision.options.reaches.map((one) => [one, reachWords(decision, one)])) }),
  }
}

/**
 * The most bytes of text returned at once, but at least one message: the rest stays unread. A result of more than 64 kB
 * would become a file (calls/road/record/record.ts).
 */
const maxText = 48 * 1024

const withinText = <A extends { readonly text: string }>(messages: ReadonlyArray<A>): ReadonlyArray<A> => {
  let left = maxText
  return messages.filter(({ text }, at) => (left -= Buffer.byteLength(text)) >= 0 || at === 0)
}

export const stoa = Effect.gen(function* () {
  const conversation = yield* makeConversation
  const grants = yield* Grants
  const tokens = yield* Tokens
  const calls = yield* Calls
  const decisions = yield* Decisions
  const limits = yield* Limits
  const waits = yield* makeMessageWaits
  const tool = <A>(form: ToolsetTool<A>) => catalogueOffer("stoa", form)

  /**
   * The caller's unread messages in a space, or in all of its own; by its present rights, because it may have waited.
   */
  const unread = Effect.fnUntraced(function* (ref: string | undefined, after: number | undefined, count: number) {
    const caller = yield* Caller
    if (!(yield* tokens.stillWorks(caller))) return yield* new WrongState({ detail: "Your token no longer works." })
    const me = caller.principal.id
    const who = yield* grants.viewerNow(me, caller.context, "spaces")
    const mine = ref === undefined ? yield* conversation.own(who) : [yield* conversation.readable(ref, who)]
    const readUpTo = (one: Space) => after ?? one.lastSeq - one.unread
    const found = yield* Effect.forEach(
      mine.filter((one) => one.lastSeq > readUpTo(one)),
      (one) =>
        Effect.map(conversation.messages.list(one, who, { after: readUpTo(one), limit: count }), ({ items }) =>
          items
            .filter((message) => message.author.id !== me)
            .map((message) => ({ space: one.name, ...messageView(message) })),
        ),
    )
    return { messages: withinText(found.flat().slice(0, count)), spaces: new Set(mine.map(({ id }) => id)) }
  })
  // All waiters look at once when somebody posts: those of one principal look one after the other.
  const looks = new Pacing({ least: 0, longest: 250 })

  return [
    tool({
      name: "whoami",
      houseText: true,
      description: "Who you are here, and what you may do.",
      effects: "none",
      input: { properties: {} },
      run: Effect.fnUntraced(function* () {
        const { context, principal } = yield* Caller
        const { id, kind, name, roles, toolsets } = principal
        return { id, kind, name, roles, toolsets, context }
      }),
    }),
    tool({
      name: "list_spaces",
      description: "The spaces you may see, with the number of unread messages.",
      effects: "none",
      input: { properties: { limit, cursor: text("The next of the page before") } },
      run: Effect.fnUntraced(function* (input: { readonly limit?: number; readonly cursor?: string }) {
        const { items, next } = yield* conversation.spaces.list(yield* conversation.viewer, input)
        return {
          items: items.map(({ id, kind, lastSeq, name, topic, unread: left }) => ({
            id,
            name,
            kind,
            topic,
            lastSeq,
            unread: left,
          })),
          next,
        }
      }),
    }),
    tool({
      name: "list_members",
      description: "Who is in a space.",
      effects: "none",
      input: { properties: { space }, required: ["space"] },
      run: Effect.fnUntraced(function* (input: { readonly space: string }) {
        const { members } = yield* conversation.readable(input.space)
        return { items: members.map(({ id, kind, name, role }) => ({ id, name, kind, role })), next: null }
      }),
    }),
    tool({
      name: "post_message",
      approvedOnce: true,
      description: "Post a message in a space. @Name addresses a member.",
      effects: "store",
      input: {
        properties: {
          space,
          text: text("What to say", { minLength: 1 }),
          replyTo: text("The message that is answered"),
        },
        required: ["space", "text"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly space: string; readonly text: string; readonly replyTo?: string },
        call: HandlerCall,
      ) {
        return messageView(
          yield* conversation.say(call, yield* conversation.readable(input.space), input.text, input.replyTo),
        )
      }),
    }),
    tool({
      name: "read_messages",
      description: "Read the messages of a space: the newest, or those before or after a number, oldest first.",
      effects: "none",
      input: {
        properties: { space, limit, before: integer("Before this number"), after: integer("After this number") },
        required: ["space"],
      },
      run: Effect.fnUntraced(function* (input: {
        readonly space: string
        readonly limit?: number
        readonly before?: number
        readonly after?: number
      }) {
        const { space: ref, ...query } = input
        const { items, next } = yield* conversation.read(yield* conversation.readable(ref), query)
        return { items: items.map(messageView), next }
      }),
    }),
    tool({
      name: "react",
      houseText: true,
      description: "React to a message with an emoji.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: {
          message: text("The message's id"),
          emoji: text("One emoji", { minLength: 1, maxLength: 64 }),
        },
        required: ["message", "emoji"],
      },
      run: Effect.fnUntraced(function* (input: { readonly message: string; readonly emoji: string }) {
        yield* conversation.react(input.message, input.emoji)
        return { reacted: true }
      }),
    }),
    tool({
      name: "search_messages",
      description: "Search the messages you may see by a question in plain words. The best first.",
      effects: "none",
      input: {
        properties: {
          query: text("A question or a few words; what stands in quotes must be there word for word", {
            minLength: 1,
            maxLength: 2000,
          }),
          space,
          limit,
          cursor: text("The next of the page before"),
        },
        required: ["query"],
      },
      run: Effect.fnUntraced(function* (input: {
        readonly query: string
        readonly space?: string
        readonly limit?: number
        readonly cursor?: string
      }) {
        const viewer = yield* conversation.viewer
        const { items, next } = yield* conversation.messages.search({
          words: input.query,
          viewer,
          ...(input.space === undefined ? {} : { space: yield* conversation.readable(input.space) }),
          ...(input.limit === undefined ? {} : { limit: input.limit }),
          ...(input.cursor === undefined ? {} : { cursor: input.cursor }),
        })
        return { items: items.map((message) => ({ ...messageView(message), match: message.match })), next }
      }),
    }),
    tool({
      name: "mark_read",
      houseText: true,
      description: "Mark messages of a space as read, up to a number.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: { space, seq: integer("The number of the last message you have read", { minimum: 0 }) },
        required: ["space", "seq"],
      },
      run: Effect.fnUntraced(function* (input: { readonly space: string; readonly seq: number }) {
        const there = yield* conversation.readable(input.space)
        yield* conversation.spaces.markRead(there, yield* conversation.viewer, input.seq)
        return { space: there.id, seq: input.seq }
      }),
    }),
    tool({
      name: "wait_for_messages",
      description:
        "Wait until somebody says something you have not read, in one space or in all of yours; for a while at most.",
      // It may take long, so it is recorded before it begins, and can be canceled.
      effects: "outside",
      annotations: { readOnlyHint: true },
      timeoutMs: (longestWait + 10) * 1000,
      input: {
        properties: {
          space,
          after: integer("After this number; by default after what you have marked as read", { minimum: 0 }),
          seconds: integer("How long to wait", { minimum: 0, maximum: longestWait, default: 25 }),
          limit,
        },
      },
      run: Effect.fnUntraced(function* (input: {
        readonly space?: string
        readonly after?: number
        readonly seconds?: number
        readonly limit?: number
      }) {
        const { expiresAt, principal } = yield* Caller
        // wall clock: a token ends at a moment; from here on what is left is counted.
        const leftOfToken = (expiresAt?.epochMilliseconds ?? Infinity) - (yield* Clock.currentTimeMillis)
        const until = (yield* monotonicMillis) + Math.min((input.seconds ?? 25) * 1000, leftOfToken)
        const next = Effect.gen(function* () {
          const wait = yield* waits
          for (;;) {
            const heard = wait.bell.rung
            wait.spaces = undefined
            const { messages, spaces } = yield* looks.run(
              principal.id,
              unread(input.space, input.after, input.limit ?? 50),
            )
            wait.spaces = spaces
            const left = until - (yield* monotonicMillis)
            if (messages.length > 0 || left <= 0) return { messages, timedOut: messages.length === 0 }
            yield* Effect.timeoutOption(wait.bell.waitPast(heard), left)
          }
        })
        // Each waiter looks again whenever somebody posts: a few per principal are enough.
        return yield* limits.within(yield* Caller, "waits/messages", Effect.scoped(next))
      }),
    }),
    tool({
      name: "call_status",
      atEveryEndpoint: true,
      description: "The state and the result of one of your calls.",
      effects: "none",
      input: { properties: { call: text("The call's id") }, required: ["call"] },
      run: Effect.fnUntraced(function* (input: { readonly call: string }) {
        return callFrom(yield* calls.get(input.call, yield* grants.viewer("calls")))
      }),
    }),
    tool({
      name: "cancel_call",
      atEveryEndpoint: true,
      description: "Cancel one of your calls that is waiting or running.",
      effects: "outside",
      annotations: { idempotentHint: true },
      input: { properties: { call: text("The call's id") }, required: ["call"] },
      run: Effect.fnUntraced(function* (input: { readonly call: string }) {
        const { principal } = yield* Caller
        const reader = yield* grants.viewer("calls")
        const { id, state } = yield* calls.cancel(input.call, reader, `Canceled by ${principal.name}`)
        return { call: id, state }
      }),
    }),
    tool({
      name: "list_decisions",
      description: "The open decisions that you may see.",
      effects: "none",
      input: {
        properties: {
          state: { type: "string", enum: ["open", "answered", "expired", "canceled"], default: "open" },
          limit,
          cursor: text("The next of the page before"),
        },
      },
      run: Effect.fnUntraced(function* (input: {
        readonly state?: "open" | "answered" | "expired" | "canceled"
        readonly limit?: number
        readonly cursor?: string
      }) {
        const { items, next } = yield* decisions.list(yield* grants.viewer("decisions"), { state: "open", ...input })
        return { items: items.map(decisionFor), next }
      }),
    }),
    tool({
      name: "answer_decision",
      description: "Answer a decision that you may answer: approve or deny an approval, submit a value to a form.",
      effects: "store",
      input: {
        properties: {
          decision: text("The decision's id"),
          verdict: { type: "string", enum: ["approve", "deny", "submit"] },
          input: { type: "object", description: "Approve with this input instead" },
          value: { description: "The value of the form" },
          reach: {
            type: "string",
            enum: ["once", "run", "always"],
            default: "once",
            description: "How far the approval reaches; `covers` of the decision says what that means",
          },
          inputDigest: text("The inputDigest of what was shown; another input is not approved", { maxLength: 128 }),
          note: text("Why", { maxLength: 2000 }),
        },
        required: ["decision", "verdict"],
      },
      run: Effect.fnUntraced(function* ({ decision, ...answer }: NewAnswer & { readonly decision: string }) {
        const { answeredBy, id, state, verdict } = yield* decisions.answer(decision, yield* Caller, answer)
        return { id, state, verdict, answeredBy }
      }),
    }),
    ...withMemory(yield* stoaMemory),
    ...withMemory(yield* stoaSearch),
    ...(yield* stoaRuns),
  ]
})
