/**
 * What servers have beside tools, as a part of a face: their resources, prompts and completions, for whoever may use the
 * server as a whole. Requests go to the server as the house, with nothing of the caller's but what it asks for.
 */
import { randomUUID } from "node:crypto"
import type { Caller } from "@stoa/contract"
import {
  areMCPIcons,
  faultOfMCPResult,
  type MCPConnectionError,
  type MCPLine,
  MCPRefused,
  type MCPReply,
  mendMCPCompletion,
} from "@stoa/tools"
import { Effect } from "effect"
import { AllowLists, listsServer } from "../../../access/rights/AllowLists.ts"
import { Grants } from "../../../access/rights/Grants.ts"
import { Asked, type CallingClient } from "../../../upstreams/Asked.ts"
import { Upstreams, type UpstreamServer } from "../../../upstreams/Upstreams.ts"
import type { Asks, Content, Endpoint, Face, JsonObject, Lacks, Line, ListedTool, LogLevel } from "./Desk.ts"
import { codes, Fault, invalidParams } from "../wire/Fault.ts"
import { isObject } from "../wire/message.ts"
import type { makePausing } from "../eras/pausing.ts"
import {
  metaOutward,
  type Naming,
  namesOf,
  ownNames,
  promptOutward,
  type Reached,
  resourceOutward,
  resultOutward,
} from "./upstreamNames.ts"
import { makeUpstreamWatch } from "./upstreamWatch.ts"

/** How long a list waits for servers that may have news; what is not known by then is told as a change. */
const patience = "2 seconds"

export const clientOf = (line: Line): CallingClient => ({
  capabilities: line.capabilities,
  logLevel: line.logLevel,
  answers: {},
  log: (entry) => line.log({ ...entry, level: entry.level as LogLevel }),
  letGo: () => {},
})
/** Used where a server of the new era speaks up: it asks in its answers and nowhere else. */
const lineOf = (line: Line): MCPLine => ({
  answer: () => Effect.fail(new MCPRefused(codes.methodNotFound, "Nobody can be asked here")),
  log: (entry) => Effect.sync(() => line.log(entry)),
})

const askable = ({ elicitation, roots, sampling }: JsonObject): JsonObject => ({
  ...(elicitation === undefined ? {} : { elicitation }),
  ...(roots === undefined ? {} : { roots }),
  ...(sampling === undefined ? {} : { sampling }),
})

/** A refusal for want of capabilities of the client's. */
export const lacksOf = ({ code, data }: MCPRefused): Lacks | undefined => {
  const capabilities = code === codes.missingCapability && isObject(data) ? data["requiredCapabilities"] : undefined
  return isObject(capabilities) ? { _tag: "Lacks", capabilities } : undefined
}

const faultOf = (error: MCPConnectionError | MCPRefused): Fault =>
  error._tag === "MCPRefused"
    ? // Codes of the transport are between the server and us.
      new Fault(error.code <= -32_020 && error.code > -32_100 ? codes.internal : error.code, error.message, error.data)
    : new Fault(codes.internal, error.message)

const outcomeOf = (
  method: string,
  reply: MCPReply | Asked,
  naming: Naming,
  held: string,
): Effect.Effect<Content | Asks, Fault> => {
  if (reply instanceof Asked) return Effect.succeed({ _tag: "Asks", requests: reply.questions, state: { held } })
  switch (reply._tag) {
    case "Done": {
      const fault = faultOfMCPResult(method, reply.result)
      if (fault !== undefined)
        return Effect.fail(new Fault(codes.internal, `The server's answer cannot be read: ${fault}`))
      return Effect.succeed({ _tag: "Content", result: resultOutward(reply.result, naming) })
    }
    case "Asks":
      return Effect.succeed({ _tag: "Asks", requests: reply.questions, state: { upstream: reply.state ?? null } })
    case "Task":
      return Effect.fail(new Fault(codes.internal, "The server made a task of what has none"))
  }
}

/** What was handed out with the questions: a server's own state, or the name of what is held. */
const textIn = (state: unknown, key: "upstream" | "held"): string | undefined =>
  isObject(state) && typeof state[key] === "string" ? state[key] : undefined

