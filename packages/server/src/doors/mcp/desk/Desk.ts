/**
 * What the MCP code can ask of the house. The code in front of the desk knows the protocol and no tools; the code
 * behind it knows tools and no protocol. Toolsets, configured tools and MCP servers all come through here, for one
 * caller and one endpoint at a time.
 */
import type { Caller, Forbidden, ToolAnnotations, WaitsOn } from "@stoa/contract"
import { Context, type Effect } from "effect"
import type { Arrival } from "./arrivals.ts"
import type { Fault } from "../wire/Fault.ts"
import type { Revision } from "../wire/revision.ts"

export type JsonObject = Readonly<Record<string, unknown>>

/** Where a client came in: everything of its principal's, one toolset, or one upstream server under its own names. */
export type Endpoint =
  | { readonly kind: "all" }
  /** `anyway`: whatever toolsets the principal has. */
  | { readonly kind: "toolset"; readonly name: string; readonly anyway?: true }
  | { readonly kind: "server"; readonly name: string }

export interface ListedTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: ToolAnnotations
  readonly icons?: ReadonlyArray<JsonObject>
  readonly meta?: JsonObject
  /** Seed 002's tools have them beside their annotations (S2-34). */
  readonly tags?: ReadonlyArray<string>
}

/** What is asked of the client while a call runs, by key: `elicitation/create`, `sampling/createMessage`, `roots/list`. */
export type ClientRequests = Readonly<Record<string, { readonly method: string; readonly params?: JsonObject }>>
export type ClientAnswers = Readonly<Record<string, JsonObject>>

/** The client has to answer first; then the same is asked again, with its answers and this state. */
export interface Asks {
  readonly _tag: "Asks"
  readonly requests: ClientRequests
  /** Comes back exactly as it was given, from this caller and for this very request only; sealed on its way. */
  readonly state?: unknown
  /** Returns when something of it was answered elsewhere: whoever is being asked is let go, and the same is asked again. */
  readonly until?: Effect.Effect<void>
  /** The client gave up what it had asked for, while it was asked: nobody will come back with answers. */
  readonly dropped?: Effect.Effect<void>
}
/** It cannot be done for a client that has not declared these capabilities. */
export interface Lacks {
  readonly _tag: "Lacks"
  readonly capabilities: JsonObject
}
/** A result in MCP's own shape, as an upstream gave it. */
export interface Content {
  readonly _tag: "Content"
  readonly result: JsonObject
}

export type Outcome =
  /** What the tool gave, as the text of its JSON: it is stored as text, and is not read again to be sent. */
  | { readonly _tag: "Done"; readonly json: string }
  | Content
  /** The tool's own failure or a refusal in words a model can act on. */
  | { readonly _tag: "Failed"; readonly error: { readonly tag: string; readonly message: string } & JsonObject }
  /** Not settled yet. The task is for a client that knows tasks. */
  | { readonly _tag: "Waiting"; readonly call: string; readonly on: WaitsOn; readonly task?: Task }
  | { readonly _tag: "Running"; readonly call: string; readonly task?: Task }
  | Asks
  | Lacks

/** A call that outlives the request that made it. */
export interface Task {
  readonly id: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly message?: string
  /** RFC 3339. */
  readonly createdAt: string
  readonly updatedAt: string
  /** How long it is kept, from its creation; null is for ever. */
  readonly ttlMs: number | null
  readonly pollMs?: number
  /** When input is required: everything that is still open. */
  readonly requests?: ClientRequests
  /** When completed. */
  readonly outcome?: Extract<Outcome, { readonly _tag: "Done" | "Content" | "Failed" }>
  /** When failed: a fault of the protocol, not of the tool. */
  readonly fault?: Fault
}

