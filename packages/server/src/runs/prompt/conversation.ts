/**
 * What a run was told, has said and has done, in the form providers take. Pure. Each call has exactly one result,
 * failures included, so that no provider sees a call without a result (S1-102).
 */
import type { JSONObject, JSONValue, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { quoted } from "../../models/text/ForeignText.ts"
import type { Part, ProviderData } from "../../models/request/ModelOutput.ts"

export interface Result {
  readonly place: number
  readonly outcome: "done" | "failed" | "refused"
  readonly output: unknown
  readonly error: string | null
  /** The source of the result's content (G-15). */
  readonly from: Source
}

export type Source = "the house" | "a person" | "an agent" | "people and agents" | "a tool" | "outside"

export interface PastStep {
  readonly number: number
  readonly model: string | null
  readonly parts: ReadonlyArray<Part>
  readonly results: ReadonlyArray<Result>
}

const options = (provider: ProviderData | undefined): { readonly providerOptions?: Record<string, JSONObject> } =>
  provider === undefined ? {} : { providerOptions: provider }

/** Reasoning is signed by its model, and sent to no other. */
type Assistant = Extract<LanguageModelV4Message, { readonly role: "assistant" }>["content"]
const assistantPart = (part: Part, own: boolean): Assistant => {
  switch (part.type) {
    case "text":
      return part.text === ""
        ? []
        : [{ type: "text" as const, text: part.text, ...(own ? options(part.provider) : {}) }]
    case "reasoning":
      return own ? [{ type: "reasoning" as const, text: part.text, ...options(part.provider) }] : []
    case "call":
      return [
        {
          type: "tool-call" as const,
          toolCallId: part.id,
          toolName: part.tool,
          input: part.fault === undefined ? part.input : {},
          ...(own ? options(part.provider) : {}),
        },
      ]
  }
}

const outputOf = (result: Result | undefined) => {
  if (result === undefined) return { type: "error-text" as const, value: "It was not made." }
  // Refusals come from the house.
  if (result.outcome === "refused")
    return { type: "error-text" as const, value: quoted(result.error ?? "It was refused.").trim() }
  if (result.outcome === "failed")
    return {
      type: "error-text" as const,
      value: `[from: ${result.from}] ${quoted(result.error ?? "It failed.")}`.trimEnd(),
    }
  // The label is a field of its own outside the result, so nothing inside can imitate it.
  return { type: "json" as const, value: { from: result.from, result: (result.output ?? null) as JSONValue } }
}

const stepMessages = (step: PastStep, model: string): ReadonlyArray<LanguageModelV4Message> => {
  const content = step.parts.flatMap((part) => assistantPart(part, step.model === model))
  const calls = step.parts.filter((part) => part.type === "call")
  const messages: Array<LanguageModelV4Message> = []
  if (content.length > 0) messages.push({ role: "assistant", content })
  if (calls.length > 0)
    messages.push({
      role: "tool",
      content: calls.map((part, at) => ({
        type: "tool-result",
        toolCallId: part.id,
        toolName: part.tool,
        output: outputOf(step.results.find(({ place }) => place === at + 1)),
      })),
    })
  return messages
}

/** What a run was told, and with which step it was: 0 before the first, n after the n-th. */
export interface PromptEntry {
  readonly kind: "system" | "user"
  readonly body: string
  readonly step: number
}

const promptMessage = ({ body, kind }: PromptEntry): LanguageModelV4Message =>
  kind === "system" ? { role: "system", content: body } : { role: "user", content: [{ type: "text", text: body }] }

export const conversation = (
  prompt: ReadonlyArray<PromptEntry>,
  steps: ReadonlyArray<PastStep>,
  model: string,
): LanguageModelV4Prompt => [
  ...prompt.filter(({ step }) => step === 0).map(promptMessage),
  ...steps.flatMap((step) => [
    ...stepMessages(step, model),
    ...prompt.filter((one) => one.step === step.number).map(promptMessage),
  ]),
]
