/**
 * Implements the desk with the catalogue and the one road. Nothing here knows a tool's name; what a caller sees is
 * cached until its rights or the catalogue change.
 */
import { Caller, Missing } from "@stoa/contract"
import { inputSchemaOf, nearest } from "@stoa/tools"
import { Clock, Context, Effect, Layer } from "effect"
import { monotonicOf } from "../../../store/Moment.ts"
import { Arrivals } from "../../../access/identity/Arrivals.ts"
import { Grants } from "../../../access/rights/Grants.ts"
import { type CallRequest, Calls, isHidden } from "../../../calls/Calls.ts"
import { CallNews } from "../../../calls/waiting/CallNews.ts"
import { Catalogue, type ToolScope as Shown } from "../../../calls/catalogue/Catalogue.ts"
import type { CatalogueTool } from "../../../calls/catalogue/Traits.ts"
import { Toolsets } from "../../../toolsets/Toolsets.ts"
import { ServerContents } from "../../../servers/contents/ServerContents.ts"
import { Servers } from "../../../servers/Servers.ts"
import { Acting } from "../../Acting.ts"
import {
  Desk,
  type Endpoint,
  type EndpointView,
  type ClientLink,
  type ListedTool,
  type Outcome,
  type ToolUse,
} from "./Desk.ts"
import { type Fault, tokenEnded, unknownTool } from "../wire/Fault.ts"
import { followUps } from "../wire/results.ts"
import { failure, outcomeOf } from "./callOutcome.ts"
import { makeChanges } from "./changes.ts"
import { serversAt, withContents } from "./contents.ts"
import { withTasks } from "./taskWatch.ts"
import { ownName } from "./servers/names.ts"
import { makeServerCalls } from "./servers/serverCalls.ts"
import { extrasAt } from "./servers/serverTools.ts"

/** Less than the minute after which clients give up: they are told where to look for the result instead. */
const patienceMs = 50_000
/** A client that supports tasks need not hold a connection for longer. */
const taskPatienceMs = 2000
const maxKept = 2000
/** How long a view that depends on expiring rights is reused. */
const keptMillis = 1000

const instructionsFor = (closed: ReadonlyArray<string>): string => {
  const next = closed.includes(followUps.ask) ? "" : `ask again with ${followUps.ask}, or `
  return `A call that needs a person answers {"state":"waiting","call":…}: ${next}go on with other work.`
}

/** At its own endpoint, a server's tools have the names it gave them. */
const wireNameOf = ({ server, tool }: CatalogueTool, endpoint: Endpoint): string =>
  endpoint.kind === "server" && server !== undefined && tool.definition.name.startsWith(`${server}/`)
    ? tool.definition.name.slice(server.length + 1)
    : tool.wireName

/** The house's name for a tool that is called here by an unlisted name. */
const fullName = (name: string, endpoint: Endpoint): string => {
  if (endpoint.kind === "server") return `${endpoint.name}/${name}`
  const own = ownName(name)
  return own === undefined ? name : `${own.server}/${own.own}`
}

const listedOf = (listed: CatalogueTool, name: string): ListedTool => {
  const { annotations, description, outputSchema } = listed.tool.definition
  const { title, ...hints } = annotations ?? {}
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: inputSchemaOf(listed.tool.definition),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    // Always stated, because without it a client assumes "destructive, open world". The author's hints take precedence.
    annotations: { readOnlyHint: listed.readOnly === true, ...hints },
    ...(listed.tags === undefined ? {} : { tags: listed.tags, meta: { "stoa/tags": listed.tags } }),
  }
}

interface CachedView {
  readonly epoch: number
  readonly version: number
  readonly until: number
  readonly view: Effect.Effect<EndpointView>
}

/** Runs as a caller; usually the door has provided it already. */
const as = <A, E>(caller: Caller["Service"], effect: Effect.Effect<A, E, Caller>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (around: Context.Context<never>) =>
    Context.getOrUndefined(around, Caller) === caller
      ? (around as Context.Context<Caller>)
      : Context.add(around, Caller, caller),
  )

