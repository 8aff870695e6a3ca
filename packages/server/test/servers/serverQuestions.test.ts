/** What a server may ask back: whatever its era, and whatever it was asked for, the same rules hold. */
import { assert, describe, it } from "@effect/vitest"
import { type MCPConnection, type MCPExchange, type MCPQuestion, MCPRefused, type MCPReply } from "@stoa/tools"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { ConnectedServer } from "../../src/servers/connectedServer.ts"
import { makeConversations } from "../../src/servers/connections/conversations.ts"
import { converse } from "../../src/servers/contents/converse.ts"
import { type CallingClient, InputRequired } from "../../src/servers/InputRequired.ts"
import { maxQueued } from "../../src/servers/serverQuestions.ts"
import { makeToolCalls, type ToolCall } from "../../src/servers/tools/toolCall.ts"

const form = (message = "Who?"): MCPQuestion => ({ method: "elicitation/create", params: { message } })
const huge = form("x".repeat(70_000))
const sampling: MCPQuestion = { method: "sampling/createMessage", params: {} }
const client = (capabilities: object = { elicitation: {} }): CallingClient => ({
  capabilities: { ...capabilities },
  answers: {},
  log: () => {},
  letGo: () => {},
})
const asks = (question: MCPQuestion, state = "s"): MCPReply => ({ _tag: "Asks", questions: { q: question }, state })

/** Answers until it is over; how often it was asked, and how it ended. */
const talk = Effect.fnUntraced(function* <S>(
  turn: (before: InputRequired | undefined) => Effect.Effect<S | InputRequired, unknown>,
) {
  let before: InputRequired | undefined
  for (let rounds = 0; ; rounds++) {
    const running = yield* Effect.forkChild(Effect.exit(turn(before)))
    while (running.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
    const exit = yield* Fiber.join(running)
    if (Exit.isFailure(exit)) return { rounds, error: String(exit.cause) }
    if (!(exit.value instanceof InputRequired)) return { rounds, error: undefined }
    before = exit.value
  }
})

const yes = { action: "accept", content: {} }

/** A tool of a new-era server, whose every answer is `reply`. */
const tool = (reply: (method: string) => MCPReply) => {
  const { run } = makeToolCalls(makeConversations())
  const connection = {
    details: Effect.succeed({ era: "modern", capabilities: {} }),
    exchange: (method: string) => Effect.sync(() => reply(method)),
  } as unknown as MCPConnection
  return talk((before) => {
    const answered = before && { answers: { q: yes }, state: before.state }
    const about = { call: "call", tool: "t", arguments: {}, onlyTask: false, meta: {}, client: client(), answered }
    const it: ToolCall = { ...about, keep: () => Effect.void, onProgress: () => Effect.void }
    return run(connection, Scope.makeUnsafe(), it)
  })
}

/** A resource of a new-era server. */
const resource = (reply: () => MCPReply, capabilities?: object) => {
  const server = { converse: () => Effect.sync(reply) } as unknown as ConnectedServer
  return talk((before) =>
    converse(
      server,
      "resources/read",
      {},
      { client: client(capabilities), progress: () => {}, answers: { q: yes }, state: before?.state },
    ),
  )
}

/** A request to an old-era server that does this on its stream. */
const stream = Effect.fnUntraced(function* (
  does: (answer: NonNullable<MCPExchange["line"]>["answer"]) => Effect.Effect<unknown, MCPRefused>,
) {
  const conversations = makeConversations()
  const scope = yield* Scope.make()
  let left = false
  const send = (line: MCPExchange | undefined) =>
    does(line!.line!.answer).pipe(
      Effect.as<MCPReply>({ _tag: "Done", result: {} }),
      Effect.onInterrupt(() => Effect.sync(() => (left = true))),
    )
  const talked = yield* talk((before) =>
    before === undefined
      ? conversations.begin("call", scope, client(), true, send)
      : conversations.resume("call", Object.fromEntries(Object.keys(before.questions).map((key) => [key, yes])))!,
  )
  return { ...talked, left }
})

describe("what a server may ask back", () => {
  it.effect("ten times in one request, whatever the request and the era", () =>
    Effect.gen(function* () {
      const often = "asked more than 10 times"
      for (const { error, rounds } of [
        yield* tool(() => asks(form())),
        yield* tool((method) =>
          method === "tools/call"
            ? { _tag: "Task", task: { taskId: "one" } }
            : { _tag: "Done", result: { status: "input_required", inputRequests: { q: form() } } },
        ),
        yield* resource(() => asks(form())),
        yield* stream((answer) => Effect.forever(answer(form()))),
      ]) {
        assert.strictEqual(rounds, 10)
        assert.include(error, often)
      }
    }),
  )

  it.effect("64 KiB, with its state", () =>
    Effect.gen(function* () {
      for (const reply of [asks(huge), asks(form(), "x".repeat(70_000))])
        for (const { error, rounds } of [yield* tool(() => reply), yield* resource(() => reply)]) {
          assert.strictEqual(rounds, 0)
          assert.include(error, "too large")
        }
    }),
  )

  it.effect("what the client has declared", () =>
    Effect.gen(function* () {
      for (const { error } of [yield* tool(() => asks(sampling)), yield* resource(() => asks(sampling))])
        assert.include(error, "did not declare")
      // People of the house fill in forms of tools; contents are read by the client alone.
      assert.include((yield* resource(() => asks(form()), {})).error, "did not declare")
    }),
  )

  it.effect("on a stream what is too large or too much is refused at once, and does not end the request", () =>
    Effect.gen(function* () {
      const refused: Array<string> = []
      const said = (question: MCPQuestion) => (answer: (one: MCPQuestion) => Effect.Effect<unknown, MCPRefused>) =>
        Effect.catch(answer(question), ({ message }) => Effect.sync(() => refused.push(message)))
      const one = yield* stream(said(huge))
      assert.deepStrictEqual([one.rounds, one.error, refused.splice(0).length], [0, undefined, 1])
      const many = yield* stream((answer) =>
        Effect.all(
          Array.from({ length: maxQueued + 3 }, () => said(form())(answer)),
          { concurrency: "unbounded" },
        ),
      )
      assert.deepStrictEqual([many.rounds, many.error, refused.length], [1, undefined, 3])
    }),
  )

  it.effect("on a stream together more than 64 KiB end the request, and nothing is held for it", () =>
    Effect.gen(function* () {
      const part = form("x".repeat(30_000))
      const { error, left } = yield* stream((answer) =>
        Effect.all([answer(part), answer(part), answer(part)], { concurrency: "unbounded" }),
      )
      assert.include(error, "too large")
      assert.isTrue(left)
    }),
  )
})
