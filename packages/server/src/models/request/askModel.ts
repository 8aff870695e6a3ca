/**
 * One request to a language model with `doStream`, one per step. Output is shown as it arrives and returned as a whole.
 * The AI SDK's own loop is not used: it would be a second road to tools.
 */
// edge: the AI SDK is made of promises, streams and an AbortSignal.
import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider"
import type { Redactor } from "@stoa/tools"
import { Duration, Effect } from "effect"
import { ModelFailure } from "./ModelFailure.ts"
import type { Part, ProviderData, ModelOutput, OutputDelta } from "./ModelOutput.ts"

/** A request without any output for this long fails. */
const longestSilence = Duration.seconds(60)
/** More output than this in one step is an error. */
const maxText = 4 * 1024 * 1024

interface Growing {
  readonly type: "text" | "reasoning"
  text: string
  provider: ProviderData | undefined
}

const withProvider = (provider: unknown): { readonly provider?: ProviderData } =>
  provider === undefined || provider === null ? {} : { provider: provider as ProviderData }

/** The input of a call, or why it is invalid. */
const inputOf = (text: unknown): { readonly input: JSONObject; readonly fault?: string } => {
  try {
    const input: unknown = typeof text === "string" ? JSON.parse(text.trim() === "" ? "{}" : text) : text
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return { input: input as JSONObject }
    return { input: {}, fault: "is not an object" }
  } catch (cause) {
    return { input: {}, fault: `is not JSON: ${(cause as Error).message}` }
  }
}

/** Collects the parts of one answer. Pure except for `show`. */
const gather = (show: (delta: OutputDelta) => void) => {
  const order: Array<Growing | Part> = []
  const open = new Map<string, Growing>()
  const inputs = new Map<string, string>()
  let said: ModelOutput | undefined
  let size = 0
  const grow = (type: "text" | "reasoning", id: string, text: string, provider: unknown): void => {
    size += text.length
    if (size > maxText) throw new Error("it said more than 4 MiB in one step")
    const key = `${type} ${id}`
    let one = open.get(key)
    if (one === undefined) {
      one = { type, text: "", provider: undefined }
      open.set(key, one)
      order.push(one)
    }
    one.text += text
    if (provider !== undefined) one.provider = { ...one.provider, ...(provider as ProviderData) }
    if (text !== "") show({ kind: type, text })
  }
  const whole = (part: Growing | Part): ReadonlyArray<Part> => {
    if (part.type === "call") return [part]
    return part.text === "" && part.provider === undefined
      ? []
      : [{ type: part.type, text: part.text, ...withProvider(part.provider) }]
  }
  const take = (part: LanguageModelV4StreamPart): void => {
    switch (part.type) {
      case "text-start":
      case "text-end":
        return grow("text", part.id, "", part.providerMetadata)
      case "text-delta":
        return grow("text", part.id, part.delta, part.providerMetadata)
      case "reasoning-start":
      case "reasoning-end":
        return grow("reasoning", part.id, "", part.providerMetadata)
      case "reasoning-delta":
        return grow("reasoning", part.id, part.delta, part.providerMetadata)
      case "tool-input-start":
        inputs.set(part.id, part.toolName)
        return
      case "tool-input-delta":
        return show({ kind: "input", id: part.id, tool: inputs.get(part.id) ?? "", text: part.delta })
      case "tool-call": {
        // The provider runs this tool itself.
        if (part.providerExecuted === true) return
        const { fault, input } = inputOf(part.input)
        order.push({
          type: "call",
          id: part.toolCallId,
          tool: part.toolName,
          input: fault === undefined ? input : part.input.slice(0, 10_000),
          ...(fault === undefined ? {} : { fault }),
          ...withProvider(part.providerMetadata),
        })
        return
      }
      case "finish": {
        const { inputTokens, outputTokens } = part.usage
        said = {
          parts: order.flatMap(whole),
          finish: part.finishReason.unified,
          usage: { in: inputTokens.total ?? 0, out: outputTokens.total ?? 0, cached: inputTokens.cacheRead ?? 0 },
        }
        return
      }
      case "error":
        throw part.error
      default:
        return
    }
  }
  return { take, said: () => said }
}

