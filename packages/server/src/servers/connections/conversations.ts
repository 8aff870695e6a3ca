/**
 * Calls of old-era servers, which ask in the middle of a call and wait on its stream for the answer. Such a call is
 * held here, in memory only, from its first question until it is answered.
 */
import type { MCPConnectionError } from "@stoa/contract"
import { type MCPConnection, type MCPQuestion, MCPRefused, type MCPReply } from "@stoa/tools"
import { Cause, Deferred, Effect, Exit, Fiber, Queue, type Scope } from "effect"
import { type Answers, InputRequired, type CallingClient } from "../InputRequired.ts"
import { answerWithoutAsking, askedBack, isTooLarge, maxQueued, tooLarge, tooMany } from "../serverQuestions.ts"

type JsonObject = Readonly<Record<string, unknown>>
type Refusal = MCPConnectionError | MCPRefused

interface Pending {
  readonly question: MCPQuestion
  readonly reply: Deferred.Deferred<JsonObject>
}

interface Conversation {
  readonly fiber: Fiber.Fiber<MCPReply, Refusal>
  readonly questions: Queue.Queue<Pending>
  /** The unanswered questions, by key. */
  pending: Readonly<Record<string, Pending>>
  asked: number
  /** How often the client or people were asked. */
  rounds: number
  readonly client: CallingClient | undefined
  readonly people: boolean
  /** The task that the server has made of it, to be cancelled when the call is given up. */
  readonly task: () => string | undefined
}

const cutOff = new MCPRefused(-32_603, "The connection to its server ended; whether it acted is not known")
/** Questions that arrive together are asked together. */
const togetherMs = 50

/** The id of a sign-in is between the server and us: a client gets its own. */
const asked = ({ method, params }: MCPQuestion): MCPQuestion => {
  const { elicitationId: _, ...rest } = params
  return { method, params: rest }
}

const gathered = Effect.fnUntraced(function* (questions: Queue.Queue<Pending>) {
  const first = yield* Queue.take(questions)
  yield* Effect.sleep(togetherMs)
  return [first, ...(yield* Queue.clear(questions))]
})

export const makeConversations = () => {
  const all = new Map<string, Conversation>()
  const hearers = new Set<(call: string) => void>()

  const hangUp = (call: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const one = all.get(call)
      all.delete(call)
      return one === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(one.fiber))
    })

  /** Waits until it ends or asks. */
  const next = (call: string, one: Conversation): Effect.Effect<MCPReply | InputRequired, Refusal> =>
    Effect.raceFirst(
      Effect.map(gathered(one.questions), (pending) => ({ pending })),
      Effect.map(Fiber.await(one.fiber), (exit) => ({ exit })),
    ).pipe(
      Effect.flatMap((came): Effect.Effect<MCPReply | InputRequired, Refusal> => {
        if ("exit" in came) {
          all.delete(call)
          if (Exit.isSuccess(came.exit)) return Effect.succeed(came.exit.value)
          return Cause.hasInterruptsOnly(came.exit.cause) ? Effect.fail(cutOff) : Effect.failCause(came.exit.cause)
        }
        one.pending = Object.fromEntries(came.pending.map((it) => [`question-${++one.asked}`, it]))
        const questions = Object.entries(one.pending).map(([key, { question }]) => [key, question])
        const task = one.task()
        const state = { held: true, ...(task === undefined ? {} : { task }) }
        const back = new InputRequired(Object.fromEntries(questions), state, true, false)
        return Effect.tapError(askedBack(back, one.rounds++, one.client, one.people), () => hangUp(call))
      }),
      // Interrupting the handler stops the call; a call that has asked is stopped by `hangUp`.
      Effect.onInterrupt(() => hangUp(call)),
    )

  /**
   * Sends it, with the lifetime of the connection and not of the request that waits. `people`: people of the house may
   * be asked too.
   */
  const begin = Effect.fnUntraced(function* (
    call: string,
    scope: Scope.Scope,
    client: CallingClient | undefined,
    people: boolean,
    send: (
      line: Parameters<MCPConnection["exchange"]>[2],
      becomes: (task: string) => void,
    ) => ReturnType<MCPConnection["exchange"]>,
  ) {
    const questions = yield* Queue.dropping<Pending>(maxQueued)
    const answer = Effect.fnUntraced(function* (question: MCPQuestion) {
      const said = answerWithoutAsking(question, client, people)
      if (said instanceof MCPRefused) return yield* Effect.fail(said)
      if (said !== undefined) return said
      if (isTooLarge(question)) return yield* Effect.fail(tooLarge)
      const reply = Deferred.makeUnsafe<JsonObject>()
      if (!(yield* Queue.offer(questions, { question: asked(question), reply }))) return yield* Effect.fail(tooMany)
      return yield* Deferred.await(reply)
    })
    const log = (entry: Parameters<CallingClient["log"]>[0]) => Effect.sync(() => client?.log(entry))
    let task: string | undefined
    const sent = send({ line: { answer, log } }, (made) => void (task = made))
    const fiber = yield* Effect.forkIn(sent, scope)
    const one: Conversation = {
      fiber,
      questions,
      client,
      people,
      pending: {},
      asked: 0,
      rounds: 0,
      task: () => task,
    }
    all.set(call, one)
    // It ended while its question was open: the answer would reach nobody.
    fiber.addObserver(() => {
      if (Object.keys(one.pending).length > 0 && all.get(call) === one) for (const hear of hearers) hear(call)
    })
    return yield* next(call, one)
  })

  /** Undefined: it is no longer held here. */
  const resume = (call: string, answers: Answers): Effect.Effect<MCPReply | InputRequired, Refusal> | undefined => {
    const one = all.get(call)
    if (one === undefined) return undefined
    for (const [key, { reply }] of Object.entries(one.pending))
      Deferred.doneUnsafe(reply, Effect.succeed(answers[key] ?? { action: "cancel" }))
    one.pending = {}
    return next(call, one)
  }

  return { begin, resume, hangUp, onLost: (hear: (call: string) => void) => void hearers.add(hear) }
}
