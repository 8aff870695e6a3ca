/** A visible call in a space: one message, the seeds' events in their order, and nothing where nothing is to be seen. */
import { assert, layer } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house } from "../../house.ts"
import { call as request, type Frame, fresh, listen, someone, type Someone } from "../../spaces/spacesGuests.ts"

const admin = Effect.map(Guest, ({ adminToken }) => ({ token: adminToken }) as Someone)
const configure = Effect.fnUntraced(function* (over: object) {
  const form = {
    name: fresh("tool"),
    description: "Shows something.",
    inputSchema: { type: "object", properties: { city: { type: "string" }, n: { type: "number" } } },
    ...over,
  }
  const made = yield* request(yield* admin, "POST", "/tools", form)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return form.name
})
const compute = (expression: string, over: object = {}) =>
  configure({ executionType: "gateway", execution: { operation: "evaluate", expression }, ...over })

const room = Effect.fnUntraced(function* () {
  const [pam, bot] = [yield* someone(), yield* someone("agent")]
  const space = yield* ask(() => pam.client.spaces.add({ name: fresh("room"), kind: "private", members: [bot.id] }))
  return { pam, bot, space }
})

/** What a watcher of the space hears until somebody says stop. */
const heard = Effect.fnUntraced(function* (pam: Someone, space: string, act: Effect.Effect<unknown, unknown, Guest>) {
  const stream = yield* listen(pam, { path: `/spaces/${space}/events?names=gateway` })
  yield* Effect.orDie(act)
  yield* ask(() => pam.client.spaces.post(space, { text: "stop" }))
  const frames: Array<Frame> = []
  for (;;) {
    const frame = yield* Effect.orDie(Queue.take(stream.frames))
    const said = frame.data?.["body"] as { message?: { text?: string } } | undefined
    if (said?.message?.text === "stop") return frames
    // What happened before the call may still be on its way.
    if (frame.event?.startsWith("tool-") === true) frames.push(frame)
  }
}, Effect.scoped)

interface Shown {
  readonly call: Record<string, unknown> | null
}
/** The messages of a space that are calls. */
const callsIn = (who: Someone, space: string) =>
  Effect.map(request(who, "GET", `/spaces/${space}/messages`), ({ body }) =>
    (body["items"] as ReadonlyArray<Shown>).flatMap(({ call }) => (call === null ? [] : [call])),
  )

