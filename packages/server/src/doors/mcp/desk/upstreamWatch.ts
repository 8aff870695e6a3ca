/** Tells clients of changes of what servers have beside tools: those who may see the server, and of resources only whom they asked about. */
import type { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { type Offering, Upstreams } from "../../../upstreams/Upstreams.ts"
import type { Endpoint, Face, Interest } from "./Desk.ts"
import type { Reached } from "./upstreamNames.ts"

type See = (caller: Caller["Service"], endpoint: Endpoint) => Effect.Effect<ReadonlyArray<Reached>>

interface Watcher {
  readonly caller: Caller["Service"]
  readonly endpoint: Endpoint
  readonly interest: Interest
  readonly tell: (kind: "prompts" | "resources") => void
}

export const makeUpstreamWatch = Effect.fnUntraced(function* (see: See) {
  const upstreams = yield* Upstreams
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const watchers = new Set<Watcher>()

  const tellOf = Effect.fnUntraced(function* ({ server, what }: Offering) {
    if (what === "resource") return
    for (const one of watchers) {
      if (!one.interest[what]) continue
      const { caller, endpoint } = one
      const sees = yield* see(caller, endpoint)
      const there = upstreams.servers().some(({ id }) => id === server)
      // One that has just gone is seen by nobody any more: whoever might have seen it looks again.
      if (!there || sees.some((it) => it.server.id === server)) one.tell(what)
    }
  })
  yield* upstreams.onOffer((offering) => void run(Effect.ignoreCause(tellOf(offering))))

  return Effect.fnUntraced(function* (
    caller: Caller["Service"],
    endpoint: Endpoint,
    servers: ReadonlyArray<Reached>,
    base: Face["watch"],
    interest: Parameters<Face["watch"]>[0],
    tell: Parameters<Face["watch"]>[1],
  ) {
    const tools = yield* base(interest, tell)
    if (endpoint.kind === "toolset") return tools
    const stops: Array<() => void> = [tools.stop]
    const one: Watcher = { caller, endpoint, interest, tell: (kind) => tell({ kind }) }
    watchers.add(one)
    stops.push(() => void watchers.delete(one))
    const honoured: Array<string> = []
    for (const { naming, server } of servers) {
      const mine = interest.uris.flatMap((uri) => naming.ownUri(uri) ?? [])
      if (mine.length === 0 || server.capabilities["resources"] === undefined) continue
      honoured.push(...mine.map(naming.uri))
      const told = (uri: string) => tell({ kind: "resource", uri: naming.uri(uri) })
      stops.push(yield* server.watch(mine, told))
    }
    return {
      honoured: { ...tools.honoured, prompts: interest.prompts, resources: interest.resources, uris: honoured },
      stop: () => {
        for (const stop of stops) stop()
      },
    }
  })
})
