/**
 * The resources, prompts and completions of MCP servers, for callers that may use a server as a whole: judged, stopped
 * by pauses, and recorded, like calls of its tools. A request goes to the server as the house's own, with nothing from
 * the caller except what it asks for. Names are the server's own; doors translate them where several servers share an
 * endpoint.
 */
import type { Caller, CallError, EventBody, PrincipalId } from "@stoa/contract"
import { type MCPConnectionError, MCPRefused, repairMCPCompletion } from "@stoa/tools"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { AllowLists, listsServer } from "../../access/rights/AllowLists.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { isServerPaused, pauseRule, Pauses, Stopped } from "../../access/limits/Pauses.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { monotonicOf } from "../../store/Moment.ts"
import { InputRequired } from "../InputRequired.ts"
import { Servers, type ConnectedServer } from "../Servers.ts"
import { type ContentsReader, type JsonObject, pauseRefusal } from "./Contents.ts"
import { converse, isMissing } from "./converse.ts"
import type { Lists } from "./lists.ts"

/** How long a list waits for servers that may have changed; later changes are reported as such. */
const maxWait = "2 seconds"
/** How much of a name or an address the journal stores. */
const longestName = 500

/** A server that this caller may use. */
export interface UsableServer {
  readonly name: string
  /** Nothing of it is listed, and requests for its things are told why. */
  readonly paused: boolean
  /** All of it; otherwise only single tools. */
  readonly whole: boolean
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

interface Named {
  readonly name: string
  readonly owner: PrincipalId | null
}

type What = Pick<EventBody<"resource.read">, "server" | "owner" | "principal">
/** The request, as its event names it. */
type RequestEvent =
  | { readonly kind: "resource.read"; readonly name: { readonly uri: string } }
  | { readonly kind: "resource.subscribed"; readonly name: { readonly uri: string } }
  | { readonly kind: "prompt.got"; readonly name: { readonly prompt: string } }
  | { readonly kind: "completion.got"; readonly name: { readonly argument: string } }

/** For a paused server: it has nothing to list, so anything may be listed. */
const everything: JsonObject = { resources: {}, prompts: {}, completions: {} }

const methods = {
  "resource.read": "resources/read",
  "resource.subscribed": "resources/subscribe",
  "prompt.got": "prompts/get",
  "completion.got": "completion/complete",
} as const
const listMethods = {
  resources: "resources/list",
  templates: "resources/templates/list",
  prompts: "prompts/list",
} as const satisfies { readonly [K in keyof Lists]: string }

type Reply = Effect.Effect<JsonObject | InputRequired | undefined, MCPRefused>

export class ServerContents extends Context.Service<
  ServerContents,
  {
    /** The servers this caller may use now, as a whole or in single tools; `server`: only that one. */
    readonly servers: (caller: Caller["Service"], server?: string) => Effect.Effect<ReadonlyArray<UsableServer>>
    /** The lists of all of them, or of one. */
    readonly list: (
      caller: Caller["Service"],
      what: keyof Lists,
      server?: string,
    ) => Effect.Effect<ReadonlyArray<{ readonly server: string; readonly item: JsonObject }>, MCPRefused>
    /** Undefined: this caller has no such server or resource. */
    readonly read: (caller: Caller["Service"], server: string, uri: string, reader: ContentsReader) => Reply
    /** Whether changes of a resource may be reported to this caller; undefined as for `read`. */
    readonly subscribe: (
      caller: Caller["Service"],
      server: string,
      uri: string,
    ) => Effect.Effect<JsonObject | undefined, MCPRefused>
    readonly prompt: (
      caller: Caller["Service"],
      server: string,
      name: string,
      given: JsonObject,
      reader: ContentsReader,
    ) => Reply
    readonly complete: (
      caller: Caller["Service"],
      server: string,
      params: JsonObject,
    ) => Effect.Effect<JsonObject | undefined, MCPRefused>
    /**
     * Reports changes of these resources until it is stopped, each only if the caller may use the server at that moment;
     * undefined if nobody would report any.
     */
    readonly watch: (
      caller: Caller["Service"],
      server: string,
      uris: ReadonlyArray<string>,
      tell: (uri: string) => Effect.Effect<void>,
    ) => Effect.Effect<(() => void) | undefined>
    /** Called when a list that this caller may use has changed, until it is stopped. */
    readonly onChange: (
      caller: Caller["Service"],
      server: string | undefined,
      hear: (what: "prompts" | "resources") => void,
    ) => () => void
  }
>()("server/servers/contents/ServerContents") {
  static readonly layer = Layer.effect(
    ServerContents,
    Effect.gen(function* () {
      const servers = yield* Servers
      const tokens = yield* Tokens
      const allowLists = yield* AllowLists
      const grants = yield* Grants
      const pauses = yield* Pauses
      const journal = yield* Journal
      const clock = yield* Clock.Clock
      const run = Effect.runForkWith(yield* Effect.context<never>())

      /** A right to single tools of a server gives no right to its contents. */
      const judge = Effect.fnUntraced(function* (caller: Caller["Service"], { name, owner }: Named) {
        const denied = (rule: string) => ({ some: false, whole: false, rule })
        if (owner !== null && owner !== caller.principal.id) return denied("owner")
        const tools = new Set((yield* allowLists.get("upstream", caller.context)).tools)
        const list = `allow-list:upstream/${caller.context}`
        const whole = listsServer(tools, name)
        if (!whole && ![...tools].some((tool) => tool.startsWith(`${name}/`))) return denied(list)
        const { rule, verdict } = yield* grants.judge(caller, "execute", `tools/${name}/`)
        if (verdict !== "allow") return denied(rule)
        return { some: true, whole, rule: whole ? rule : list }
      })

      const usableBy: ServerContents["Service"]["servers"] = Effect.fnUntraced(function* (caller, server) {
        const paused = yield* pauses.at(caller.epoch)
        const there = new Map(servers.connected().map((one) => [one.name, one]))
        const usable: Array<UsableServer> = []
        for (const { name, owner } of (yield* servers.list).items) {
          if (server !== undefined && name.toLowerCase() !== server.toLowerCase()) continue
          const { some, whole } = yield* judge(caller, { name, owner })
          if (!some) continue
          const isPaused = isServerPaused(paused, name)
          const live = there.get(name)
          usable.push({
            name,
            whole,
            paused: isPaused,
            capabilities: isPaused ? everything : (live?.capabilities ?? {}),
            instructions: isPaused ? undefined : live?.instructions,
          })
        }
        return usable
      })

      /** The servers that may be used as a whole, and are not paused. */
      const usable = Effect.fnUntraced(function* (caller: Caller["Service"], server?: string) {
        const names = new Set(
          (yield* usableBy(caller, server)).flatMap(({ name, paused, whole }) => (whole && !paused ? [name] : [])),
        )
        return servers.connected().filter(({ name }) => names.has(name))
      })

      /** The same for a caller that began to watch a while ago, by its present rights. */
      const usableNow = (caller: Caller["Service"], server?: string) =>
        Effect.orElseSucceed(
          Effect.flatMap(tokens.renewCaller(caller), (now) => usable(now, server)),
          () => [],
        )

      const list: ServerContents["Service"]["list"] = (caller, what, server) => {
        const { principal } = caller
        const listed = Effect.gen(function* () {
          const all = yield* usable(caller, server)
          yield* Effect.timeoutOption(
            Effect.forEach(all, ({ fresh }) => fresh, { concurrency: "unbounded" }),
            maxWait,
          )
          return all.flatMap(({ lists, name }) => lists()[what].map((item) => ({ server: name, item })))
        })
        // If several servers share a list, a paused one is left out.
        return Effect.catchTag(pauses.unless(listMethods[what], { principal, server }, listed), "Stopped", (stopped) =>
          Effect.fail(pauseRefusal(stopped)),
        )
      }

      const record = (
        { principal }: Caller["Service"],
        { name: server, owner }: Named,
        it: RequestEvent,
        error: CallError | null,
        rule: string,
        startedAt: number,
      ) => {
        const what: What = { server, owner, principal: principal.id }
        const durationMs = Math.max(0, Math.round(monotonicOf(clock) - startedAt))
        const body = { ...what, ...cut(it.name), error, rule, durationMs }
        return journal.transact(journal.append({ kind: it.kind, body } as Parameters<typeof journal.append>[0]))
      }

      /** One request: judged, stopped by a pause at any time, and recorded when it has ended. */
      const asked = <A extends JsonObject | InputRequired>(
        caller: Caller["Service"],
        server: string,
        it: RequestEvent,
        send: (server: ConnectedServer) => Effect.Effect<A | undefined, MCPRefused | MCPConnectionError>,
      ): Effect.Effect<A | undefined, MCPRefused> =>
        Effect.gen(function* () {
          const startedAt = monotonicOf(clock)
          const known = (yield* servers.list).items.find(({ name }) => name === server)
          // A name with a lone surrogate exists nowhere, and cannot be sent to a server.
          if (known === undefined || !Object.values(it.name).every((name: string) => name.isWellFormed()))
            return undefined
          const { rule, whole } = yield* judge(caller, known)
          const written = (error: CallError | null, by = rule) => record(caller, known, it, error, by, startedAt)
          if (!whole) {
            const message = `${caller.principal.name} may not use the server "${server}" as a whole`
            yield* written({ tag: "ToolAuthorizationError", message })
            return undefined
          }
          const sent = Effect.suspend(() => {
            const live = servers.connected().find(({ name }) => name === server)
            return live === undefined ? Effect.fail(notConnected(server)) : send(live)
          })
          const { principal } = caller
          return yield* pauses.unless(methods[it.kind], { principal, server }, sent).pipe(
            Effect.onExit((exit) => {
              // A question before the result is not its end.
              if (Exit.isSuccess(exit) && exit.value instanceof InputRequired) return Effect.void
              const { error, rule: by } = endOf(exit)
              return written(error, by)
            }),
            Effect.mapError(refusalOf),
          )
        })

      const watchers = new Set<{
        readonly caller: Caller["Service"]
        readonly server: string | undefined
        readonly hear: (what: "prompts" | "resources") => void
      }>()
      yield* servers.onOffer(({ server, what }) => {
        if (what === "resource" || watchers.size === 0) return
        const told = Effect.gen(function* () {
          const live = servers.connected().find(({ id }) => id === server)
          for (const one of watchers) {
            // A server that has just gone is visible to nobody: everybody who might have seen it looks again.
            const sees =
              live === undefined || (yield* usableNow(one.caller, one.server)).some(({ name }) => name === live.name)
            if (sees) one.hear(what)
          }
        })
        run(Effect.ignoreCause(told))
      })

      return ServerContents.of({
        servers: usableBy,
        list,
        read: (caller, server, uri, reader) =>
          asked(caller, server, { kind: "resource.read", name: { uri } }, (live) =>
            Effect.catchIf(converse(live, "resources/read", { uri }, reader), isMissing, () =>
              Effect.succeed(undefined),
            ),
          ),
        subscribe: (caller, server, uri) =>
          asked(caller, server, { kind: "resource.subscribed", name: { uri } }, ({ capabilities }) =>
            Effect.succeed(capabilities["resources"] === undefined ? undefined : {}),
          ),
        prompt: (caller, server, name, given, reader) =>
          asked(caller, server, { kind: "prompt.got", name: { prompt: name } }, (live) =>
            converse(live, "prompts/get", { name, arguments: given }, reader),
          ),
        complete: (caller, server, params) =>
          asked(caller, server, { kind: "completion.got", name: { argument: argumentOf(params) } }, (live) =>
            Effect.map(live.exchange("completion/complete", params), (reply) =>
              reply._tag === "Done" ? repairMCPCompletion(reply.result) : { completion: { values: [] } },
            ),
          ),
        watch: Effect.fnUntraced(function* (caller, server, uris, tell) {
          const mine = Effect.map(usableNow(caller, server), (all) => all.find(({ name }) => name === server))
          const live = yield* mine
          if (live === undefined || live.capabilities["resources"] === undefined) return undefined
          const { principal } = caller
          return yield* live.watch(
            uris,
            Effect.fnUntraced(function* (uri) {
              if ((yield* mine) === undefined) return
              yield* Effect.ignore(pauses.unless("notifications/resources/updated", { principal, server }, tell(uri)))
            }),
          )
        }),
        onChange: (caller, server, hear) => {
          const one = { caller, server, hear }
          watchers.add(one)
          return () => void watchers.delete(one)
        },
      })
    }),
  )
}

const cut = <N extends JsonObject>(name: N): N =>
  Object.fromEntries(Object.entries(name).map(([key, text]) => [key, String(text).slice(0, longestName)])) as N

/** What is completed, for the audit: which prompt or template, and which argument. */
const argumentOf = ({ argument, ref }: JsonObject): string => {
  const { name, uri } = (ref ?? {}) as { readonly name?: unknown; readonly uri?: unknown }
  const { name: of } = (argument ?? {}) as { readonly name?: unknown }
  return [name ?? uri, of].filter((text) => typeof text === "string").join(" ")
}

const notConnected = (server: string): MCPRefused =>
  new MCPRefused(-32_603, `The server "${server}" is not connected. Try again when it is back`)

type Failure = MCPRefused | MCPConnectionError | Stopped

/** How it ended, for the journal. */
const endOf = (exit: Exit.Exit<unknown, Failure>): { readonly error: CallError | null; readonly rule?: string } => {
  if (Exit.isSuccess(exit))
    return exit.value === undefined ? { error: { tag: "Missing", message: "There is no such thing" } } : { error: null }
  const reason = exit.cause.reasons[0]
  if (reason?._tag !== "Fail") return { error: { tag: "Canceled", message: "It was interrupted before it ended" } }
  const { error } = reason
  if (error._tag === "Stopped")
    return { error: { tag: "ToolAuthorizationError", message: error.message }, rule: pauseRule(error.subject) }
  const message = error.message.slice(0, longestName)
  return { error: { tag: error._tag === "MCPRefused" ? "ToolExecutionError" : error._tag, message } }
}

const refusalOf = (error: Failure): MCPRefused => {
  if (error._tag === "Stopped") return pauseRefusal(error)
  return error._tag === "MCPRefused" ? error : new MCPRefused(-32_603, error.message)
}
