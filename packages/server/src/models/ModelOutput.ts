/** What a model said in one step, as it is stored and told again: parts in the order in which they came. */
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
  /** The provider's name for it. */
  readonly id: string
  readonly tool: string
  /** Our id for it, under which its input was shown as it came. */
  readonly call?: string
  readonly input: JSONValue
  /** It could not be read as an object: why. Then it is refused and never run. */
  readonly fault?: string
  readonly provider?: ProviderData
}

export type Part = TextPart | CallPart

export interface ModelOutput {
  readonly parts: ReadonlyArray<Part>
  readonly finish: string
  readonly usage: { readonly in: number; readonly out: number; readonly cached: number }
}

/** While it is said: shown and not kept. */
export type OutputDelta =
  | { readonly kind: "text" | "reasoning"; readonly text: string }
  | { readonly kind: "input"; readonly id: string; readonly tool: string; readonly text: string }
