/**
 * What the MCP code can ask of the house. The code in front of the desk knows the protocol and no tools; the code
 * behind it knows tools and no protocol. Toolsets, configured tools and MCP servers all come through here, for one
 * caller and one endpoint at a time.
 */
import type { Caller, Forbidden, Missing, ToolAnnotations, WaitsOn } from "@stoa/contract"
import { Context, type Effect } from "effect"
import type { Arrival } from "../../../access/identity/Arrivals.ts"
import type { Fault } from "../wire/Fault.ts"
import type { Revision } from "../wire/revision.ts"

export type JsonObject = Readonly<Record<string, unknown>>

/** The endpoint of a client: everything of its principal's, one toolset, or one MCP server with its own names. */
export type Endpoint =
  | { readonly kind: "all" }
  /** `anyway`: regardless of the principal's toolsets. */
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
  /** The tools of seed 002 have tags beside their annotations (S2-34). */
  readonly tags?: ReadonlyArray<string>
}

/** What the client is asked while a call runs, by key: `elicitation/create`, `sampling/createMessage`, `roots/list`. */
export type ClientRequests = Readonly<Record<string, { readonly method: string; readonly params?: JsonObject }>>
export type ClientAnswers = Readonly<Record<string, JsonObject>>

/** The client has to answer first; then it repeats the request, with its answers and this state. */
export interface Asks {
  readonly _tag: "Asks"
  readonly requests: ClientRequests
  /** Comes back unchanged, from this caller and for this very request only; sealed while the client has it. */
  readonly state?: unknown
  /** Returns when something was answered elsewhere: then the client need not answer, and the request is repeated. */
  readonly until?: Effect.Effect<void>
  /** Runs if the client gave up the request while it was asked: its answers will never come. */
  readonly dropped?: Effect.Effect<void>
}
/** The client would have to declare these capabilities. */
export interface Lacks {
  readonly _tag: "Lacks"
  readonly capabilities: JsonObject
}
/** A result in MCP's own shape, as an MCP server returned it. */
export interface Content {
  readonly _tag: "Content"
  readonly result: JsonObject
}

export type Outcome =
  /** The tool's output as JSON text: it is stored as text, and sent without parsing it. */
  | { readonly _tag: "Done"; readonly json: string }
  | Content
  /** The tool's failure, or a refusal in words that a model can act on. */
  | { readonly _tag: "Failed"; readonly error: { readonly tag: string; readonly message: string } & JsonObject }
  /** Not settled yet. The task is for clients that support tasks. */
  | {
      readonly _tag: "Waiting"
      readonly call: string
      readonly on: WaitsOn
      readonly task?: Task
      readonly note?: string
      /** Tools that follow a call, and that the caller may not use here. */
      readonly closed?: ReadonlyArray<string>
    }
  | { readonly _tag: "Running"; readonly call: string; readonly task?: Task; readonly closed?: ReadonlyArray<string> }
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
  /** How long it is kept from its creation; null means forever. */
  readonly ttlMs: number | null
  readonly pollMs?: number
  /** If input is required: all open questions. */
  readonly requests?: ClientRequests
  /** If completed. */
  readonly outcome?: Extract<Outcome, { readonly _tag: "Done" | "Content" | "Failed" }>
  /** If failed: an error of the protocol, not of the tool. */
  readonly fault?: Fault
}

/** What a call may tell its client while it runs, and what it may know about that client. */
export interface ClientLink {
  readonly capabilities: JsonObject
  /** What the client can be told and asked. */
  readonly revision: Revision
  /** The lowest log level the client wants; undefined: no log. Lower levels are dropped here in any case. */
  readonly logLevel?: LogLevel | undefined
  readonly progress: (step: { readonly progress: number; readonly total?: number; readonly message?: string }) => void
  readonly log: (entry: { readonly level: LogLevel; readonly logger?: string; readonly data: unknown }) => void
  /** The call continues without the client's connection, if the client can come back for the result. */
  readonly letGo: (retryMs: number) => void
  /** Whether the house itself interrupts the request: then the client has not given up the call. */
  readonly ending: () => boolean
  /** The client's answers to its questions, and the state that came with them. */
  readonly answers: ClientAnswers
  readonly state: unknown
}

export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const
export type LogLevel = (typeof logLevels)[number]

export interface ToolUse {
  readonly name: string
  readonly arguments: JsonObject
  /** `_meta["stoa/space"]` and `_meta["stoa/idempotencyKey"]`. */
  readonly space: string | undefined
  readonly idempotencyKey: string | undefined
  /** The client's trace context, for the service that runs the tool. */
  readonly trace: JsonObject
  /** Whether the client accepts a task as an answer. */
  readonly mayBeTask: boolean
  /** Whether the client's revision has tasks at all. */
  readonly tasksExist: boolean
}

/** A page of a list in MCP's own shape; `items` in a stable order. */
export interface ListPage {
  readonly items: ReadonlyArray<JsonObject>
  readonly next?: string
}

/** The changes a client wants to be told about. */
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
export interface ChangeWatch {
  /** The part of the interest that is supported. */
  readonly honoured: Interest
  readonly stop: () => void
}

/** One endpoint as one caller sees it now. Loaded for every request, so that no right is used after its end. */
export interface EndpointView {
  readonly instructions?: string
  /** In a stable order. The same array as before means that nothing has changed, so its rendered text can be reused. */
  readonly tools: ReadonlyArray<ListedTool>
  /** Fails with -32602 for a tool that is unknown or hidden. */
  readonly call: (use: ToolUse, link: ClientLink) => Effect.Effect<Outcome, Fault>
  readonly resources?: {
    readonly list: (cursor: string | undefined) => Effect.Effect<ListPage, Fault>
    readonly templates: (cursor: string | undefined) => Effect.Effect<ListPage, Fault>
    /** Undefined: this caller has no such resource. */
    readonly read: (uri: string, link: ClientLink) => Effect.Effect<Content | Asks | Lacks | undefined, Fault>
    readonly subscribable: boolean
    /** False: this caller has no such resource. Whether it exists now, only its server knows. */
    readonly subscribe: (uri: string) => Effect.Effect<boolean, Fault>
  }
  readonly prompts?: {
    readonly list: (cursor: string | undefined) => Effect.Effect<ListPage, Fault>
    readonly get: (name: string, given: JsonObject, link: ClientLink) => Effect.Effect<Content | Asks | Lacks, Fault>
  }
  readonly complete?: (params: JsonObject) => Effect.Effect<JsonObject, Fault>
  /** Whether calls may send log messages. */
  readonly logs: boolean
  readonly tasks?: {
    /** Undefined: this caller has no such task. */
    readonly get: (id: string) => Effect.Effect<Task | undefined, Fault>
    readonly update: (id: string, answers: ClientAnswers) => Effect.Effect<boolean, Fault>
    readonly cancel: (id: string) => Effect.Effect<boolean, Fault>
  }
  readonly watch: (interest: Interest, tell: (change: Change) => void) => Effect.Effect<ChangeWatch>
}

export class Desk extends Context.Service<
  Desk,
  {
    /** Undefined if this caller finds nothing; for an unknown toolset, Missing names its own. A request without a token is null, if that is allowed at all. */
    readonly viewFor: (
      caller: Caller["Service"] | null,
      endpoint: Endpoint,
    ) => Effect.Effect<EndpointView | undefined, Forbidden | Missing>
    /** A client has introduced itself. */
    readonly arrived: (caller: Caller["Service"], arrival: Arrival) => Effect.Effect<void>
  }
>()("server/doors/mcp/desk/Desk") {}
