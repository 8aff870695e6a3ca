/**
 * The models for images, by their vendors' names. Keys and addresses come from the settings; a tool names only a
 * provider, never an address.
 */
import { Redactor } from "@stoa/tools"
import { Context, Data, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Settings } from "../../Settings.ts"
import { type Image, imageModelOf, imageProviders, type ImageRequest } from "./Image.ts"
import { faultOf, openaiImage } from "./openai.ts"

/** For the caller: what the provider answered, without the house's secrets. */
export class ModelFault extends Data.TaggedError("ModelFault")<{ readonly message: string }> {}

/** No tool may take longer; a caller's own limit interrupts it sooner. */
const longest = Duration.minutes(5)

export class ImageModels extends Context.Service<
  ImageModels,
  {
    /** One image, with one request and no retries. Interrupting it ends the request. */
    readonly image: (request: ImageRequest) => Effect.Effect<Image, ModelFault>
  }
>()("server/models/ImageModels") {
  static readonly layer = Layer.effect(
    ImageModels,
    Effect.gen(function* () {
      const { openaiKey, openaiUrl } = yield* Settings
      const baseUrl = Option.getOrElse(openaiUrl, () => "https://api.openai.com/v1")

      const image: ImageModels["Service"]["image"] = Effect.fn("ImageModels.image")(function* (request) {
        const { provider } = request
        const model = imageModelOf(request)
        if (model === undefined)
          return yield* new ModelFault({
            message: `There is no image provider "${provider}"; there are ${imageProviders.join(", ")}`,
          })
        if (Option.isNone(openaiKey))
          return yield* new ModelFault({ message: `"${provider}" has no key. An operator sets OPENAI_API_KEY` })
        const access = { key: Redacted.value(openaiKey.value), baseUrl }
        const redactor = new Redactor([access.key])
        return yield* Effect.tryPromise({
          try: (signal) => openaiImage(access, { ...request, model }, signal),
          catch: (error) => new ModelFault({ message: `"${provider}" ${faultOf(error, redactor)}` }),
        }).pipe(
          Effect.map((made) => ({
            ...made,
            bytes: redactor.bytes(made.bytes),
            mediaType: redactor.text(made.mediaType),
          })),
          Effect.timeoutOrElse({
            duration: longest,
            orElse: () => new ModelFault({ message: `"${provider}" gave no image within ${Duration.format(longest)}` }),
          }),
        )
      })

      return ImageModels.of({ image })
    }),
  )
}
