/**
 * Calls of servers of the old era, which ask in the middle of a call and wait on its stream for the answer. Such a call is
 * held here from its first question on, while whoever runs the handler waits for somebody to answer. Only memory holds it.
 */
import type { MCPConnectionError } from "@stoa/contract"
import { type MCPConnection, type MCPQuestion, MCPRefused, type MCPReply } from "@stoa/tools"
import { Cause, Deferred, Effect, Exit, Fiber, Queue, type Scope } from "effect"
import { type Answers, Asked, type CallingClient } from "./Asked.ts"

type JsonObject = Readonly<Record<string, unknown>>
type Refusal = MCPConnectionError | MCPRefused

interface Pending {
  readonly question: MCPQuestion
  readonly reply: Deferred.Deferred<JsonObject>
}

interface Conversation {
  readonly fiber: Fiber.Fiber<MCPReply, Refusal>
  readonly questions: Queue.Queue<Pending>
  pending: Pending | undefined
}

const cutOff = new MCPRefused(-32_603, "The connection to its server ended; whether it acted is not known")
/** A held question has one key: the next one is asked when it is answered. */
const key = "question"
const state = { held: true }

const declares = (client: CallingClient | undefined, capability: string): boolean =>
  client?.capabilities[capability] !== undefined

/** What nobody can be asked is answered at once: no folder is shown, no model is there. */
export const unaskable = (
  { method }: MCPQuestion,
  client: CallingClient | undefined,
): JsonObject | MCPRefused | undefined => {
  if (method === "elicitation/create") return undefined
  if (method === "roots/list") return declares(client, "roots") ? undefined : { roots: [] }
  if (method === "sampling/createMessage" && declares(client, "sampling")) return undefined
  return new MCPRefused(-32_601, "Whoever made this call has no model to lend, and neither has the house")
}

/** Which sign-in a server means is between it and us: a client gets one of its own. */
const asked = ({ method, params }: MCPQuestion): MCPQuestion => {
  const { elicitationId: _, ...rest } = params
  return { method, params: rest }
}

export const makeConversations = () => {
  const all = new Map<string, Conversation>()

  const hangUp = (call: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const one = all.get(call)
      all.delete(call)
      return one === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(one.fiber))
    })

  /** Until it ends, or asks. */
  const next = (call: string, one: Conversation): Effect.Effect<MCPReply | Asked, Refusal> =>
    Effect.raceFirst(
      Effect.map(Queue.take(one.questions), (pending) => ({ pending })),
      Effect.map(Fiber.await(one.fiber), (exit) => ({ exit })),
    ).pipe(
      Effect.flatMap((came): Effect.Effect<MCPReply | Asked, Refusal> => {
        if ("exit" in came) {
          all.delete(call)
          if (Exit.isSuccess(came.exit)) return Effect.succeed(came.exit.value)
          return Cause.hasInterruptsOnly(came.exit.cause) ? Effect.fail(cutOff) : Effect.failCause(came.exit.cause)
        }
        one.pending = came.pending
        return Effect.succeed(new Asked({ [key]: came.pending.question }, state, true, false))
      }),
      // Whoever stops the handler stops the call; one that has asked is stopped by `hangUp`.
      Effect.onInterrupt(() => hangUp(call)),
    )

  /** Sends it, in the life of the connection and not in that of whoever waits. */
  const begin = Effect.fnUntraced(function* (
    call: string,
    scope: Scope.Scope,
    client: CallingClient | undefined,
    send: (line: Parameters<MCPConnection["exchange"]>[2]) => ReturnType<MCPConnection["exchange"]>,
  ) {
    const questions = yield* Queue.unbounded<Pending>()
    const answer = Effect.fnUntraced(function* (question: MCPQuestion) {
      const said = unaskable(question, client)
      if (said instanceof MCPRefused) return yield* Effect.fail(said)
      if (said !== undefined) return said
      const reply = Deferred.makeUnsafe<JsonObject>()
      yield* Queue.offer(questions, { question: asked(question), reply })
      return yield* Deferred.await(reply)
    })
    const log = (entry: Parameters<CallingClient["log"]>[0]) => Effect.sync(() => client?.log(entry))
    const fiber = yield* Effect.forkIn(send({ line: { answer, log } }), scope)
    const one: Conversation = { fiber, questions, pending: undefined }
    all.set(call, one)
    return yield* next(call, one)
  })

  /** Undefined: nothing of it is left here. */
  const goOn = (call: string, answers: Answers): Effect.Effect<MCPReply | Asked, Refusal> | undefined => {
    const one = all.get(call)
    if (one === undefined) return undefined
    const { pending } = one
    one.pending = undefined
    if (pending !== undefined) Deferred.doneUnsafe(pending.reply, Effect.succeed(answers[key] ?? { action: "cancel" }))
    return next(call, one)
  }

  return { begin, goOn, hangUp, holds: () => all.size }
}
