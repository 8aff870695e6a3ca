/** One request as the methods see it: who asks, what they may see, what their client supports, and how to reach it. */
import type { Caller } from "@stoa/contract"
import type { Effect } from "effect"
import type { EndpointView, JsonObject, LogLevel } from "../desk/Desk.ts"
import type { EndpointAddress } from "../wire/message.ts"
import type { Stamp } from "../wire/results.ts"
import type { Revision } from "../wire/revision.ts"
import type { StateSeal } from "./new/sealedState.ts"
import type { Session } from "./old/sessions.ts"

/** What all requests share. */
export interface SharedContext {
  readonly stamp: Stamp
  readonly seal: StateSeal
  /** Takes a state that a client has brought back: true once. */
  readonly takeState: (id: string, until: number) => Effect.Effect<boolean>
  /** The wall clock, for state that a client carries and brings back. */
  readonly now: () => number
  /** Monotonic milliseconds, for durations. */
  readonly uptime: () => number
  /** The house is closing: a client that is cut off now has not given up its request. */
  readonly ending: () => boolean
}

export interface MCPRequestContext {
  readonly front: SharedContext
  readonly caller: Caller["Service"] | null
  readonly place: EndpointAddress
  readonly view: EndpointView
  readonly revision: Revision
  readonly capabilities: JsonObject
  /** Undefined: the client wants no log. */
  readonly logLevel: LogLevel | undefined
  readonly session: Session | undefined
  /** Sends a message before the answer. False if that is impossible. */
  readonly tell: (text: string) => boolean
  readonly letGo: (retryMs: number) => void
  /** Returns when the caller's token has ended: then its client can answer nothing more. */
  readonly ended: Effect.Effect<void>
}

/** Without a token the owner is the empty string, which is no principal's id. */
export const ownerOf = (context: Pick<MCPRequestContext, "caller">): string => context.caller?.principal.id ?? ""
