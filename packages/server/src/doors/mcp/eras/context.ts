/** One request as the methods see it: who asks, what they may see, what their client can take, and how to reach it. */
import type { Caller } from "@stoa/contract"
import type { EndpointView, JsonObject, LogLevel } from "../desk/Desk.ts"
import type { EndpointAddress } from "../wire/message.ts"
import type { Stamp } from "../wire/results.ts"
import type { Revision } from "../wire/revision.ts"
import type { StateSeal } from "./sealedState.ts"
import type { Session } from "./sessions.ts"

/** What the front has once for all requests. */
export interface Front {
  readonly stamp: Stamp
  readonly seal: StateSeal
  /** The wall clock, for what a client carries and brings back. */
  readonly now: () => number
  /** Milliseconds that only go forward, for how long something has lasted. */
  readonly uptime: () => number
  /** The house ends: whoever is cut off now has not given up what they asked for. */
  readonly ending: () => boolean
}

export interface MCPRequestContext {
  readonly front: Front
  readonly caller: Caller["Service"] | null
  readonly place: EndpointAddress
  readonly face: EndpointView
  readonly revision: Revision
  readonly capabilities: JsonObject
  /** Undefined: the client wants no log. */
  readonly logLevel: LogLevel | undefined
  readonly session: Session | undefined
  /** Sends a message ahead of the answer. False where that cannot be. */
  readonly tell: (text: string) => boolean
  readonly letGo: (retryMs: number) => void
}

/** Whoever has no token is nobody; no principal is called so. */
export const ownerOf = (context: Pick<MCPRequestContext, "caller">): string => context.caller?.principal.id ?? ""
