/** A request for an image, the image, and the providers. */

export interface ImageRequest {
  /** `openai`, or `dall-e` as in seed 001. */
  readonly provider: string
  readonly model?: string | undefined
  readonly size?: string | undefined
  readonly quality?: string | undefined
  readonly prompt: string
}

export interface Image {
  readonly bytes: Uint8Array
  readonly mediaType: string
  /** The model that was used. */
  readonly model: string
}

/** Each provider's default model. */
const usual: Readonly<Record<string, string>> = { openai: "gpt-image-1", "dall-e": "dall-e-3" }

/** All providers, for error messages. */
export const imageProviders: ReadonlyArray<string> = Object.keys(usual)

/** Undefined if the provider is unknown. */
export const imageModelOf = ({ model, provider }: Pick<ImageRequest, "provider" | "model">): string | undefined =>
  Object.hasOwn(usual, provider) ? (model ?? usual[provider]) : undefined
