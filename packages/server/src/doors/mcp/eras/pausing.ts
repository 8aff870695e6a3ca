/**
 * The kill switch over whatever of a face is no call: resources, prompts and completions, of servers and of toolsets. Judged
 * as calls are, when it is asked for and for as long as it takes.
 */
import type { Caller } from "@stoa/contract"
import { MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import { Pauses, pausedBy, pausedMessage } from "../../../access/limits/Pauses.ts"
import { rightsBell } from "../../../access/rights/Rights.ts"
import type { UpstreamServer } from "../../../upstreams/Upstreams.ts"
import type { Endpoint, Face, Listed } from "../desk/Desk.ts"
import { codes, Fault, invalidParams } from "../wire/Fault.ts"
import { namesOf } from "../desk/upstreamNames.ts"

/** Where nothing is left but what is paused. */
const nothing: Required<Pick<Face, "resources" | "prompts" | "complete">> = {
  resources: {
    subscribable: false,
    watchable: () => Effect.succeed(false),
    list: () => Effect.succeed({ items: [] }),
    templates: () => Effect.succeed({ items: [] }),
    read: () => Effect.succeed(undefined),
  },
  prompts: {
    list: () => Effect.succeed({ items: [] }),
    get: (name) => Effect.fail(invalidParams(`Unknown prompt: ${name}`)),
  },
  complete: () => Effect.fail(invalidParams("ref names nothing that is here")),
}

export const makePausing = Effect.gen(function* () {
  const pauses = yield* Pauses
  const bell = yield* rightsBell

  /** Fails for whoever is stopped now, or cannot reach this server because that is. */
  const check = ({ principal }: Caller["Service"], method: string, server?: string): Effect.Effect<void, MCPRefused> =>
    Effect.flatMap(pauses.now, (paused) => {
      const subject = pausedBy(paused, { principal, server })
      if (subject === undefined) return Effect.void
      const data = { tag: "ToolAuthorizationError", rule: `paused:${subject}` }
      return Effect.fail(new MCPRefused(codes.internal, pausedMessage(method, subject, principal), data))
    })

  /** Not begun for whoever is stopped, and ended when they are. */
  const unlessPaused = <A, E>(
    it: Effect.Effect<A, E>,
    ...asked: Parameters<typeof check>
  ): Effect.Effect<A, E | MCPRefused> => {
    const stopped: Effect.Effect<never, MCPRefused> = Effect.suspend(() => {
      const heard = bell.rung
      return Effect.andThen(check(...asked), bell.waitPast(heard))
    }).pipe(Effect.forever)
    return Effect.andThen(check(...asked), Effect.raceFirst(it, stopped))
  }

  /** A server as this caller reaches it: no request goes out past the switch. */
  const server = (caller: Caller["Service"], it: UpstreamServer): UpstreamServer => ({
    ...it,
    fresh: Effect.ignore(Effect.andThen(check(caller, "list", it.name), it.fresh)),
    exchange: (method, ...rest) =>
      Effect.andThen(
        check(caller, method, it.name),
        Effect.suspend(() => it.exchange(method, ...rest)),
      ),
    converse: (name, method, ...rest) =>
      Effect.andThen(
        check(caller, method, it.name),
        Effect.suspend(() => it.converse(name, method, ...rest)),
      ),
  })

  /** Those of the servers that are paused: they have nothing to show, and whoever asks them is told why. */
  const stopped = (caller: Caller["Service"], servers: ReadonlyArray<{ readonly name: string }>) =>
    Effect.map(pauses.at(caller.epoch), (paused) =>
      servers.flatMap(({ name }) => (paused.has(`servers/${name.toLowerCase()}`) ? [name] : [])),
    )

  /** A face behind the switch, with the paused servers of this endpoint. */
  const face = (caller: Caller["Service"], endpoint: Endpoint, away: ReadonlyArray<string>, inner: Face): Face => {
    const whole = away.length === 0 ? inner : { ...nothing, ...inner }
    const { complete, prompts, resources } = whole
    const here = endpoint.kind === "server" ? endpoint.name : undefined
    const serverOf = (key: "ownUri" | "ownPrompt", text: string) => here ?? namedAt(endpoint, away, key, text)?.server
    const open = <A>(method: string, server: string | undefined, it: Effect.Effect<A, Fault>) =>
      Effect.mapError(unlessPaused(it, caller, method, server), (error) =>
        error._tag === "MCPRefused" ? new Fault(error.code, error.message, error.data) : error,
      )
    const list =
      (method: string, page: (cursor: string | undefined) => Effect.Effect<Listed, Fault>) =>
      (cursor: string | undefined) =>
        open(method, here, page(cursor))
    return {
      ...whole,
      ...(resources && {
        resources: {
          ...resources,
          list: list("resources/list", resources.list),
          templates: list("resources/templates/list", resources.templates),
          read: (uri, line) => open("resources/read", serverOf("ownUri", uri), resources.read(uri, line)),
        },
      }),
      ...(prompts && {
        prompts: {
          list: list("prompts/list", prompts.list),
          get: (name, given, line) => open("prompts/get", serverOf("ownPrompt", name), prompts.get(name, given, line)),
        },
      }),
      ...(complete && {
        complete: (params) => {
          const { name, uri } = params["ref"] as { readonly name?: unknown; readonly uri?: unknown }
          const server = typeof name === "string" ? serverOf("ownPrompt", name) : serverOf("ownUri", String(uri))
          return open("completion/complete", server, complete(params))
        },
      }),
    }
  }

  return { server, stopped, face }
})

/** The server among these that a name at this endpoint speaks of, and its own name for it. Tools and prompts are named alike. */
export const namedAt = (
  endpoint: Endpoint,
  servers: ReadonlyArray<string>,
  key: "ownUri" | "ownPrompt",
  text: string,
): { readonly server: string; readonly own: string } | undefined => {
  for (const server of servers) {
    const own = endpoint.kind === "server" ? text : namesOf(server, () => [])[key](text)
    if (own !== undefined) return { server, own }
  }
  return undefined
}