/**
 * Removes the key from the output, even if an endpoint repeats it in several chunks: it is neither stored nor shown.
 */
const cleaner = (redactor: Redactor) => {
  const cleaned = redactor.stream()
  const part = (one: LanguageModelV4StreamPart): LanguageModelV4StreamPart => {
    if (redactor.isEmpty) return one
    if ("delta" in one && typeof one.delta === "string")
      return { ...one, delta: cleaned.json({ text: one.delta }, one.id).text }
    return one.type === "tool-call" ? { ...one, input: redactor.text(one.input) } : one
  }
  const whole = (one: Part): Part =>
    redactor.isEmpty || one.type === "call" ? one : { ...one, text: redactor.text(one.text) }
  return { part, whole }
}

/** Reasons for finishing that are failures if there was no output. */
const unanswered: Readonly<Record<string, string>> = {
  "content-filter": "its provider filtered the answer",
  length: "it reached its output limit (maxOutput) before it said anything",
}
class Unanswered extends Error {}

const headerOf = (error: unknown, name: string): string | undefined =>
  (error as { readonly responseHeaders?: Record<string, string> } | null)?.responseHeaders?.[name]

/** When to retry, as the provider said: in milliseconds, in seconds, or at a time. */
const waitOf = (error: unknown): number | undefined => {
  const exact = Number(headerOf(error, "retry-after-ms"))
  if (Number.isFinite(exact) && exact > 0) return exact
  const after = headerOf(error, "retry-after")
  if (after === undefined) return undefined
  const seconds = Number(after)
  // wall clock: the header may hold a moment.
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - Date.now()
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : undefined
}

export const failureOf = (name: string, error: unknown, redactor: Redactor): ModelFailure => {
  const { isRetryable, message, statusCode } = (error ?? {}) as {
    readonly message?: string
    readonly statusCode?: number
    readonly isRetryable?: boolean
  }
  const line = redactor
    .text(message ?? String(error))
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .slice(0, 500)
  const answered = statusCode === undefined ? "failed" : `answered ${statusCode}`
  const hint = statusCode === 401 || statusCode === 403 ? " Its key is not taken: an operator checks it." : ""
  // Without a status the connection broke, or the answer could not be read.
  const again = isRetryable ?? (statusCode === undefined || statusCode === 429 || statusCode >= 500)
  return new ModelFailure({
    message: `The model ${name} ${answered}: ${line}.${hint}`,
    again,
    afterMs: waitOf(error),
    status: statusCode,
    unanswered: error instanceof Unanswered,
  })
}

/** Interrupting it ends the request. */
export const askModel = (
  name: string,
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  redactor: Redactor,
  show: (delta: OutputDelta) => void,
): Effect.Effect<ModelOutput, ModelFailure> =>
  Effect.suspend(() => {
    const { said, take } = gather(show)
    const clean = cleaner(redactor)
    let heard = 0
    const reading = Effect.tryPromise({
      try: async (signal) => {
        const { stream } = await model.doStream({ ...options, abortSignal: signal })
        const reader = stream.getReader()
        signal.addEventListener("abort", () => void reader.cancel().catch(() => {}))
        for (;;) {
          const { done, value } = await reader.read()
          heard++
          if (done) break
          take(clean.part(value))
        }
        const whole = said()
        // A stream that breaks off is not an answer: the whole request is repeated.
        if (whole === undefined || whole.finish === "interrupted" || whole.finish === "error")
          throw new Error("its answer broke off")
        const held = whole.parts.length === 0 ? unanswered[whole.finish] : undefined
        if (held !== undefined) throw new Unanswered(held)
        return { ...whole, parts: whole.parts.map(clean.whole) }
      },
      catch: (error) => failureOf(name, error, redactor),
    })
    const silence = Effect.gen(function* () {
      for (let before = -1; before !== heard;) {
        before = heard
        yield* Effect.sleep(longestSilence)
      }
      return yield* new ModelFailure({
        message: `The model ${name} said nothing for ${Duration.format(longestSilence)}.`,
        again: true,
        afterMs: undefined,
      })
    })
    return Effect.raceFirst(reading, silence)
  })
