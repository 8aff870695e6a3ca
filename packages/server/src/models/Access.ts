/** How a model is reached: all that is known of it, its key included. */
import type { DeclaredModel } from "@stoa/contract"
import type { Redacted } from "effect"

export interface Access {
  readonly name: string
  readonly declared: DeclaredModel
  readonly key: Redacted.Redacted | undefined
  readonly baseUrl: string | undefined
}
