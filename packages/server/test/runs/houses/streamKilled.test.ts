/** kill -9 of a house while a model still writes the input of a visible call: what was not made is in no space. */
import { request, type ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pause } from "../../../../../test/pause.ts"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { parseFrame } from "../../frames.ts"
import { homes, kill, send, start, token } from "../../killedHouse.ts"
import { config } from "../runsKit.ts"

const tool = "shown"
const input = { text: "a few words" }

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "played",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`

const writeCall = (response: ServerResponse, text: string) =>
  response.write(
    chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: tool, arguments: text } }] }),
  )

/** A model that stops in the middle of a call's input the first time, writes it whole the second, and then says a word. */
const playedModel = Effect.gen(function* () {
  let asked = 0
  // Until somebody listens again: pieces of an input are told once, to those who are there.
  const { promise: listening, resolve: go } = Promise.withResolvers<void>()
  const answer = async (response: ServerResponse, at: number) => {
    if (at === 2) await listening
    const text = JSON.stringify(input)
    response.writeHead(200, { "content-type": "text/event-stream" })
    if (at === 1) return void writeCall(response, text.slice(0, 12))
    if (at === 2) writeCall(response, text)
    response.end(
      `${at === 2 ? "" : chunk({ role: "assistant", content: "Done." })}${chunk({}, at === 2 ? "tool_calls" : "stop")}data: [DONE]\n\n`,
    )
  }
  const server = yield* http((_, response) => void answer(response, (asked += 1)))
  return { url: `${server.url}/v1`, asked: () => asked, go }
})

interface Frame {
  readonly id?: number
  readonly event?: string
  readonly data?: {
    readonly body: Record<string, never> & { readonly message?: { readonly call?: { readonly id: string } } }
  }
}

/** Everything that a stream tells from an event on, until the house dies or `close` is called. */
const listened = (url: string, path: string, after: number) => {
  const frames: Array<Frame> = []
  let rest = ""
  const asking = request(
    new URL(`/api/v1${path}`, url),
    { headers: { authorization: `Bearer ${token}`, "last-event-id": String(after) } },
    (response) => {
      response.setEncoding("utf8").on("data", (text: string) => {
        const parts = (rest + text).split("\n\n")
        rest = parts.pop()!
        frames.push(...parts.map((part) => parseFrame(part) as Frame))
      })
      response.on("error", () => undefined)
    },
  )
  asking.on("error", () => undefined).end()
  return { frames, close: () => asking.destroy() }
}

for (const [name, home] of homes)
  describe(`a model's stream and kill -9 on ${name}`, () => {
    it.live(
      "S1-69 G-23 no half of a call is left in the space: after the restart it begins, has its input, and ends, once",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const model = yield* playedModel
          const models = {
            played: { provider: "openai-compatible", model: "m", baseUrl: model.url, apiKey: "a-key-of-nobody" },
          }
          const file = { ...config, models }
          let house = yield* start(at, file)
          const sent = (method: string, path: string, body?: object) =>
            Effect.suspend(() => send(house.url, token, method, path, body))
          const added = yield* sent("POST", "/tools", {
            name: tool,
            description: "Says its text.",
            inputSchema: { type: "object", properties: { text: { type: "string" } } },
            executionType: "gateway",
            visibility: "visible",
            execution: { operation: "evaluate", expression: "input.text" },
          })
          assert.strictEqual(added.status, 201, JSON.stringify(added.body))
          yield* sent("POST", "/principals", { kind: "agent", name: "bot" })
          yield* sent("PATCH", "/agents/bot", { model: "played" })
          const { body: space } = yield* sent("POST", "/spaces", { name: "with-bot", kind: "dm", members: ["bot"] })
          const paths = [`/spaces/${String(space["id"])}/events?names=gateway`, "/events"]
          const before = paths.map((path) => listened(house.url, path, 0))
          yield* sent("POST", `/spaces/${String(space["id"])}/messages`, { text: "say it" })
          // Those who see the run see the call while it is written.
          while (!before[1]!.frames.some(({ event }) => event === "run.call")) yield* Effect.promise(pause)
          yield* kill(at, house.child)
          for (const { close } of before) close()
          const ofCalls = (frames: ReadonlyArray<Frame>) =>
            frames.filter(
              ({ data, event }) =>
                event === "call.input" || event === "tool-input-delta" || data?.body.message?.call != null,
            )
          for (const { frames } of before) assert.isEmpty(ofCalls(frames))

          house = yield* start(at, file)
          const cursor = (frames: ReadonlyArray<Frame>) => frames.reduce((last, { id }) => Math.max(last, id ?? 0), 0)
          const after = paths.map((path, place) => listened(house.url, path, cursor(before[place]!.frames)))
          while (after.some(({ frames }) => frames.length === 0)) yield* Effect.promise(pause)
          model.go()
          const settled = (event?: string) => /complete|error|settled/.test(event ?? "")
          while (!after.every(({ frames }) => ofCalls(frames).some(({ event }) => settled(event))))
            yield* Effect.promise(pause)
          while (model.asked() < 3) yield* Effect.promise(pause)
          const names = [
            ["tool-call.start", "tool-input-delta", "tool-call.complete"],
            ["message.created", "call.input", "message.settled"],
          ]
          for (const [place, { close, frames }] of after.entries()) {
            close()
            assert.deepStrictEqual(
              ofCalls(frames).map(({ event }) => event),
              names[place],
            )
          }
          const { body: kept } = yield* sent("GET", `/spaces/${String(space["id"])}/messages`)
          const shown = (
            kept["items"] as ReadonlyArray<{
              readonly call: { readonly state: string; readonly output: unknown } | null
            }>
          ).flatMap(({ call }) => (call === null ? [] : [call]))
          assert.deepStrictEqual(
            shown.map(({ output, state }) => [state, output]),
            [["done", input.text]],
          )
          yield* kill(at, house.child)
        }),
      90_000,
    )
  })
