/** A file that a tool made is its caller's to read: here an image, made by a provider on loopback. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { callsHouse, callTool, configure, stores, told } from "./callsKit.ts"
import { ask, Guest } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

describe("files that calls made", () => {
  for (const store of stores)
    it.live(
      `G-30 S1-28 an image is read by whoever made it, and by nobody else, on ${store}`,
      () =>
        Effect.gen(function* () {
          const provider = yield* http(
            (_, response) =>
              void response
                .writeHead(200, { "content-type": "application/json" })
                .end(JSON.stringify({ created: 1, data: [{ b64_json: png.toString("base64") }] })),
          )
          const env = { OPENAI_API_KEY: "sk-of-the-tests", OPENAI_BASE_URL: `${provider.url}/v1` }
          yield* Effect.gen(function* () {
            const { raw } = yield* Guest
            const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
            const { name } = yield* configure({
              executionType: "gateway",
              inputSchema: { type: "object", properties: { prompt: { type: "string" } } },
              execution: { provider: "dall-e" },
            })
            const done = told(yield* callTool(bot, name, { input: { prompt: "a stoa" } }))
            assert.strictEqual(done.state, "done", JSON.stringify(done))
            const { file } = done.output as { file: string }
            const read = (who: Someone) =>
              ask(() => raw(`/api/v1/files/${file}`, { headers: { authorization: `Bearer ${who.token}` } }))
            const mine = yield* read(bot)
            assert.strictEqual(mine.status, 200)
            assert.deepStrictEqual(Buffer.from(yield* ask(() => mine.arrayBuffer())), png)
            assert.strictEqual((yield* read(other)).status, 403)
          }).pipe(Effect.provide(callsHouse({ store, env })))
        }),
      60_000,
    )
})