/** What a call may say to its client while it runs, and what it may know about that client. */
export interface ClientLink {
  readonly capabilities: JsonObject
  /** What the client can be told and asked. */
  readonly revision: Revision
  /** The least it wants to hear of the log; undefined: nothing. What is below is dropped here in any case. */
  readonly logLevel?: LogLevel | undefined
  readonly progress: (step: { readonly progress: number; readonly total?: number; readonly message?: string }) => void
  readonly log: (entry: { readonly level: LogLevel; readonly logger?: string; readonly data: unknown }) => void
  /** The call goes on without holding the client's connection, where the client can come back for the result. */
  readonly letGo: (retryMs: number) => void
  /** Whether it is the house that cuts the request off: then nobody has given up the call. */
  readonly ending: () => boolean
  /** The client's answers to what was asked, and the state that was given with the question. */
  readonly answers: ClientAnswers
  readonly state: unknown
}

export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const
export type LogLevel = (typeof logLevels)[number]

export interface Use {
  readonly name: string
  readonly arguments: JsonObject
  /** `_meta["stoa/space"]` and `_meta["stoa/idempotencyKey"]`. */
  readonly space: string | undefined
  readonly idempotencyKey: string | undefined
  /** Where it stands in the client's own trace, for whoever runs the tool. */
  readonly trace: JsonObject
  /** Whether the client takes a task for an answer. */
  readonly mayBeTask: boolean
  /** Whether the client's revision has tasks at all. */
  readonly tasksExist: boolean
}

/** A page of a list in MCP's own shape; `items` in a stable order. */
export interface ListPage {
  readonly items: ReadonlyArray<JsonObject>
  readonly next?: string
}

/** What a client wants to hear about. */
export interface Interest {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  readonly uris: ReadonlyArray<string>
  readonly tasks: ReadonlyArray<string>
}
export type Change =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string }
  | { readonly kind: "task"; readonly task: Task }
export interface Watch {
  /** What of the interest will be told. */
  readonly honoured: Interest
  readonly stop: () => void
}

/** One endpoint as one caller sees it now. Taken anew for every request, so that no right outlives its end. */
export interface EndpointView {
  readonly instructions?: string
  /** In a stable order. The same array as before means that nothing has changed: what was rendered of it is kept. */
  readonly tools: ReadonlyArray<ListedTool>
  /** Fails with -32602 for a tool that is unknown or hidden. */
  readonly call: (use: Use, link: ClientLink) => Effect.Effect<Outcome, Fault>
  readonly resources?: {
    readonly list: (cursor: string | undefined) => Effect.Effect<ListPage, Fault>
    readonly templates: (cursor: string | undefined) => Effect.Effect<ListPage, Fault>
    /** Undefined: there is no such resource for this caller. */
    readonly read: (uri: string, link: ClientLink) => Effect.Effect<Content | Asks | Lacks | undefined, Fault>
    readonly subscribable: boolean
    /** Whether there is anybody to tell of changes of it. Whether it is there now, its server knows. */
    readonly watchable: (uri: string) => Effect.Effect<boolean>
  }
  readonly prompts?: {
    readonly list: (cursor: string | undefined) => Effect.Effect<ListPage, Fault>
    readonly get: (name: string, given: JsonObject, link: ClientLink) => Effect.Effect<Content | Asks | Lacks, Fault>
  }
  readonly complete?: (params: JsonObject) => Effect.Effect<JsonObject, Fault>
  /** Whether calls have anything to log. */
  readonly logs: boolean
  readonly tasks?: {
    /** Undefined: no such task of this caller's. */
    readonly get: (id: string) => Effect.Effect<Task | undefined, Fault>
    readonly update: (id: string, answers: ClientAnswers) => Effect.Effect<boolean, Fault>
    readonly cancel: (id: string) => Effect.Effect<boolean, Fault>
  }
  readonly watch: (interest: Interest, tell: (change: Change) => void) => Effect.Effect<Watch>
}

export class Desk extends Context.Service<
  Desk,
  {
    /** Undefined where this caller finds nothing. A request without a token comes as null, where that is allowed at all. */
    readonly faceFor: (
      caller: Caller["Service"] | null,
      endpoint: Endpoint,
    ) => Effect.Effect<EndpointView | undefined, Forbidden>
    /** A client has said what it is. */
    readonly arrived: (caller: Caller["Service"], arrival: Arrival) => Effect.Effect<void>
  }
>()("server/doors/mcp/desk/Desk") {}
