/**
 * The desk of the house: the catalogue and the one road, as the MCP front asks for them. Nothing here knows a tool's name;
 * what a caller sees is kept until its rights or the catalogue change.
 */
import { Caller } from "@stoa/contract"
import { inputSchemaOf } from "@stoa/tools"
import { Clock, Context, Effect, Layer } from "effect"
import { monotonicOf } from "../../../store/Monotonic.ts"
import { Grants } from "../../../access/rights/Grants.ts"
import { type CallRequest, Calls } from "../../../calls/Calls.ts"
import { Catalogue, type Face as Shown } from "../../../calls/catalogue/Catalogue.ts"
import type { Listed } from "../../../calls/catalogue/Traits.ts"
import type { Beside } from "../../../toolsets/Beside.ts"
import { Toolsets } from "../../../toolsets/Toolsets.ts"
import { Upstreams } from "../../../upstreams/Upstreams.ts"
import { Acting } from "../../Acting.ts"
import { Desk, type Endpoint, type Face, type Line, type ListedTool, type Outcome, type Use } from "./Desk.ts"
import { type Fault, unknownTool } from "../wire/Fault.ts"
import { makeCallNews } from "./callNews.ts"
import { failure, outcomeOf } from "./callOutcome.ts"
import { makeChanges } from "./changes.ts"
import { makePausing, namedAt } from "../eras/pausing.ts"
import { withTasks } from "./taskWatch.ts"
import { withBesides } from "./toolsetFace.ts"
import { makeUpstreamCalls } from "./upstreamCall.ts"
import { makeUpstreamFaces } from "./upstreamFace.ts"

/** Below the minute after which clients give up by themselves: they are told where to look instead. */
const patienceMs = 50_000
/** A client that knows tasks need not hold a connection for what takes longer. */
const taskPatienceMs = 2000
const mostKept = 2000
/** No tool has a longer name; what is called so is not worth a row. */
const longestName = 256
/** How long what rests on rights that end by themselves is shown unasked. */
const keptMillis = 1000

const instructions =
  'A call that needs a person answers {"state":"waiting","call":…}: ask again with call_status, or go on with other work.'

/** Under its own endpoint a server's tools have the names it gave them. */
const wireNameOf = ({ server, tool }: Listed, endpoint: Endpoint): string =>
  endpoint.kind === "server" && server !== undefined && tool.definition.name.startsWith(`${server}/`)
    ? tool.definition.name.slice(server.length + 1)
    : tool.wireName

const listedOf = (listed: Listed, name: string): ListedTool => {
  const { annotations, description, outputSchema } = listed.tool.definition
  const { title, ...hints } = annotations ?? {}
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: inputSchemaOf(listed.tool.definition),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    // Said explicitly, because silence means "destructive, open world" to a client. What the author said comes first.
    annotations: { readOnlyHint: listed.effects === "none", ...hints },
  }
}

interface Kept {
  readonly epoch: number
  readonly version: number
  readonly until: number
  readonly face: Effect.Effect<Face>
}

/** As a caller, whom the door has put there already, as a rule. */
const as = <A, E>(caller: Caller["Service"], effect: Effect.Effect<A, E, Caller>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, (around: Context.Context<never>) =>
    Context.getOrUndefined(around, Caller) === caller
      ? (around as Context.Context<Caller>)
      : Context.add(around, Caller, caller),
  )

