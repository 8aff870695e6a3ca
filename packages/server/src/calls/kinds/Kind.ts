/** The interface of a kind of tool: a handler made from its configuration, and a description of what it would send. */
import type { Issue, ToolConfiguration, ToolKind } from "@stoa/contract"
import type { Schema } from "effect"
import type { HouseHandler } from "../road/Handler.ts"

export type Configured<K extends ToolKind> = Extract<ToolConfiguration, { readonly kind: K }>

export interface Kind<K extends ToolKind> {
  /**
   * `none`: it changes nothing outside, so running it twice does no harm; it is recorded and settled in one commit.
   * `outside`: recorded before it runs, and never run twice.
   */
  readonly effects: "none" | "outside"
  /** It only answers: calling it starts nothing and asks nobody. */
  readonly readOnly?: true
  /** May return a `PendingResult`: then the call is not settled, and goes on when what it waits for has come. */
  readonly handler: (tool: Configured<K>) => HouseHandler
  /** Faults in a configuration that only the kind can detect, by path. */
  readonly faults?: (tool: Configured<K>) => ReadonlyArray<Issue>
  /** What would be sent, without secrets; null if nothing leaves the house (G-33). */
  readonly preview: (tool: Configured<K>, input: Readonly<Record<string, unknown>>) => Schema.Json
}
