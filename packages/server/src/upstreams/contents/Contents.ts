/**
 * What is offered to MCP clients beside tools: resources, prompts and completions, in MCP's own shape. Servers have them,
 * and toolsets may. Whoever offers them judges who may read what; reading may first ask the client, by returning `Asked`.
 */
import { Caller } from "@stoa/contract"
import { MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import type { Pauses, Stopped } from "../../access/limits/Pauses.ts"
import type { Answers, InputRequired, CallingClient } from "../InputRequired.ts"

export type JsonObject = Readonly<Record<string, unknown>>

/** Whoever reads: the client, and how far its questions and answers have come. */
export interface ContentsReader {
  readonly client: CallingClient
  readonly progress: (step: { readonly progress: number; readonly total?: number; readonly message?: string }) => void
  /** The client's answers to what it was asked, and the state that was given with the question. */
  readonly answers: Answers
  readonly state: unknown
}

type List = Effect.Effect<ReadonlyArray<JsonObject>, MCPRefused, Caller>
/** Undefined: there is no such thing here for this caller. */
type Found<A> = Effect.Effect<A | undefined, MCPRefused, Caller>

export interface Contents {
  /** Said to clients that come here and to nothing else. */
  readonly instructions?: string
  /** Whether its tools have anything to log. */
  readonly logs?: boolean
  readonly resources?: {
    readonly list: List
    readonly templates?: List
    /** Whether there is anybody to tell of changes of it; without this, whoever watches finds out. */
    readonly watchable?: (uri: string) => boolean
    readonly read: (uri: string, reader: ContentsReader) => Found<JsonObject | InputRequired>
    /** Tells of changes of these, until it is stopped; `honoured` are those of them that it will tell of. */
    readonly watch: (
      uris: ReadonlyArray<string>,
      tell: (uri: string) => void,
    ) => Effect.Effect<{ readonly honoured: ReadonlyArray<string>; readonly stop: () => void }, never, Caller>
  }
  readonly prompts?: {
    readonly list: List
    readonly get: (name: string, given: JsonObject, reader: ContentsReader) => Found<JsonObject | InputRequired>
  }
  /** The params and the result of `completion/complete`. */
  readonly complete?: (params: JsonObject) => Found<JsonObject>
  /** What of it this caller has nothing of: asked for by name it is refused, and that is written down. */
  readonly empty?: ReadonlyArray<"resources" | "prompts" | "complete">
  /** Told when one of the lists has changed, until it is stopped. */
  readonly onChange?: (caller: Caller["Service"], hear: (what: "prompts" | "resources") => void) => () => void
}

const internal = -32_603

/** Stopped by the kill switch, in MCP's words. */
export const refusedBy = ({ message, subject }: Stopped): MCPRefused =>
  new MCPRefused(internal, message, { tag: "ToolAuthorizationError", rule: `paused:${subject}` })

/** Contents behind the kill switch: nothing of it is read for a caller who is paused. */
export const unlessPaused = ({ unless }: Pauses["Service"], contents: Contents): Contents => {
  const guarded = <A>(method: string, it: Found<A>): Found<A> =>
    Effect.flatMap(Caller, ({ principal }) =>
      Effect.catchTag(unless(method, { principal, server: undefined }, it), "Stopped", (stopped) =>
        Effect.fail(refusedBy(stopped)),
      ),
    )
  const list = (method: string, it: List): List => Effect.map(guarded(method, it), (items) => items ?? [])
  const { complete, prompts, resources } = contents
  return {
    ...contents,
    ...(resources && {
      resources: {
        ...resources,
        list: list("resources/list", resources.list),
        ...(resources.templates && { templates: list("resources/templates/list", resources.templates) }),
        read: (uri, reader) => guarded("resources/read", resources.read(uri, reader)),
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
