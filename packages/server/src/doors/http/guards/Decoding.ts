/** Input that cannot be decoded becomes a BadInput that names the path. Output that cannot be encoded is our fault. */
import { BadInput, issuesOf, Decoding } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"

const slots: Record<string, string> = { Payload: "body", Params: "path", Query: "query", Headers: "headers" }

/**
 * A body with three faults should get three messages. Finding all faults costs time per value, so a larger body is told
 * only its first.
 */
const largestRead = 64 * 1024

type Decode = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>
const decoders = new WeakMap<Schema.Top, Decode>()
const decoderOf = (schema: Schema.Top): Decode => {
  const known = decoders.get(schema)
  if (known !== undefined) return known
  const made: Decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>), {
    errors: "all",
    onExcessProperty: "error",
  })
  decoders.set(schema, made)
  return made
}

/** All faults of a small body; the first fault of a large one. */
const wholeOf = Effect.fnUntraced(function* (first: Schema.SchemaError, endpoint: HttpApiEndpoint.Top) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [only, ...others] = [...endpoint.payload.values()].flatMap(
    ({ schemas }) => schemas as ReadonlyArray<Schema.Top>,
  )
  const text = yield* Effect.orDie(request.text)
  if (only === undefined || others.length > 0 || text.length > largestRead) return first
  return yield* Effect.match(Effect.flatMap(request.json, decoderOf(only)), {
    onSuccess: () => first,
    // A body that is not JSON at all was reported before.
    onFailure: (all) => (Schema.isSchemaError(all) ? all : first),
  })
})

export const layerDecoding = HttpApiMiddleware.layerSchemaErrorTransform(Decoding, (error, { endpoint }) => {
  const slot = slots[error.kind]
  if (slot === undefined) return Effect.die(error.cause)
  const cause = slot === "body" ? wholeOf(error.cause, endpoint) : Effect.succeed(error.cause)
  return Effect.flatMap(cause, (found) =>
    Effect.fail(
      new BadInput({
        issues: issuesOf(found).map(({ message, path }) => ({
          // Paths in a body need no prefix; a fault in the query or path names its part.
          path: slot === "body" ? path || "body" : [slot, path].filter((part) => part !== "").join("."),
          message,
        })),
      }),
    ),
  )
})
