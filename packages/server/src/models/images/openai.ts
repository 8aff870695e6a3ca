/** Images from OpenAI, or a compatible server, through the AI SDK. One request, never a second. */
// edge: the AI SDK is made of promises and fetch
import type { OpenAIImageModelGenerationOptions } from "@ai-sdk/openai"
import type { Redactor } from "@stoa/tools"
import { largestFile } from "../../store/Files.ts"
import type { Image, ImageRequest } from "./Image.ts"

export interface OpenAIAccess {
  readonly key: string
  readonly baseUrl: string
}

/** The largest image that can be stored, as base64 in JSON. */
const maxBytes = Math.ceil((largestFile * 4) / 3) + 64 * 1024

const bounded = () => {
  let size = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => {
      size += chunk.length
      if (size > maxBytes) out.error(new Error(`its answer is larger than ${maxBytes} bytes`))
      else out.enqueue(chunk)
    },
  })
}

/** The key goes only to the address that the operator set, so redirects are refused. */
const boundedFetch: typeof fetch = async (url, init) => {
  const response = await fetch(url, { ...init, redirect: "error" })
  return response.body === null ? response : new Response(response.body.pipeThrough(bounded()), response)
}

const sizeOf = (size: string | undefined) => (size === undefined ? {} : { size: size as `${number}x${number}` })

export const openaiImage = async (
  { baseUrl, key }: OpenAIAccess,
  { model, prompt, quality, size }: ImageRequest & { readonly model: string },
  abortSignal: AbortSignal,
): Promise<Image> => {
  // Loaded for the first image: most houses make none.
  const [{ generateImage }, { createOpenAI }] = await Promise.all([import("ai"), import("@ai-sdk/openai")])
  const provider = createOpenAI({ apiKey: key, baseURL: baseUrl, fetch: boundedFetch })
  // The SDK knows the valid qualities, and refuses others before anything is sent.
  const options = quality === undefined ? {} : { quality: quality as OpenAIImageModelGenerationOptions["quality"] }
  const { image } = await generateImage({
    model: provider.image(model),
    prompt,
    ...sizeOf(size),
    providerOptions: { openai: options },
    // Images cost money: none is made again because an answer was lost.
    maxRetries: 0,
    abortSignal,
  })
  return { bytes: image.uint8Array, mediaType: image.mediaType, model }
}

/** The messages of an error and its causes, the innermost last. */
const chain = (error: unknown, most = 4): ReadonlyArray<string> =>
  error instanceof Error && most > 0 ? [error.message.replace(/[.\s]+$/, ""), ...chain(error.cause, most - 1)] : []

/**
 * What went wrong in one sentence, without the key. Details that the SDK adds to its errors contain the whole request.
 */
export const faultOf = (error: unknown, redactor: Redactor): string => {
  const { name, statusCode = 0 } = (error ?? {}) as { readonly name?: string; readonly statusCode?: number }
  const answered = statusCode !== 0 && (statusCode < 200 || statusCode > 299)
  const [first = "the reason is not known", ...inner] = [...new Set(chain(error))]
  const said = redactor.text((answered ? [first] : [first, ...inner]).join(": "))
  const line = said.replaceAll(/[\s\p{C}]+/gu, " ").slice(0, 500)
  if (answered) return `answered ${statusCode}: ${line}`
  return name === "AI_NoImageGeneratedError" ? "answered without an image" : `failed: ${line}`
}
