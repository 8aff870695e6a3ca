/**
 * What a server has besides tools: resources, templates, prompts. Its lists are cached here, so that listing waits for
 * no server. Watchers of resources are counted here, so that a shared connection watches the union and each watcher is
 * told only about its own.
 */
import type { MCPConnection, MCPDroppedItem } from "@stoa/tools"
import { Context, Deferred, Effect, Scope } from "effect"
import { monotonicMillis } from "../../store/Moment.ts"
import { tellLeftOut } from "../tools/leftOut.ts"
import { beginLog } from "../connections/logLevel.ts"

export type JsonObject = Readonly<Record<string, unknown>>

export interface Lists {
  readonly resources: ReadonlyArray<JsonObject>
  readonly templates: ReadonlyArray<JsonObject>
  readonly prompts: ReadonlyArray<JsonObject>
}

/** A list has changed, or one resource has new contents. */
export type ContentsChange =
  | { readonly what: "resources" | "prompts"; readonly server: string }
  | { readonly what: "resource"; readonly server: string; readonly uri: string }

const nothing: Lists = { resources: [], templates: [], prompts: [] }
/** The lists of a server that never reports changes are reloaded on demand after this time. */
const staleMs = 5000
/** How long to wait for a server to list. */
const patienceMs = 2000
/** Watched resources per server, over all callers. */
const maxWatched = 1000

interface Watcher {
  readonly uris: ReadonlySet<string>
  readonly tell: (uri: string) => Effect.Effect<void>
}

const has = (capabilities: JsonObject, key: string): boolean => capabilities[key] !== undefined
const tells = (capabilities: JsonObject, key: string): boolean =>
  (capabilities[key] as { readonly listChanged?: boolean } | undefined)?.listChanged === true

/** The lists of one server. Created when it is added, filled when it is connected. */
export class ContentLists {
  lists: Lists = nothing
  /** Listed things that no client could read, and why. */
  dropped: Readonly<Record<keyof Lists, ReadonlyArray<MCPDroppedItem>>> = { resources: [], templates: [], prompts: [] }
  capabilities: JsonObject = {}
  instructions: string | undefined
  era: "legacy" | "modern" = "modern"
  readonly watchers = new Set<Watcher>()
  connection: MCPConnection | undefined
  loadedAt = -Infinity
  loading: Deferred.Deferred<void> | undefined
  loadingSince = 0
  #wanted = ""

