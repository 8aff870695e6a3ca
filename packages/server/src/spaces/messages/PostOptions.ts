import {
  type MailKind,
  type MessageCall,
  type PrincipalId,
  type Provenance,
  type RunId,
  type Space,
} from "@stoa/contract"
import { Effect, type Schema } from "effect"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { currentCause } from "../../store/journal/Correlation.ts"

/** What a post may carry besides its text: rooms above fill it in. */
export interface PostOptions {
  readonly call?: MessageCall
  readonly provenance?: Provenance
  readonly origin?: Schema.Json
  /** The run that posts it. */
  readonly run?: RunId
  /** Mail in a team: addressed to these, whoever else is in the space. */
  readonly mail?: { readonly kind: MailKind; readonly to: ReadonlyArray<PrincipalId> }
}

/** The run in which a principal speaks, at any door: it determines the depth of what the message wakes. */
export const runOf = (author: PrincipalId): Effect.Effect<Pick<PostOptions, "run">> =>
  Effect.map(currentCause, ({ actor, run }) => (run === undefined || actor !== author ? {} : { run }))

/** Which messages of a space are read. */
export interface MessageQuery {
  readonly limit?: number
  readonly before?: number
  readonly after?: number
  /** Only the thread that an answer to this message would be part of. */
  readonly thread?: string
}

/** A search in all messages that a principal may see, or in one space. */
export interface MessageSearch {
  readonly words: string
  readonly viewer: Viewer
  readonly space?: Space
  readonly limit?: number
  readonly cursor?: string
}