/** A request without a token sees what the crossroads may, and there is nobody to call it as. */
const nobody: Face = {
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
    const pausing = yield* makePausing
    const upstreamFaces = yield* makeUpstreamFaces(pausing)
    const news = yield* makeCallNews
    const upstreamCalls = yield* makeUpstreamCalls(news)
    const shownOf = (endpoint: Endpoint): Shown | undefined => {
      if (endpoint.kind === "all") return endpoint
      if (endpoint.kind === "server") return { kind: "server", server: endpoint.name }
      const set = toolsets.setOf(endpoint.name)
      if (set === undefined) return undefined
      return endpoint.anyway === true ? { kind: "set", set, anyway: true } : { kind: "set", set }
    }
    /** What toolsets have beside tools is shown to whoever has everything of theirs, or comes for that toolset. */
    const besidesAt = (endpoint: Endpoint): ReadonlyArray<Beside> =>
      endpoint.kind === "all"
        ? [...toolsets.besides.values()]
        : endpoint.kind === "toolset"
          ? [toolsets.besides.get(endpoint.name) ?? []].flat()
          : []
    const version = () => catalogue.version() + upstreams.offering()
    const kept = new Map<string, Kept>()

    /** The one road, and what came of it. A refusal the model can act on is an outcome like any other. */
    const callAs = (
      caller: Caller["Service"],
      endpoint: Endpoint,
      shown: Shown,
      tool: string,
      speaks: Listed["speaks"],
      use: Use,
      line: Line,
    ): Effect.Effect<Outcome, Fault> => {
      const wait = use.mayBeTask ? taskPatienceMs : patienceMs
      const request: CallRequest = {
        tool,
        input: use.arguments,
        face: shown,
        wait,
        progress: (step: Parameters<Line["progress"]>[0]) => Effect.sync(() => line.progress(step)),
        ...(use.idempotencyKey === undefined ? {} : { key: use.idempotencyKey }),
        ...(use.space === undefined ? {} : { space: use.space }),
      }
      const walked =
        speaks === "mcp"
          ? upstreamCalls.through(caller, endpoint, use, line, request)
          : Effect.map(calls.call(request), outcomeOf)
      // Answered in words of its own, and booked as it is at every door.
      return Effect.catch(as(caller, acting.recorded(walked)), (error): Effect.Effect<Outcome, Fault> => {
        if (error._tag === "Fault") return Effect.fail(error)
        return error._tag === "ToolNotFoundError" ? Effect.fail(unknownTool(use.name)) : Effect.succeed(failure(error))
      })
    }

    const make = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint, shown: Shown) {
      const found = yield* catalogue.list(caller, shown)
      const named = found.map((one) => [wireNameOf(one, endpoint), one] as const)
      // The order of a toolset or a server means something to those who wrote it; what comes from many places is in the
      // order of names.
      const extra = upstreamFaces.extras(endpoint)
      const byName = new Map(
        endpoint.kind === "toolset"
          ? named
          : named.toSorted(([a], [b]) => extra(a).place - extra(b).place || (a < b ? -1 : a > b ? 1 : 0)),
      )
      const servers = yield* upstreamFaces.known(caller, endpoint)
      const away = yield* pausing.stopped(caller, servers.some)
      const wholeAway = yield* pausing.stopped(caller, servers.whole)
      const tasks = upstreamCalls.tasks(caller, endpoint)
      const face: Face = {
        instructions,
        tools: [...byName].map(([name, one]) => ({
          ...listedOf(one, name),
          ...(one.server === undefined ? {} : extra(name).shown),
        })),
        call: (use, line) => {
          const one = byName.get(use.name)
          if (one !== undefined) return callAs(caller, endpoint, shown, one.tool.definition.name, one.speaks, use, line)
          // A paused server has no tools; the road says why.
          const paused = namedAt(endpoint, away, "ownPrompt", use.name)
          if (paused !== undefined)
            return callAs(caller, endpoint, shown, `${paused.server}/${paused.own}`, undefined, use, line)
          // What is not there, or is hidden, is refused on the road, so that it is written down; the two look alike.
          const name = endpoint.kind === "server" ? `${endpoint.name}/${use.name}` : use.name
          const nothing = Effect.fail(unknownTool(use.name))
          return name.length > longestName
            ? nothing
            : Effect.flatMap(callAs(caller, endpoint, shown, name, undefined, use, line), (outcome) =>
                outcome._tag === "Failed" && outcome.error.tag === "ToolAuthorizationError"
                  ? nothing
                  : Effect.succeed(outcome),
              )
        },
        tasks,
        ...(yield* upstreamFaces.part(
          caller,
          endpoint,
          withTasks(news, tasks.get, (interest, tell) => watch(caller, shown, interest, tell)),
        )),
      }
      const whole = withBesides(caller, besidesAt(endpoint), endpoint.kind === "toolset", face)
      const isThere = face.tools.length > 0 || endpoint.kind !== "server" || servers.some.length > 0
      return isThere ? pausing.face(caller, endpoint, wholeAway, whole) : undefined
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
