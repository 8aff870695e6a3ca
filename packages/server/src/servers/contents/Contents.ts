/**
 * What is offered to MCP clients besides tools: resources, prompts and completions, in MCP's own shape. Servers have
 * them, and toolsets may. The source of the contents decides who may read what; reading may first ask the client, by
 * returning `Asked`.
 */
import { Caller } from "@stoa/contract"
import { MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import { pauseRule, type Pauses, type Stopped } from "../../access/limits/Pauses.ts"
import type { Answers, InputRequired, CallingClient } from "../InputRequired.ts"

export type JsonObject = Readonly<Record<string, unknown>>

/** The reader: the client, and the state of its questions and answers. */
export interface ContentsReader {
  readonly client: CallingClient
  readonly progress: (step: { readonly progress: number; readonly total?: number; readonly message?: string }) => void
  /** The client's answers, and the state that was given with the question. */
  readonly answers: Answers
  readonly state: unknown
}

type List = Effect.Effect<ReadonlyArray<JsonObject>, MCPRefused, Caller>
/** Undefined: this caller has no such thing here. */
type Found<A> = Effect.Effect<A | undefined, MCPRefused, Caller>

export interface Contents {
  /** Sent only to clients of this endpoint. */
  readonly instructions?: string
  /** Whether its tools may send log messages. */
  readonly logs?: boolean
  readonly resources?: {
    readonly list: List
    readonly templates?: List
    /** Whether an address is one of its own; without this, any may be. */
    readonly isOwn?: (uri: string) => boolean
    readonly read: (uri: string, reader: ContentsReader) => Found<JsonObject | InputRequired>
    /** Whether changes of it may be reported to this caller: judged and recorded as `read` is. */
    readonly subscribe: (uri: string) => Found<JsonObject>
    /**
     * Reports changes of these until it is stopped, each only if this caller may read it at that moment; `honoured` are
     * those that it will report.
     */
    readonly watch: (
      uris: ReadonlyArray<string>,
      tell: (uri: string) => Effect.Effect<void>,
    ) => Effect.Effect<{ readonly honoured: ReadonlyArray<string>; readonly stop: () => void }, never, Caller>
  }
  readonly prompts?: {
    readonly list: List
    readonly get: (name: string, given: JsonObject, reader: ContentsReader) => Found<JsonObject | InputRequired>
  }
  /** The params and the result of `completion/complete`. */
  readonly complete?: (params: JsonObject) => Found<JsonObject>
  /** The parts in which this caller has nothing: a request by name is refused, and recorded. */
  readonly empty?: ReadonlyArray<"resources" | "prompts" | "complete">
  /** Called when one of the lists has changed, until it is stopped. */
  readonly onChange?: (caller: Caller["Service"], hear: (what: "prompts" | "resources") => void) => () => void
}

const internal = -32_603

/** Stopped by the kill switch, as an MCP error. */
export const pauseRefusal = ({ message, subject }: Stopped): MCPRefused =>
  new MCPRefused(internal, message, { tag: "ToolAuthorizationError", rule: pauseRule(subject) })

/**
 * Contents behind the kill switch: a paused caller can read nothing, and while the tool is paused that gives the same as
 * a resource, nobody can read the resource.
 */
export const unlessPaused = ({ unless }: Pauses["Service"], contents: Contents, same: string | undefined): Contents => {
  const guarded = <A>(method: string, it: Found<A>, tool?: string): Found<A> =>
    Effect.flatMap(Caller, ({ principal }) =>
      Effect.catchTag(
        unless(method, { principal, server: undefined, ...(tool === undefined ? {} : { tool }) }, it),
        "Stopped",
        (stopped) => Effect.fail(pauseRefusal(stopped)),
      ),
    )
  const list = (method: string, it: List): List => Effect.map(guarded(method, it), (items) => items ?? [])
  const { complete, prompts, resources } = contents
  // At an endpoint of several, all are asked for an address: the tool's pause stops no resource of another.
  const toolOf = (uri: string) => (resources?.isOwn?.(uri) === false ? undefined : same)
  return {
    ...contents,
    ...(resources && {
      resources: {
        ...resources,
        list: list("resources/list", resources.list),
        ...(resources.templates && { templates: list("resources/templates/list", resources.templates) }),
        read: (uri, reader) => guarded("resources/read", resources.read(uri, reader), toolOf(uri)),
        subscribe: (uri) => guarded("resources/subscribe", resources.subscribe(uri), toolOf(uri)),
        watch: (uris, tell) =>
          Effect.flatMap(Caller, (caller) =>
            resources.watch(uris, (uri) =>
              guarded("notifications/resources/updated", tell(uri), toolOf(uri)).pipe(
                Effect.provideService(Caller, caller),
                Effect.ignore,
              ),
            ),
          ),
      },
    }),
    ...(prompts && {
      prompts: {
        list: list("prompts/list", prompts.list),
        get: (name, given, reader) => guarded("prompts/get", prompts.get(name, given, reader)),
      },
    }),
    ...(complete && { complete: (params) => guarded("completion/complete", complete(params)) }),
  }
}