for (const store of ["sqlite", "postgres"] as const) {
  const lines: Array<string> = []
  /** What the house has logged about a tool. */
  const warnings = (tool: string) => lines.filter((line) => line.startsWith(`${tool} `))
  layer(house({ store, logged: (line) => lines.push(line) }), { excludeTestServices: true, timeout: 30_000 })(
    `calls in spaces on ${store}`,
    (it) => {
      it.effect(
        "S1-13 S1-62 S1-63 S1-69 S1-70 S1-71 a visible call is start, one delta, complete, and one message with its data",
        () =>
          Effect.gen(function* () {
            const { bot, pam, space } = yield* room()
            const name = yield* compute("{{input.n}} * 2", { display: { customUI: "number" } })
            const input = { n: 21, city: "Scranton @everybody" }
            const frames = yield* heard(
              pam,
              space.id,
              request(bot, "POST", `/tools/${name}/call`, { input, space: space.id }),
            )
            assert.deepStrictEqual(
              frames.map((frame) => frame.event),
              ["tool-call.start", "tool-input-delta", "tool-call.complete"],
            )
            const deltas = frames.filter((frame) => frame.event === "tool-input-delta")
            const joined = deltas.map((frame) => (frame.data!.body as unknown as { delta: string }).delta).join("")
            assert.deepStrictEqual(JSON.parse(joined), input)
            assert.strictEqual(deltas[0]!.id, undefined)
            const shown = frames.at(-1)!.data!.body as unknown as {
              message: { call: object; id: string; mentions: [] }
            }
            assert.deepInclude(shown.message.call, { tool: name, input, output: 42, customUI: "number" })
            assert.deepStrictEqual(shown.message.mentions, [])
            const kept = yield* callsIn(pam, space.id)
            assert.strictEqual(kept.length, 1)
            assert.deepStrictEqual<unknown>(kept[0], shown.message.call)
            const reply = yield* request(pam, "POST", `/spaces/${space.id}/messages`, {
              text: "x",
              replyTo: shown.message.id,
            })
            assert.strictEqual(reply.status, 409)
          }),
      )

      it.effect(
        "S1-14 S1-15 S1-72 hidden shows nothing, result-only shows the end alone, a failure shows its error",
        () =>
          Effect.gen(function* () {
            const { bot, pam, space } = yield* room()
            const hidden = yield* compute("1 + 1", { visibility: "hidden" })
            const only = yield* compute("1 + 1", { visibility: "result-only" })
            const failing = yield* compute("{{input.missing}} + 1")
            const run = (name: string) =>
              heard(pam, space.id, request(bot, "POST", `/tools/${name}/call`, { space: space.id }))
            const names = (frames: ReadonlyArray<Frame>) => frames.map((frame) => frame.event)
            assert.deepStrictEqual(names(yield* run(hidden)), [])
            assert.deepStrictEqual(names(yield* run(only)), ["tool-call.complete"])
            const failed = yield* run(failing)
            assert.deepStrictEqual(names(failed), ["tool-call.start", "tool-input-delta", "tool-call.error"])
            const kept = yield* callsIn(pam, space.id)
            assert.deepStrictEqual(
              kept.map((call) => ["output" in call, "error" in call]),
              [
                [true, false],
                [false, true],
              ],
            )
            const { message, tag } = (kept[1] as { error: { message: string; tag: string } }).error
            assert.strictEqual(tag, "ToolExecutionError")
            assert.include(message, '"input.missing" is missing')
          }),
      )

      it.effect("S1-78 S1-82 S1-31 an interactive call is one message, filled when a member submits", () =>
        Effect.gen(function* () {
          const { bot, pam, space } = yield* room()
          const name = yield* configure({ executionType: "space", display: { customUI: "confirmAction" } })
          const input = { city: "Rome" }
          const asked = yield* request(bot, "POST", `/tools/${name}/call`, { input, space: space.id })
          assert.strictEqual(asked.status, 202)
          const [shown] = yield* callsIn(pam, space.id)
          assert.deepInclude(shown!, { tool: name, input, customUI: "confirmAction" })
          const outsider = yield* someone()
          const id = (asked.body as { id: string }).id
          const refused = yield* request(outsider, "POST", `/calls/${id}/result`, { output: { ok: true } })
          assert.include([403, 404], refused.status)
          const done = yield* request(pam, "POST", `/calls/${id}/result`, { output: { ok: true } })
          assert.strictEqual(done.status, 200, JSON.stringify(done.body))
          assert.deepInclude(done.body, { state: "done" })
          yield* (yield* Readers).receipt("calls")
          const after = yield* callsIn(pam, space.id)
          assert.strictEqual(after.length, 1)
          assert.deepInclude(after[0]!, { input, output: { ok: true } })
        }),
      )

      it.effect("S1-18 a visible tool without a space runs, is posted nowhere, and leaves one warning", () =>
        Effect.gen(function* () {
          const { bot, pam, space } = yield* room()
          const name = yield* compute("2 * 3")
          const frames = yield* heard(
            pam,
            space.id,
            Effect.map(request(bot, "POST", `/tools/${name}/call`, {}), ({ body }) =>
              assert.deepInclude(body, { state: "done", output: 6 }),
            ),
          )
          assert.deepStrictEqual(frames, [])
          const warned = warnings(name)
          assert.strictEqual(warned.length, 1, warned.join())
          assert.include(warned[0], "without a space: nobody sees its result")
        }),
      )

      it.effect("S1-18 what does not run leaves no warning: a dry run, a refused call, one that waits", () =>
        Effect.gen(function* () {
          const { bot, space } = yield* room()
          const name = yield* compute("2 * 3")
          const hidden = yield* compute("2 * 3", { visibility: "hidden" })
          const asks = yield* compute("2 * 3", { requiresApproval: true })
          const call = (tool: string, body: object) => request(bot, "POST", `/tools/${tool}/call`, body)
          assert.deepInclude((yield* call(name, { dryRun: true })).body, { dryRun: true, verdict: "allow" })
          assert.strictEqual((yield* call(name, { input: { n: "three" } })).status, 400)
          assert.deepInclude((yield* call(name, { space: space.id })).body, { state: "done" })
          assert.deepInclude((yield* call(hidden, {})).body, { state: "done" })
          const waiting: { readonly body: { readonly on?: { readonly id?: string } } } = yield* call(asks, {})
          for (const tool of [name, hidden, asks]) assert.deepStrictEqual(warnings(tool), [])
          // It is said when it runs, once.
          const answer = { verdict: "approve" }
          const answered = yield* request(yield* admin, "POST", `/decisions/${waiting.body.on?.id}/answer`, answer)
          assert.strictEqual(answered.status, 200, JSON.stringify(answered.body))
          yield* (yield* Readers).receipt("calls")
          assert.strictEqual(warnings(asks).length, 1)
        }),
      )
    },
  )
}