/** One request for a caller's client, with its answers where it was asked before. */
const passOn = ({ naming, server }: Reached, method: string, params: JsonObject, line: Line) => {
  const before = textIn(line.state, "held")
  const name = before ?? randomUUID()
  const state = textIn(line.state, "upstream")
  return server
    .converse(
      name,
      method,
      params,
      clientOf(line),
      {
        line: lineOf(line),
        capabilities: askable(line.capabilities),
        ...(line.logLevel === undefined ? {} : { logLevel: line.logLevel }),
        ...(Object.keys(line.answers).length === 0 ? {} : { answers: line.answers }),
        ...(state === undefined ? {} : { state }),
        onProgress: ({ message, progress, total }) =>
          Effect.sync(() =>
            line.progress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            }),
          ),
      },
      before !== undefined,
    )
    .pipe(
      Effect.flatMap((reply): Effect.Effect<Content | Asks | Lacks, Fault> => outcomeOf(method, reply, naming, name)),
      Effect.catchTag("MCPRefused", (error) => {
        const lacks = lacksOf(error)
        return lacks === undefined ? Effect.fail(error) : Effect.succeed(lacks)
      }),
    )
}

const isMissing = (error: Fault | MCPConnectionError | MCPRefused): boolean =>
  error._tag === "MCPRefused" && (error.code === codes.resourceMissing || error.code === codes.invalidParams)
const asFault = (error: Fault | MCPConnectionError | MCPRefused): Fault =>
  error._tag === "Fault" ? error : faultOf(error)

const has = (reached: ReadonlyArray<Reached>, capability: string): boolean =>
  reached.some(({ server }) => server.capabilities[capability] !== undefined)

const listOf =
  (reached: ReadonlyArray<Reached>, pick: (one: Reached) => ReadonlyArray<JsonObject>) =>
  (cursor: string | undefined) =>
    cursor === undefined
      ? Effect.forEach(reached, ({ server }) => server.fresh, { concurrency: "unbounded" }).pipe(
          Effect.timeoutOption(patience),
          Effect.map(() => ({ items: reached.flatMap(pick) })),
        )
      : Effect.fail(invalidParams("No such cursor"))

const find = (reached: ReadonlyArray<Reached>, own: (naming: Naming) => string | undefined) => {
  for (const one of reached) {
    const name = own(one.naming)
    if (name !== undefined) return { ...one, name }
  }
  return undefined
}

const resourcesOf = (reached: ReadonlyArray<Reached>): NonNullable<Face["resources"]> => ({
  subscribable: true,
  watchable: (uri) => Effect.succeed(find(reached, (naming) => naming.ownUri(uri)) !== undefined),
  list: listOf(reached, ({ naming, server }) => server.lists().resources.map((it) => resourceOutward(it, naming))),
  templates: listOf(reached, ({ naming, server }) => server.lists().templates.map((it) => resourceOutward(it, naming))),
  read: (uri, line) => {
    const found = find(reached, (naming) => naming.ownUri(uri))
    if (found === undefined) return Effect.succeed(undefined)
    return passOn(found, "resources/read", { uri: found.name }, line).pipe(
      Effect.catchIf(isMissing, () => Effect.succeed(undefined)),
      Effect.mapError(asFault),
    )
  },
})

const promptsOf = (reached: ReadonlyArray<Reached>): NonNullable<Face["prompts"]> => ({
  list: listOf(reached, ({ naming, server }) => server.lists().prompts.map((it) => promptOutward(it, naming))),
  get: (name, given, line) => {
    const found = find(reached, (naming) => naming.ownPrompt(name))
    if (found === undefined) return Effect.fail(invalidParams(`Unknown prompt: ${name}`))
    return Effect.mapError(passOn(found, "prompts/get", { name: found.name, arguments: given }, line), asFault)
  },
})

const completeOf =
  (reached: ReadonlyArray<Reached>): NonNullable<Face["complete"]> =>
  ({ argument, context, ref }) => {
    const { name, uri } = ref as { readonly name?: unknown; readonly uri?: unknown }
    const found =
      typeof name === "string"
        ? find(reached, (naming) => naming.ownPrompt(name))
        : find(reached, (naming) => naming.ownUri(String(uri)))
    if (found === undefined) return Effect.fail(invalidParams("ref names nothing that is here"))
    const own = typeof name === "string" ? { name: found.name } : { uri: found.name }
    const params = { ref: { ...(ref as object), ...own }, argument, ...(context === undefined ? {} : { context }) }
    return found.server.exchange("completion/complete", params).pipe(
      Effect.map((reply) => (reply._tag === "Done" ? mendMCPCompletion(reply.result) : { completion: { values: [] } })),
      Effect.mapError(faultOf),
    )
  }

