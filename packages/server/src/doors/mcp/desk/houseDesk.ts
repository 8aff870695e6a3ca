/**
 * Implements the desk with the catalogue and the one road. Nothing here knows a tool's name; what a caller sees is
 * cached until its rights or the catalogue change.
 */
import { Caller } from "@stoa/contract"
import { inputSchemaOf } from "@stoa/tools"
import { Clock, Context, Effect, Layer } from "effect"
import { monotonicOf } from "../../../store/Moment.ts"
import { Grants } from "../../../access/rights/Grants.ts"
import { type CallRequest, Calls } from "../../../calls/Calls.ts"
import { Catalogue, type ToolScope as Shown } from "../../../calls/catalogue/Catalogue.ts"
import type { CatalogueTool } from "../../../calls/catalogue/Traits.ts"
import { Toolsets } from "../../../toolsets/Toolsets.ts"
import type { Contents } from "../../../upstreams/contents/Contents.ts"
import { ServerContents } from "../../../upstreams/contents/ServerContents.ts"
import { Upstreams } from "../../../upstreams/Upstreams.ts"
import { Acting } from "../../Acting.ts"
import {
  Desk,
  type Endpoint,
  type EndpointView,
  type ClientLink,
  type ListedTool,
  type Outcome,
  type Use,
} from "./Desk.ts"
import { type Fault, unknownTool } from "../wire/Fault.ts"
import { makeArrivals } from "./arrivals.ts"
import { makeCallNews } from "./callNews.ts"
import { failure, outcomeOf } from "./callOutcome.ts"
import { makeChanges } from "./changes.ts"
import { serversAt, withContents } from "./contents.ts"
import { withTasks } from "./taskWatch.ts"
import { ownName } from "./names.ts"
import { makeServerCalls } from "./serverCalls.ts"
import { extrasAt } from "./serverTools.ts"

/** Below the minute after which clients give up by themselves: they are told where to look instead. */
const patienceMs = 50_000
/** A client that knows tasks need not hold a connection for what takes longer. */
const taskPatienceMs = 2000
/** A program in its turn is not held: what takes longer, it is told in its next one. */
const turnPatienceMs = 5000
const mostKept = 2000
/** No tool has a longer name; what is called so is not worth a row. */
const longestName = 256
/** How long what rests on rights that end by themselves is shown unasked. */
const keptMillis = 1000

const instructions =
  'A call that needs a person answers {"state":"waiting","call":…}: ask again with call_status, or go on with other work.'

/** Under its own endpoint a server's tools have the names it gave them. */
const wireNameOf = ({ server, tool }: CatalogueTool, endpoint: Endpoint): string =>
  endpoint.kind === "server" && server !== undefined && tool.definition.name.startsWith(`${server}/`)
    ? tool.definition.name.slice(server.length + 1)
    : tool.wireName

/** The house's name for what is called here by a name that is on no list. */
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
    // Said explicitly, because silence means "destructive, open world" to a client. What the author said comes first.
    annotations: { readOnlyHint: listed.readOnly === true, ...hints },
    ...(listed.tags === undefined ? {} : { tags: listed.tags, meta: { "stoa/tags": listed.tags } }),
  }
}

/** What is on no list looks alike, whether it is there or not; what is paused says so to those who may use it. */
const isHidden = (
  error: { readonly _tag: string; readonly rule?: string | undefined },
  listed: CatalogueTool | undefined,
) =>
  error._tag === "ToolNotFoundError" ||
  (error._tag === "ToolAuthorizationError" && listed === undefined && !error.rule?.startsWith("paused:"))

interface OpenFace {
  readonly epoch: number
  readonly version: number
  readonly until: number
  readonly face: Effect.Effect<EndpointView>
}

/** As a caller, whom the door has put there already, as a rule. */
const as = <A, E>(caller: Caller["Service"], effect: Effect.Effect<A, E, Caller>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (around: Context.Context<never>) =>
    Context.getOrUndefined(around, Caller) === caller
      ? (around as Context.Context<Caller>)
      : Context.add(around, Caller, caller),
  )

