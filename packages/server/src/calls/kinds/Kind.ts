/** What a kind of tool is to the road: a handler made from its configuration, and what may be said about running it. */
import type { Issue, ToolConfiguration, ToolKind } from "@stoa/contract"
import type { ToolHandler } from "@stoa/tools"
import { Context, Effect, type Schema } from "effect"

export type Configured<K extends ToolKind> = Extract<ToolConfiguration, { readonly kind: K }>

export interface Kind<K extends ToolKind> {
  /**
   * `none`: nothing outside changes, so that running it twice harms nobody; it is recorded and settled in one commit.
   * `outside`: recorded before it runs, and never run twice.
   */
  readonly effects: "none" | "outside"
  /** May return `Waits`: then the call is not settled, and goes on when what it waits for has come. */
  readonly handler: (tool: Configured<K>) => ToolHandler
  /** What only the kind sees wrong in a configuration, by path. */
  readonly faults?: (tool: Configured<K>) => ReadonlyArray<Issue>
  /** What would be sent, secrets left out; null where nothing leaves the house (G-33). */
  readonly preview: (tool: Configured<K>, input: Readonly<Record<string, unknown>>) => Schema.Json
}

/** Returned by a handler whose result comes later and from elsewhere. Nothing is held meanwhile. */
export class Waits {
  readonly kind: "client" | "callback"
  /** Unanswered for so long, the call expires. */
  readonly milliseconds: number
  /** The host that a callback comes from; none, where whoever has the key may send it. */
  readonly host: string | undefined
  constructor(kind: "client" | "callback", milliseconds: number, host?: string) {
    this.kind = kind
    this.milliseconds = milliseconds
    this.host = host
  }
}

/** Told the id of a call as it begins to run outside: whoever waits for it may have to stop it. */
export const Begun = Context.Reference<(call: string) => void>("server/calls/Begun", { defaultValue: () => () => {} })

/** What a call has come across: secrets to take out, and what came beside its output. Provided around each execution. */
export interface Seen {
  readonly revealed: Set<string>
  readonly meta: Map<string, Schema.Json>
}
export const unseen = (): Seen => ({ revealed: new Set(), meta: new Map() })
export const Seen = Context.Reference<Seen>("server/calls/Seen", { defaultValue: unseen })

/**
 * The secret values this call has seen. A kind adds what it reveals; what is stored, shown or logged of the call has them
 * taken out.
 */
export const Revealed = Effect.map(Seen, ({ revealed }) => revealed)

/**
 * What came with the output and is not part of it, such as an http answer's status and headers. A kind writes it;
 * it is kept beside the output.
 */
export const Meta = Effect.map(Seen, ({ meta }) => meta)

/** Under this name a failed call keeps what its server said, as it said it: a result that is an error, or a refusal. */
export const serverSaid = "mcp"
