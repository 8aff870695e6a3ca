import type { MessageCall, Provenance, RunId } from "@stoa/contract"
import type { Schema } from "effect"

/** What a post may carry besides its words: rooms above fill it in. */
export interface PostOptions {
  readonly call?: MessageCall
  readonly provenance?: Provenance
  readonly origin?: Schema.Json
  /** The run that says it. */
  readonly run?: RunId
}