interface Extra {
  readonly place: number
  readonly shown: Pick<ListedTool, "title" | "icons" | "meta">
}
const extraOf = (tool: JsonObject, naming: Naming): Extra["shown"] => {
  const { _meta, icons, title } = metaOutward(tool, naming)
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(Array.isArray(icons) && areMCPIcons(icons) ? { icons: icons.filter(isObject) } : {}),
    ...(isObject(_meta) ? { meta: _meta } : {}),
  }
}

type Part = Pick<Face, "logs" | "watch"> & Partial<Pick<Face, "instructions" | "resources" | "prompts" | "complete">>

export const makeUpstreamFaces = Effect.fnUntraced(function* (pausing: Effect.Success<typeof makePausing>) {
  const upstreams = yield* Upstreams
  const allowLists = yield* AllowLists
  const grants = yield* Grants

  /**
   * Of these, the servers this caller may use as a whole: a right to single tools of a server is none to what else it has.
   * `anyOf`: also those it is given single tools of.
   */
  const usable = Effect.fnUntraced(function* <S extends Pick<UpstreamServer, "name" | "owner">>(
    servers: ReadonlyArray<S>,
    caller: Caller["Service"],
    endpoint: Endpoint,
    anyOf = false,
  ) {
    const tools = new Set((yield* allowLists.get("upstream", caller.context)).tools)
    const listed = (name: string): boolean =>
      listsServer(tools, name) || (anyOf && [...tools].some((tool) => tool.startsWith(`${name}/`)))
    const found: Array<S> = []
    for (const one of servers) {
      const { name, owner } = one
      if ((owner !== null && owner !== caller.principal.id) || !isNamed(endpoint, name) || !listed(name)) continue
      const { verdict } = yield* grants.judge(caller, "execute", `tools/${name}/`)
      if (verdict === "allow") found.push(one)
    }
    return found
  })

  const reached = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint) {
    const there = yield* usable(upstreams.servers(), caller, endpoint)
    const away = yield* pausing.stopped(caller, there)
    const namingOf = ({ lists, name }: UpstreamServer) =>
      endpoint.kind === "server" ? ownNames : namesOf(name, () => lists().prompts)
    return there
      .filter(({ name }) => !away.includes(name))
      .map((server): Reached => ({ server: pausing.server(caller, server), naming: namingOf(server) }))
  })
  const watching = yield* makeUpstreamWatch(reached)

  /** All servers that are not hidden from this caller here, those that are away too; and those it may use as a whole. */
  const known = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint) {
    const { items } = endpoint.kind === "toolset" ? { items: [] } : yield* upstreams.list
    const some = yield* usable(items, caller, endpoint, true)
    return { some, whole: yield* usable(some, caller, endpoint) }
  })

  const part = Effect.fnUntraced(function* (caller: Caller["Service"], endpoint: Endpoint, base: Face["watch"]) {
    const servers = yield* reached(caller, endpoint)
    const instructions = endpoint.kind === "server" ? servers[0]?.server.instructions : undefined
    const made: Part = {
      ...(instructions === undefined ? {} : { instructions }),
      logs: has(servers, "logging"),
      ...(has(servers, "resources") ? { resources: resourcesOf(servers) } : {}),
      ...(has(servers, "prompts") ? { prompts: promptsOf(servers) } : {}),
      ...(has(servers, "completions") ? { complete: completeOf(servers) } : {}),
      watch: (interest, tell) => watching(caller, endpoint, servers, base, interest, tell),
    }
    return made
  })

  /** What servers say of their tools beyond what the house needs to know, by the name a tool has here; and their order. */
  const extras = (endpoint: Endpoint) => {
    const said = new Map<string, Extra>()
    for (const server of endpoint.kind === "toolset" ? [] : upstreams.servers()) {
      if (!isNamed(endpoint, server.name)) continue
      const own = endpoint.kind === "server"
      const naming = own ? ownNames : namesOf(server.name, () => [])
      for (const [at, tool] of server.tools.entries())
        said.set(naming.prompt(String(tool["name"])), { place: own ? at : 0, shown: extraOf(tool, naming) })
    }
    return (name: string): Extra => said.get(name) ?? { place: endpoint.kind === "server" ? said.size : 0, shown: {} }
  }

  return { part, known, extras }
})

const isNamed = (endpoint: Endpoint, name: string): boolean =>
  endpoint.kind === "all" || (endpoint.kind === "server" && endpoint.name === name)
