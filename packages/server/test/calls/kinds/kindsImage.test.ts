/** Image tools against a server on loopback that speaks OpenAI's wire format: what is sent, kept, refused and hidden. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { FileId } from "@stoa/contract"
import { http, type Loopback } from "../../../../tools/test/egress/egressLoopback.ts"
import { imageKind } from "../../../src/calls/kinds/image.ts"
import type { Kind } from "../../../src/calls/kinds/Kind.ts"
import { ImageModels } from "../../../src/models/images/ImageModels.ts"
import { Settings } from "../../../src/Settings.ts"
import { Files, largestFile } from "../../../src/store/Files.ts"
import { called, configured } from "./kinds.ts"
import { ground, stores } from "../../stores.ts"

const key = "sk-planted-key-of-the-tests"
/** One dot. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const seed = { provider: "dall-e", model: "dall-e-3", size: "1024x1024", quality: "hd" }

type Answer = Parameters<typeof http>[0]
const json =
  (body: unknown, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }
const image = (bytes: Uint8Array) => json({ created: 1, data: [{ b64_json: Buffer.from(bytes).toString("base64") }] })

/** A house whose models are at that server. */
const house = (url: string, environment: Record<string, string> = { OPENAI_API_KEY: key }) =>
  ImageModels.layer.pipe(
    Layer.provide(Settings.layer({ OPENAI_BASE_URL: `${url}/v1`, ...environment })),
    Layer.merge(ground(stores[0]![1])),
  )

const kindOf = Effect.map(imageKind, (kind) => kind as unknown as Kind<never>)

const call = (execution: object, input: Readonly<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const { result } = yield* called(yield* kindOf, configured(execution), input)
    return result
  })

const failing = Effect.fnUntraced(function* (
  answer: Answer,
  execution: object = seed,
  environment?: Record<string, string>,
) {
  const server = yield* http(answer)
  const result = yield* call(execution, { prompt: "a stoa" }).pipe(Effect.provide(house(server.url, environment)))
  assert.isTrue(Result.isFailure(result))
  return { server, error: Result.isFailure(result) ? result.failure : undefined }
})

const sent = (server: Loopback) => server.seen.map(({ body }) => JSON.parse(body) as unknown)

