/** An image as it is asked for and as it comes, and who makes them. */

export interface ImageRequest {
  /** `openai`, or `dall-e` as seed 001 has it. */
  readonly provider: string
  readonly model?: string | undefined
  readonly size?: string | undefined
  readonly quality?: string | undefined
  readonly prompt: string
}

export interface Image {
  readonly bytes: Uint8Array
  readonly mediaType: string
  /** The one that was used. */
  readonly model: string
}

/** With the model that is taken when a tool names none. */
const usual: Readonly<Record<string, string>> = { openai: "gpt-image-1", "dall-e": "dall-e-3" }

/** What there is, for a configuration that names something else. */
export const imageProviders: ReadonlyArray<string> = Object.keys(usual)

/** Undefined when nobody has that provider. */
export const imageModelOf = ({ model, provider }: Pick<ImageRequest, "provider" | "model">): string | undefined =>
  Object.hasOwn(usual, provider) ? (model ?? usual[provider]) : undefined
