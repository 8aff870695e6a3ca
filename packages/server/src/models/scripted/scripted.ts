/**
 * A model that answers by rules, for demonstrations and tests. It has the interface of every other provider and streams
 * in chunks, so that tests with it cover the way models are called.
 */
// edge: a provider of the AI SDK is made of promises and streams.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider"
import { Result } from "effect"
import { type Rule, ruleFor, rulesOf, type Scene } from "./scriptRules.ts"

/** Data from the engine besides the prompt: what rules match, and what their templates use. */
interface Scripted extends Scene {
  readonly fill: Readonly<Record<string, string>>
}

/** Like the error of a provider: with a status, and whether a retry may succeed. */
class ScriptedFailure extends Error {
  readonly statusCode: number | undefined
  readonly isRetryable: boolean
  constructor(message: string, statusCode?: number) {
    super(message)
    this.statusCode = statusCode
    this.isRetryable = statusCode !== undefined && (statusCode === 429 || statusCode >= 500)
  }
}

const pieceLength = 16
const piecesOf = (text: string): ReadonlyArray<string> => {
  const letters = [...text]
  return Array.from({ length: Math.ceil(letters.length / pieceLength) }, (_, at) =>
    letters.slice(at * pieceLength, (at + 1) * pieceLength).join(""),
  )
}

/** Replaces `{{message}}` by the engine's value of that name; unknown names stay. */
const filled = <A>(value: A, fill: Scripted["fill"]): A => {
  if (typeof value === "string")
    return value.replace(/\{\{\s*([a-zA-Z.]+)\s*\}\}/g, (whole, name: string) =>
      Object.hasOwn(fill, name) ? fill[name]! : whole,
    ) as A
  if (Array.isArray(value)) return value.map((one: unknown) => filled(one, fill)) as A
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one as unknown, fill)])) as A
  return value
}

const usageOf = (rule: Rule | undefined): LanguageModelV4Usage => {
  const { in: read = 0, out = 0 } = rule?.usage ?? {}
  return {
    inputTokens: { total: read, noCache: read, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: out, text: out, reasoning: 0 },
  }
}

const textParts = (kind: "text" | "reasoning", text: string): ReadonlyArray<LanguageModelV4StreamPart> => [
  { type: `${kind}-start`, id: kind },
  ...piecesOf(text).map((delta) => ({ type: `${kind}-delta` as const, id: kind, delta })),
  { type: `${kind}-end`, id: kind },
]

const callParts = (
  { input = {}, tool }: { readonly tool: string; readonly input?: unknown },
  place: number,
): ReadonlyArray<LanguageModelV4StreamPart> => {
  const id = `call-${place + 1}`
  const text = typeof input === "string" ? input : JSON.stringify(input)
  return [
    { type: "tool-input-start", id, toolName: tool },
    ...piecesOf(text).map((delta) => ({ type: "tool-input-delta" as const, id, delta })),
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName: tool, input: text },
  ]
}

const partsFor = (rule: Rule | undefined, scene: Scripted): ReadonlyArray<LanguageModelV4StreamPart> => {
  const calls = filled(rule?.call ?? [], scene.fill)
  const said = [
    ...(rule?.reason === undefined ? [] : textParts("reasoning", filled(rule.reason, scene.fill))),
    ...(rule?.say === undefined ? [] : textParts("text", filled(rule.say, scene.fill))),
    ...calls.flatMap(callParts),
  ]
  if (rule?.fail === "cut") return [{ type: "stream-start", warnings: [] }, ...said]
  return [
    { type: "stream-start", warnings: [] },
    ...said,
    {
      type: "finish",
      finishReason: { unified: calls.length > 0 ? "tool-calls" : "stop", raw: undefined },
      usage: usageOf(rule),
    },
  ]
}

const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

export const scriptedModel = (file: string): LanguageModelV4 => {
  const answer = async ({ abortSignal, providerOptions }: LanguageModelV4CallOptions) => {
    const scene = providerOptions?.["stoa"] as unknown as Scripted
    const rules = rulesOf(file)
    if (Result.isFailure(rules)) throw new ScriptedFailure(rules.failure)
    const rule = ruleFor(rules.success, { ...scene, result: scene.fill["result"] })
    if (rule?.waitMs !== undefined && rule.waitMs > 0) await pause(rule.waitMs, abortSignal)
    const status = /^\d{3}$/.exec(rule?.fail ?? "")?.[0]
    if (status !== undefined) throw new ScriptedFailure(`the rules say ${status}`, Number(status))
    if (rule?.fail !== undefined && rule.fail !== "cut") throw new ScriptedFailure(rule.fail)
    return partsFor(rule, scene)
  }
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: file,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("a scripted model is streamed")),
    doStream: async (options) => {
      const parts = await answer(options)
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          start: (out) => {
            for (const part of parts) out.enqueue(part)
            out.close()
          },
        }),
      }
    },
  }
}
