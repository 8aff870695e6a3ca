/** The output of a model in one step, as it is stored and sent back: parts in their order. */
import type { JSONObject, JSONValue } from "@ai-sdk/provider"

/** What a provider wants back with a part, such as the signature of its reasoning. */
export type ProviderData = Readonly<Record<string, JSONObject>>

interface TextPart {
  readonly type: "text" | "reasoning"
  readonly text: string
  readonly provider?: ProviderData
}

export interface CallPart {
  readonly type: "call"
  /** The provider's id. */
  readonly id: string
  readonly tool: string
  /** Our id, under which its input was shown as it arrived. */
  readonly call?: string
  readonly input: JSONValue
  /** Why the input could not be read as an object. Such a call is refused and never run. */
  readonly fault?: string
  readonly provider?: ProviderData
}

export type Part = TextPart | CallPart

export interface ModelOutput {
  readonly parts: ReadonlyArray<Part>
  readonly finish: string
  readonly usage: { readonly in: number; readonly out: number; readonly cached: number }
}

/** A part of the output as it arrives: shown, not stored. */
export type OutputDelta =
  | { readonly kind: "text" | "reasoning"; readonly text: string }
  | { readonly kind: "input"; readonly id: string; readonly tool: string; readonly text: string }