/** A request without a token sees what the crossroads may, and there is nobody to call it as. */
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
    const upstreams = yield* Upstreams
    const toolsets = yield* Toolsets
    const watch = yield* makeChanges
    const serverContents = yield* ServerContents
    const news = yield* makeCallNews
    const serverCalls = yield* makeServerCalls(news)
    const shownOf = (endpoint: Endpoint): Shown | undefined => {
      if (endpoint.kind === "all") return endpoint
      if (endpoint.kind === "server") return { kind: "server", server: endpoint.name }
      const set = toolsets.setOf(endpoint.name)
      if (set === undefined) return undefined
      return endpoint.anyway === true ? { kind: "set", set, anyway: true } : { kind: "set", set }
    }
    /** What toolsets have beside tools is shown to whoever has everything of theirs, or comes for that toolset. */
    const toolsetsAt = (endpoint: Endpoint): ReadonlyArray<Contents> => {
      if (endpoint.kind === "server") return []
      if (endpoint.kind === "toolset") return [toolsets.contents.get(endpoint.name) ?? []].flat()
      // What one toolset says to those who come for it alone is not said here.
      return [...toolsets.contents.values()].map(({ instructions: _instructions, ...contents }) => contents)
    }
    const version = () => catalogue.version() + upstreams.offering()
    const kept = new Map<string, OpenFace>()

    /** The one road, and what came of it. A refusal the model can act on is an outcome like any other. */
    const callAs = (
      caller: Caller["Service"],
      endpoint: Endpoint,
      shown: Shown,
      tool: string,
      listed: CatalogueTool | undefined,
      use: Use,
      link: ClientLink,
      unknown: () => Fault,
    ): Effect.Effect<Outcome, Fault> => {
      const wait = caller.turn !== undefined ? turnPatienceMs : use.mayBeTask ? taskPatienceMs : patienceMs
      const request: CallRequest = {
        tool,
        input: use.arguments,
        face: shown,
        wait,
        progress: (step: Parameters<ClientLink["progress"]>[0]) => Effect.sync(() => link.progress(step)),
        ...(use.idempotencyKey === undefined ? {} : { key: use.idempotencyKey }),
        ...(use.space === undefined ? {} : { space: use.space }),
      }
      const walked =
        listed?.resultFormat === "mcp"
          ? serverCalls.through(caller, endpoint, use, link, request)
          : Effect.map(calls.call(request), outcomeOf)
      // Answered in words of its own, and booked as it is at every door.
      return Effect.catch(as(caller, acting.recorded(walked)), (error): Effect.Effect<Outcome, Fault> => {
        if (error._tag === "Fault") return Effect.fail(error)
        return isHidden(error, listed) ? Effect.fail(unknown()) : Effect.succeed(failure(error))
      })
    }

    const make = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint, shown: Shown) {
      const found = yield* catalogue.list(caller, shown)
      const named = found.map((one) => [wireNameOf(one, endpoint), one] as const)
      // The order of a toolset or a server means something to those who wrote it; what comes from many places is in the
      // order of names.
      const extra = extrasAt(endpoint, upstreams.servers())
      const byName = new Map(
        endpoint.kind === "toolset"
          ? named
          : named.toSorted(([a], [b]) => extra(a).place - extra(b).place || (a < b ? -1 : a > b ? 1 : 0)),
      )
      const alone = endpoint.kind === "server" ? endpoint.name : undefined
      const servers = endpoint.kind === "toolset" ? [] : yield* serverContents.servers(caller, alone)
      const tasks = serverCalls.tasks(caller, endpoint)
      const face: EndpointView = {
        instructions,
        tools: [...byName].map(([name, one]) => ({
          ...listedOf(one, name),
          ...(one.server === undefined ? {} : extra(name).shown),
        })),
        call: (use, link) => {
          const one = byName.get(use.name)
          // What is not listed is for the road to answer: it knows why, and writes it down.
          const tool = one?.tool.definition.name ?? fullName(use.name, endpoint)
          const unknown = () => unknownTool(use.name, byName.keys())
          if (tool.length > longestName) return Effect.fail(unknown())
          return callAs(caller, endpoint, shown, tool, one, use, link, unknown)
        },
        tasks,
        logs: false,
        watch: withTasks(news, tasks.get, (interest, tell) => watch(caller, shown, interest, tell)),
      }
      const ofServers = serversAt(serverContents, endpoint, servers)
      const contents = [...toolsetsAt(endpoint), ...(ofServers === undefined ? [] : [ofServers])]
      const isThere = face.tools.length > 0 || endpoint.kind !== "server" || servers.length > 0
      return isThere ? withContents(caller, contents, face) : undefined
    })

    // By token and not by principal alone: a face acts as the caller it was made for, and two tokens of one agent may
    // stand in two spaces.
    const keyOf = ({ context, principal, token }: Caller["Service"], endpoint: Endpoint): string => {
      const who = `${principal.id} ${token ?? ""} ${context}`
      return endpoint.kind === "all"
        ? `${who} all`
        : `${who} ${endpoint.kind} ${endpoint.name} ${endpoint.kind === "toolset" && endpoint.anyway === true}`
    }

    const faceAnew = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint) {
      const shown = shownOf(endpoint)
      if (shown === undefined) return undefined
      yield* catalogue.require(caller, shown)
      const now = version()
      const face = yield* make(caller, endpoint, shown)
      // A server without tools is one all the same: it may be away.
      if (face === undefined) return undefined
      if (kept.size >= mostKept) kept.clear()
      // A right that ends by itself changes no epoch.
      const until = (yield* grants.last(caller)) ? Infinity : monotonicOf(clock) + keptMillis
      kept.set(keyOf(caller, endpoint), { epoch: caller.epoch, version: now, until, face: Effect.succeed(face) })
      return face
    })

    return Desk.of({
      // Asked by every request: what is at hand is answered without a fiber.
      arrived: yield* makeArrivals,
      faceFor: (caller, endpoint) => {
        if (caller === null) return Effect.succeed(shownOf(endpoint) === undefined ? undefined : nobody)
        const known = kept.get(keyOf(caller, endpoint))
        return known !== undefined &&
          known.epoch === caller.epoch &&
          known.version === version() &&
          (known.until === Infinity || monotonicOf(clock) < known.until)
          ? known.face
          : faceAnew(caller, endpoint)
      },
    })
  }),
)
