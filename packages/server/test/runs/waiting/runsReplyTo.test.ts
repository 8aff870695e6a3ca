/** Of several waits, the reply to one message goes on with one run. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest } from "../../house.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { ended, room, runsHouse, runsOf, setRules, stores, thinker, until } from "../runsKit.ts"
import { firstOutput, gateway, waitOf } from "../repliesKit.ts"

/** An agent whose two runs wait in one space for the answer of one person. */
const twoWaits = Effect.gen(function* () {
  const [ada, ben] = [yield* someone(), yield* someone()]
  const bot = yield* thinker(gateway)
  const space = yield* room("private", ada, ben, bot)
  const asking = (word: string) => ({
    when: { agent: bot.name, step: 1, text: word },
    call: [{ tool: "send_message", input: { text: `@${ben.name} ${word}?`, wait: true } }],
  })
  yield* setRules([asking("salt"), asking("pepper")])
  const waits: Array<{ readonly id: string; readonly message: string }> = []
  for (const word of ["salt", "pepper"]) {
    yield* ask(() => ada.client.spaces.post(space.id, { text: `@${bot.name} ${word}` }))
    const run = yield* until(
      Effect.map(runsOf(bot), (rows) =>
        rows.find(({ id, state }) => state === "waiting_reply" && waits.every((one) => one.id !== id)),
      ),
    )
    waits.push({ id: run.id, message: (yield* waitOf(run)).message })
  }
  return { ben, bot, space, waits }
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(
    `one of several waits on ${store}`,
    (it) => {
      it.effect(
        "S1-48 one agent waits twice in a space: a reply to the second message goes on with the second run",
        () =>
          Effect.gen(function* () {
            const { ben, bot, space, waits } = yield* twoWaits
            const [first, second] = waits
            yield* ask(() => ben.client.spaces.post(space.id, { text: "a little", replyTo: second!.message }))
            assert.deepStrictEqual(
              (yield* ended(bot)).map(({ id }) => id),
              [second!.id],
            )
            const states = Effect.map(runsOf(bot), (rows) => rows.map(({ id, state }) => [id, state]))
            assert.deepStrictEqual(yield* states, [
              [first!.id, "waiting_reply"],
              [second!.id, "completed"],
            ])
            assert.strictEqual((yield* firstOutput(second!)).replies[0]?.text, "a little")
            yield* ask(() => ben.client.spaces.post(space.id, { text: "a lot", replyTo: first!.message }))
            yield* ended(bot, 2)
            assert.strictEqual((yield* firstOutput(first!)).replies[0]?.text, "a lot")
          }),
      )

      it.effect("S1-48 send_reply goes on with the run that sent the message it names, and with no other", () =>
        Effect.gen(function* () {
          const { ben, bot, space, waits } = yield* twoWaits
          const [first, second] = waits
          // The person who was asked answers by the tool, as a toolset of theirs lets them.
          yield* setRules([])
          const { admin, as } = yield* Guest
          yield* ask(() => admin.principals.change(ben.id, { toolsets: ["gateway"] }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: ben.id, context: "internal" }))
          const reply = (text: string, to: string) =>
            ask(() =>
              as(token).tools.call("send_reply", {
                input: { text: `@${bot.name} ${text}`, replyToMessageId: to },
                space: space.id,
              }),
            )
          assert.deepInclude(yield* reply("a little", second!.message), { state: "done" })
          assert.deepStrictEqual(
            (yield* ended(bot)).map(({ id }) => id),
            [second!.id],
          )
          assert.strictEqual((yield* firstOutput(second!)).replies[0]?.text, `@${bot.name} a little`)
          assert.deepStrictEqual(
            (yield* runsOf(bot)).map(({ id, state }) => [id, state]),
            [
              [first!.id, "waiting_reply"],
              [second!.id, "completed"],
            ],
          )
        }),
      )
    },
  )
