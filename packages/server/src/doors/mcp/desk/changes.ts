/** Tells a client when its list of tools has changed, because of the catalogue or of its own rights. */
import type { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../../../access/identity/Tokens.ts"
import { followRights, rightsEpoch } from "../../../access/rights/Rights.ts"
import { Catalogue, type ToolScope as Shown } from "../../../calls/catalogue/Catalogue.ts"
import type { EndpointView } from "./Desk.ts"

interface Watcher {
  readonly caller: Caller["Service"]
  readonly shown: Shown
  readonly tell: () => void
  /** The list as last seen, as one text. */
  seen: string
}

export const makeChanges = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const tokens = yield* Tokens
  const epochNow = yield* rightsEpoch
  const watchers = new Set<Watcher>()
  let epoch = -1
  let version = -1

  const seenBy = Effect.fnUntraced(
    function* (caller: Caller["Service"], shown: Shown) {
      const found = yield* catalogue.list(yield* tokens.renewCaller(caller), shown)
      return found
        .map(({ tool }) => `${tool.definition.name} ${tool.fingerprint}`)
        .toSorted()
        .join("\n")
    },
    Effect.orElseSucceed(() => ""),
  )

  /** One check for all watchers, after any event. */
  const look = Effect.gen(function* () {
    const [nowEpoch, nowVersion] = [yield* epochNow(), catalogue.version()]
    if (nowEpoch === epoch && nowVersion === version) return
    epoch = nowEpoch
    version = nowVersion
    for (const one of watchers) {
      const seen = yield* seenBy(one.caller, one.shown)
      if (seen === one.seen) continue
      one.seen = seen
      one.tell()
    }
  })

  yield* followRights({ name: "watching the tools of MCP clients", wanted: () => watchers.size > 0, hear: look })
  // Changes of servers' tools are not in the journal.
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const stop = catalogue.onChange(() => {
    if (watchers.size > 0) runFork(Effect.ignoreCause(look))
  })
  yield* Effect.addFinalizer(() => Effect.sync(stop))

  return Effect.fnUntraced(function* (
    caller: Caller["Service"],
    shown: Shown,
    interest: Parameters<EndpointView["watch"]>[0],
    tell: Parameters<EndpointView["watch"]>[1],
  ) {
    const honoured = { tools: interest.tools, prompts: false, resources: false, uris: [], tasks: [] }
    if (!interest.tools) return { honoured, stop: () => {} }
    const one: Watcher = { caller, shown, tell: () => tell({ kind: "tools" }), seen: yield* seenBy(caller, shown) }
    watchers.add(one)
    return { honoured, stop: () => void watchers.delete(one) }
  })
})