describe("image tools", () => {
  it.live("S1-28 S1-06 provider, model, size and quality are sent, and the image is kept as a file", () =>
    Effect.gen(function* () {
      const server = yield* http(image(png))
      yield* Effect.gen(function* () {
        const output = yield* Effect.fromResult(yield* call(seed, { prompt: "a stoa at dawn" }))
        const [request] = server.seen
        assert.strictEqual(request?.method, "POST")
        assert.strictEqual(request?.url, "/v1/images/generations")
        assert.strictEqual(request?.headers.authorization, `Bearer ${key}`)
        assert.deepStrictEqual(sent(server), [
          {
            model: "dall-e-3",
            prompt: "a stoa at dawn",
            n: 1,
            size: "1024x1024",
            quality: "hd",
            response_format: "b64_json",
          },
        ])
        const { file, ...rest } = output as { readonly file: string }
        assert.deepStrictEqual(rest, {
          mediaType: "image/png",
          size: png.length,
          provider: "dall-e",
          model: "dall-e-3",
          prompt: "a stoa at dawn",
        })
        const kept = yield* (yield* Files).get(Schema.decodeSync(FileId)(file))
        assert.deepStrictEqual(Buffer.from(kept.bytes), png)
        assert.strictEqual(kept.file.mediaType, "image/png")
      }).pipe(Effect.provide(house(server.url)))
    }),
  )

  it.live(
    "S1-28 a prompt of its own is filled from the input; nothing named, the provider's usual model is taken",
    () =>
      Effect.gen(function* () {
        const server = yield* http(image(png))
        const tool = { provider: "openai", prompt: "A {{input.what}} in oil, {{input.words?}}no text" }
        yield* call(tool, { what: 'fox "$1" {{input.secret}}', prompt: "not this" }).pipe(
          Effect.flatMap(Effect.fromResult),
          Effect.andThen(call({ provider: "dall-e" }, { description: "a fox" })),
          Effect.flatMap(Effect.fromResult),
          Effect.provide(house(server.url)),
        )
        assert.deepStrictEqual(sent(server), [
          { model: "gpt-image-1", prompt: 'A fox "$1" {{input.secret}} in oil, no text', n: 1 },
          { model: "dall-e-3", prompt: "a fox", n: 1, response_format: "b64_json" },
        ])
      }),
  )

  it.live("S1-28 without anything to draw nothing is sent", () =>
    Effect.gen(function* () {
      const server = yield* http(image(png))
      const results = yield* Effect.all([
        call(seed, {}),
        call(seed, { prompt: "  " }),
        call({ ...seed, prompt: "{{input.x}}" }, {}),
      ]).pipe(Effect.provide(house(server.url)))
      for (const result of results)
        assert.match(Result.isFailure(result) ? result.failure.message : "", /^Nothing was sent: .*input\.(prompt|x)/)
      assert.strictEqual(server.seen.length, 0)
    }),
  )

  it.live("S1-28 a refusal of the provider is told once, without the key, and nothing is tried again", () =>
    Effect.gen(function* () {
      for (const status of [400, 401, 429, 500]) {
        const message = `Incorrect API key provided: ${key}. See your account.`
        const { error, server } = yield* failing(
          json({ error: { message, type: "x", param: null, code: null } }, status),
        )
        assert.strictEqual(error?._tag, "ToolExecutionError")
        assert.strictEqual(
          error?.message,
          `"dall-e" answered ${status}: Incorrect API key provided: [secret]. See your account.`,
        )
        assert.notInclude(JSON.stringify(error), key)
        assert.strictEqual(server.seen.length, 1, `once at ${status}`)
      }
    }),
  )

  it.live("S1-28 answers that are none fail clearly: no image, no JSON, a redirect, one too large", () =>
    Effect.gen(function* () {
      const none = yield* failing(json({ created: 1, data: [] }))
      assert.match(none.error?.message ?? "", /answered without an image/)
      assert.strictEqual(none.server.seen.length, 1)
      const words = yield* failing((_, response) => void response.writeHead(200).end("<html>"))
      assert.match(words.error?.message ?? "", /"dall-e" failed: /)
      const elsewhere = yield* http(image(png))
      const moved = yield* failing(
        (_, response) => void response.writeHead(307, { location: `${elsewhere.url}/v1/images/generations` }).end(),
      )
      assert.match(moved.error?.message ?? "", /"dall-e" failed: .*redirect/)
      assert.strictEqual(elsewhere.seen.length, 0, "the key was not carried on")
      const large = yield* failing(image(new Uint8Array(largestFile + 100_000)))
      assert.match(large.error?.message ?? "", /larger than|at most/)
    }),
  )

  it.live("S1-28 a slow provider trips the tool's time limit, and its connection is closed", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<void>()
      const { error } = yield* failing((request) => request.socket.on("close", () => closed.resolve()), {
        ...seed,
        timeout: 300,
      })
      assert.strictEqual(error?._tag, "ToolTimeoutError")
      yield* Effect.promise(() => closed.promise)
    }),
  )

  it.effect("S1-28 the house itself waits five minutes at most", () =>
    Effect.gen(function* () {
      const asked = Promise.withResolvers<void>()
      const server = yield* http(() => asked.resolve())
      const exit = yield* Effect.gen(function* () {
        const models = yield* ImageModels
        const fiber = yield* Effect.forkChild(Effect.exit(models.image({ ...seed, prompt: "x" })))
        yield* Effect.promise(() => asked.promise)
        yield* TestClock.adjust("5 minutes")
        return yield* Fiber.join(fiber)
      }).pipe(Effect.provide(house(server.url)))
      assert.isTrue(Exit.isFailure(exit))
      assert.match(JSON.stringify(exit), /gave no image within 5m/)
    }),
  )

  it.live("S1-28 an unknown provider, a secret in a prompt and a missing key are named", () =>
    Effect.gen(function* () {
      const { error, server } = yield* failing(image(png), seed, {})
      assert.match(error?.message ?? "", /OPENAI_API_KEY/)
      yield* Effect.gen(function* () {
        const kind = yield* kindOf
        const faults = (execution: object) => kind.faults?.(configured(execution) as never).map(({ path }) => path)
        assert.deepStrictEqual(faults(seed), [])
        assert.deepStrictEqual(faults({ provider: "midday" }), ["execution.provider"])
        assert.deepStrictEqual(faults({ ...seed, prompt: "${secret.KEY}" }), ["execution.prompt"])
        assert.deepStrictEqual(faults({ ...seed, prompt: "{{what}}" }), ["execution.prompt"])
        const unknown = yield* call({ provider: "midday" }, { prompt: "x" })
        assert.match(Result.isFailure(unknown) ? unknown.failure.message : "", /no image provider "midday"/)
        assert.deepStrictEqual(kind.preview(configured(seed) as never, { prompt: "a stoa" }), {
          ...seed,
          prompt: "a stoa",
        })
      }).pipe(Effect.provide(house(server.url)))
      assert.strictEqual(server.seen.length, 0)
    }),
  )
})
