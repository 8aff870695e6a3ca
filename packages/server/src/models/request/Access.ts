/** How to reach a model, including its key. */
import type { DeclaredModel } from "@stoa/contract"
import type { Redacted } from "effect"

export interface Access {
  readonly name: string
  readonly declared: DeclaredModel
  readonly key: Redacted.Redacted | undefined
  readonly baseUrl: string | undefined
}