/** A request without a token, where that is allowed: an empty list, because there is no principal to call tools as. */
const nobody: EndpointView = {
  tools: [],
  call: (use) => Effect.fail(unknownTool(use.name)),
  logs: false,
  watch: (interest) =>
    Effect.succeed({
      honoured: { ...interest, tools: false, prompts: false, resources: false, uris: [], tasks: [] },
      stop: () => {},
    }),
}

export const layerHouseDesk = Layer.effect(
  Desk,
  Effect.gen(function* () {
    const acting = yield* Acting
    const calls = yield* Calls
    const catalogue = yield* Catalogue
    const grants = yield* Grants
    const clock = yield* Clock.Clock
    const servers = yield* Servers
    const toolsets = yield* Toolsets
    const watch = yield* makeChanges
    const serverContents = yield* ServerContents
    const news = yield* CallNews
    const serverCalls = yield* makeServerCalls
    const shownOf = (endpoint: Endpoint): Shown | undefined => {
      if (endpoint.kind === "all") return endpoint
      if (endpoint.kind === "server") return { kind: "server", server: endpoint.name }
      const set = toolsets.setOf(endpoint.name)
      if (set === undefined) return undefined
      return endpoint.anyway === true ? { kind: "set", set, anyway: true } : { kind: "set", set }
    }
    const version = () => catalogue.version() + servers.offering()
    const kept = new Map<string, CachedView>()

    const closedTo = (caller: Caller["Service"], shown: Shown) =>
      catalogue.closed(caller, shown, Object.values(followUps))

    /** A result that says how to follow the call names no tool that would be refused. */
    const withClosed = (caller: Caller["Service"], shown: Shown, outcome: Outcome): Effect.Effect<Outcome> =>
      outcome._tag === "Waiting" || outcome._tag === "Running"
        ? Effect.map(closedTo(caller, shown), (closed) => (closed.length === 0 ? outcome : { ...outcome, closed }))
        : Effect.succeed(outcome)

    /** Runs the road and returns its outcome. A refusal that a model can act on is an ordinary outcome. */
    const callAs = (
      caller: Caller["Service"],
      endpoint: Endpoint,
      shown: Shown,
      tool: string,
      listed: CatalogueTool | undefined,
      use: ToolUse,
      link: ClientLink,
      unknown: () => Fault,
    ): Effect.Effect<Outcome, Fault> => {
      const request: CallRequest = {
        tool,
        input: use.arguments,
        scope: shown,
        wait: use.mayBeTask ? taskPatienceMs : patienceMs,
        isGivenUp: () => !link.ending(),
        progress: (step: Parameters<ClientLink["progress"]>[0]) => Effect.sync(() => link.progress(step)),
        ...(use.idempotencyKey === undefined ? {} : { key: use.idempotencyKey }),
        ...(use.space === undefined ? {} : { space: use.space }),
      }
      const walked =
        listed?.resultFormat === "mcp"
          ? serverCalls.through(caller, endpoint, use, link, request)
          : Effect.map(calls.call(request), outcomeOf)
      // Answered in MCP's own words, and recorded as at every door.
      return Effect.catch(
        Effect.flatMap(as(caller, acting.recorded(walked)), (outcome) => withClosed(caller, shown, outcome)),
        (error): Effect.Effect<Outcome, Fault> => {
          if (error._tag === "Fault") return Effect.fail(error)
          if (error._tag === "Unauthenticated") return Effect.fail(tokenEnded)
          return isHidden(error, listed !== undefined) ? Effect.fail(unknown()) : Effect.succeed(failure(error))
        },
      )
    }

    const make = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint, shown: Shown) {
      const found = yield* catalogue.list(caller, shown)
      const named = found.map((one) => [wireNameOf(one, endpoint), one] as const)
      // Authors choose the order of a toolset or a server; a mixed list is sorted by name.
      const extra = extrasAt(endpoint, servers.connected())
      const byName = new Map(
        endpoint.kind === "toolset"
          ? named
          : named.toSorted(([a], [b]) => extra(a).place - extra(b).place || (a < b ? -1 : a > b ? 1 : 0)),
      )
      const alone = endpoint.kind === "server" ? endpoint.name : undefined
      const usable = endpoint.kind === "toolset" ? [] : yield* serverContents.servers(caller, alone)
      const tasks = serverCalls.tasks(caller, endpoint)
      const view: EndpointView = {
        instructions: instructionsFor(yield* closedTo(caller, shown)),
        tools: [...byName].map(([name, one]) => ({
          ...listedOf(one, name),
          ...(one.server === undefined ? {} : extra(name).shown),
        })),
        call: (use, link) => {
          const one = byName.get(use.name)
          // An unlisted tool goes to the road too: it knows why, and records the refusal.
          const tool = one?.tool.definition.name ?? fullName(use.name, endpoint)
          const unknown = () => unknownTool(use.name, byName.keys())
          return callAs(caller, endpoint, shown, tool, one, use, link, unknown)
        },
        tasks,
        logs: false,
        watch: withTasks(news, tasks.get, (interest, tell) => watch(caller, shown, interest, tell)),
      }
      const ofServers = serversAt(serverContents, endpoint, usable)
      const contents = [
        ...(yield* toolsets.contentsFor(caller, shown)),
        ...(ofServers === undefined ? [] : [ofServers]),
      ]
      const isThere = view.tools.length > 0 || endpoint.kind !== "server" || usable.length > 0
      return isThere ? withContents(caller, contents, view) : undefined
    })

    // By token and not only by principal: a view acts as the caller it was made for, and two tokens of one agent may be
    // in two spaces.
    const keyOf = ({ context, principal, token }: Caller["Service"], endpoint: Endpoint): string => {
      const who = `${principal.id} ${token ?? ""} ${context}`
      return endpoint.kind === "all"
        ? `${who} all`
        : `${who} ${endpoint.kind} ${endpoint.name} ${endpoint.kind === "toolset" && endpoint.anyway === true}`
    }

    const noServer = Effect.fnUntraced(function* (caller: Caller["Service"], ref: string) {
      const yours = (yield* serverContents.servers(caller)).map(({ name }) => name)
      const meant = nearest(ref, yours)
      return yield* new Missing({ noun: "MCP server", ref, yours, ...(meant === undefined ? {} : { meant }) })
    })

    const freshView = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint) {
      const shown = shownOf(endpoint)
      if (shown === undefined)
        return endpoint.kind === "toolset" ? yield* toolsets.missing(endpoint.name, caller.principal) : undefined
      yield* catalogue.require(caller, shown)
      const now = version()
      const view = yield* make(caller, endpoint, shown)
      // A server without tools still has an endpoint: it may be disconnected.
      if (view === undefined) return endpoint.kind === "server" ? yield* noServer(caller, endpoint.name) : undefined
      if (kept.size >= maxKept) kept.clear()
      // A right that expires by itself changes no epoch.
      const until = (yield* grants.last(caller)) ? Infinity : monotonicOf(clock) + keptMillis
      kept.set(keyOf(caller, endpoint), { epoch: caller.epoch, version: now, until, view: Effect.succeed(view) })
      return view
    })

    return Desk.of({
      // Runs for every request: a cached view is returned without a fiber.
      arrived: (yield* Arrivals).arrived,
      viewFor: (caller, endpoint) => {
        if (caller === null) return Effect.succeed(shownOf(endpoint) === undefined ? undefined : nobody)
        const known = kept.get(keyOf(caller, endpoint))
        return known !== undefined &&
          known.epoch === caller.epoch &&
          known.version === version() &&
          (known.until === Infinity || monotonicOf(clock) < known.until)
          ? known.view
          : freshView(caller, endpoint)
      },
    })
  }),
)