  /** Whether the set of watched resources has changed; if so, the new set. */
  wanted(again: boolean): ReadonlyArray<string> | undefined {
    const uris = [...new Set([...this.watchers].flatMap((one) => [...one.uris]))].toSorted().slice(0, maxWatched)
    const text = uris.join("\n")
    if (text === this.#wanted && !(again && uris.length > 0)) return undefined
    this.#wanted = text
    return uris
  }
}

export const makeOfferings = Effect.fnUntraced(function* () {
  const scope = yield* Effect.scope
  const run = Effect.runForkWith(Context.empty())
  const hearers = new Set<(offering: ContentsChange) => void>()
  let version = 0

  const tell = (offering: ContentsChange) => {
    version++
    for (const hear of hearers) hear(offering)
  }

  const tellAll = (server: string, { lists: { prompts, resources, templates } }: ContentLists) => {
    version++
    if (resources.length + templates.length > 0) tell({ what: "resources", server })
    if (prompts.length > 0) tell({ what: "prompts", server })
  }

  const load = Effect.fnUntraced(function* (server: string, contents: ContentLists) {
    const { capabilities, connection } = contents
    if (connection === undefined) return
    // If a list cannot be loaded, the last one stays.
    const before = contents.lists
    const said = contents.dropped
    const list = (method: Parameters<MCPConnection["listAll"]>[0], capability: string, key: keyof Lists) =>
      has(capabilities, capability)
        ? Effect.match(connection.listAll(method), {
            onSuccess: (listed) => listed,
            onFailure: () => ({ items: before[key], dropped: said[key] }),
          })
        : Effect.succeed({ items: [], dropped: [] })
    const [resources, templates, prompts] = yield* Effect.all(
      [
        list("resources/list", "resources", "resources"),
        list("resources/templates/list", "resources", "templates"),
        list("prompts/list", "prompts", "prompts"),
      ],
      { concurrency: "unbounded" },
    )
    // Disconnected, or another connection, meanwhile.
    if (contents.connection !== connection) return
    contents.loadedAt = yield* monotonicMillis
    contents.lists = { resources: resources.items, templates: templates.items, prompts: prompts.items }
    contents.dropped = { resources: resources.dropped, templates: templates.dropped, prompts: prompts.dropped }
    yield* tellLeftOut(connection.name, Object.values(said).flat(), Object.values(contents.dropped).flat())
    const differs = (...keys: ReadonlyArray<keyof Lists>) =>
      keys.some((key) => JSON.stringify(before[key]) !== JSON.stringify(contents.lists[key]))
    if (differs("resources", "templates")) tell({ what: "resources", server })
    if (differs("prompts")) tell({ what: "prompts", server })
  })

  /** One load at a time; others wait for it. */
  const loaded = (server: string, contents: ContentLists): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (contents.loading !== undefined) return Deferred.await(contents.loading)
      const done = Deferred.makeUnsafe<void>()
      contents.loading = done
      const begun = Effect.map(monotonicMillis, (now) => void (contents.loadingSince = now))
      return Effect.andThen(begun, load(server, contents)).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            contents.loading = undefined
            Deferred.doneUnsafe(done, Effect.void)
          }),
        ),
        Effect.forkIn(scope),
        Effect.andThen(Deferred.await(done)),
      )
    })

  const applied = (contents: ContentLists, again: boolean) =>
    Effect.suspend(() => {
      const { connection } = contents
      const uris = connection === undefined ? undefined : contents.wanted(again)
      return uris === undefined ? Effect.void : Effect.ignore(connection!.watch(uris))
    })

  return {
    version: () => version,
    /** The server has connected, perhaps again. */
    connected: Effect.fnUntraced(function* (server: string, contents: ContentLists, connection: MCPConnection) {
      const details = yield* Effect.option(connection.details)
      if (details._tag === "None") return
      const { capabilities, era, instructions } = details.value
      Object.assign(contents, { connection, capabilities, era, instructions })
      version++
      const log = has(capabilities, "logging") && era === "legacy" ? beginLog(connection) : Effect.void
      yield* Effect.forkIn(Effect.all([loaded(server, contents), applied(contents, true), log]), scope)
    }),
    /** No longer shown. Its lists are kept, because it may be started again. */
    gone: (server: string, contents: ContentLists) => {
      Object.assign(contents, { connection: undefined, loadedAt: -Infinity })
      tellAll(server, contents)
    },
    /** Shown again, while it is connecting. */
    expected: tellAll,
    heard: (
      server: string,
      contents: ContentLists,
      { uri, what }: { readonly what: string; readonly uri?: string },
    ) => {
      if (what !== "resource") return Effect.asVoid(loaded(server, contents))
      if (uri === undefined) return Effect.void
      const those = [...contents.watchers].filter(({ uris }) => uris.has(uri))
      return Effect.forEach(those, ({ tell }) => tell(uri), { discard: true })
    },
    /** Waits until the lists are as current as possible: at once if the server reports changes. */
    fresh: (server: string, contents: ContentLists): Effect.Effect<void> =>
      Effect.flatMap(monotonicMillis, (now) => {
        const { capabilities, connection, loadedAt } = contents
        const quiet = (key: string) => !has(capabilities, key) || tells(capabilities, key)
        const known = loadedAt !== -Infinity && quiet("resources") && quiet("prompts")
        const late = contents.loading !== undefined && now - contents.loadingSince > patienceMs
        if (connection === undefined || late || (contents.loading === undefined && (known || now - loadedAt < staleMs)))
          return Effect.void
        return Effect.asVoid(Effect.timeoutOption(loaded(server, contents), patienceMs))
      }),
    watch: Effect.fnUntraced(function* (
      contents: ContentLists,
      uris: ReadonlyArray<string>,
      hear: (uri: string) => Effect.Effect<void>,
    ) {
      const one: Watcher = { uris: new Set(uris), tell: hear }
      contents.watchers.add(one)
      yield* applied(contents, false)
      return () => {
        contents.watchers.delete(one)
        run(Effect.forkIn(applied(contents, false), scope))
      }
    }),
    onOffer: (hear: (offering: ContentsChange) => void): Effect.Effect<void, never, Scope.Scope> =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => hearers.add(hear)),
          () => Effect.sync(() => hearers.delete(hear)),
        ),
      ),
  }
})
