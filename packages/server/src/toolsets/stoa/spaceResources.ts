/**
 * Each space that a caller may read, as an MCP resource with subscriptions: `stoa://spaces/<id>`. With it any MCP
 * client can take part: it is notified of a message, and reads it.
 */
import { type Ambiguous, Caller, type Event, type Forbidden, type Message, type Missing } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { Messages } from "../../spaces/messages/Messages.ts"
import { Spaces } from "../../spaces/Spaces.ts"
import { Journal } from "../../store/journal/Journal.ts"
import type { Contents } from "../../servers/contents/Contents.ts"

/** Reading a resource is reading a space with this tool. */
export const readingTool = "read_messages"
const prefix = "stoa://spaces/"
const mediaType = "application/json"
/** How many messages one read returns. */
const shown = 50
const spoken = ["message.created", "message.edited", "message.deleted", "message.settled"] as const

const line = ({ author, call, createdAt, id, replyTo, seq, text }: Message) => ({
  id,
  seq,
  author: { id: author.id, name: author.name, kind: author.kind },
  text,
  ...(call === null ? {} : { call }),
  replyTo,
  createdAt: DateTime.formatIso(createdAt),
})

interface Watcher {
  readonly caller: Caller["Service"]
  readonly spaces: ReadonlySet<string>
  readonly tell: (uri: string) => Effect.Effect<void>
}

export const makeSpaceResources = Effect.gen(function* () {
  const tokens = yield* Tokens
  const grants = yield* Grants
  const spaces = yield* Spaces
  const messages = yield* Messages
  const journal = yield* Journal
  const watchers = new Set<Watcher>()

  /** Only the caller's own spaces and public ones, even if it may see more: the list is for orientation. */
  const list = Effect.gen(function* () {
    const viewer = yield* grants.viewer("spaces")
    const { items } = yield* spaces.list(viewer, { limit: 100 }, { asMember: true })
    return items.map(({ id, name, topic }) => ({
      uri: `${prefix}${id}`,
      name,
      title: `Space ${name}`,
      description: topic ?? `What was said in ${name}, newest last`,
      mimeType: mediaType,
    }))
  }).pipe(
    Effect.tapError(grants.recordDenial),
    Effect.orElseSucceed(() => []),
  )

  const isOwn = (uri: string): boolean => uri.startsWith(prefix)

  /** Hidden, unknown, refused, or ambiguous: there is no such resource. A refusal is recorded, as at every door. */
  const ifSeen = <A>(
    it: Effect.Effect<A, Missing | Forbidden | Ambiguous, Caller>,
  ): Effect.Effect<A | undefined, never, Caller> =>
    it.pipe(
      Effect.tapErrorTag("Forbidden", grants.recordDenial),
      Effect.orElseSucceed(() => undefined),
    )

  const read = Effect.fnUntraced(function* (uri: string) {
    if (!isOwn(uri)) return undefined
    const viewer = yield* grants.viewer("spaces")
    const space = yield* spaces.get(uri.slice(prefix.length), viewer)
    const { items } = yield* messages.list(space, viewer, { limit: shown })
    const text = JSON.stringify({
      space: space.id,
      name: space.name,
      lastSeq: space.lastSeq,
      messages: items.map(line),
    })
    return { contents: [{ uri, mimeType: mediaType, text }] }
  }, ifSeen)

  const subscribe = Effect.fnUntraced(function* (uri: string) {
    if (!isOwn(uri)) return undefined
    const { id } = yield* spaces.get(uri.slice(prefix.length), yield* grants.viewer("spaces"))
    // Changes are reported by id.
    return uri === `${prefix}${id}` ? {} : undefined
  }, ifSeen)

  /** By present rights: a watcher may have been connected for a while. */
  const seenNow = (caller: Caller["Service"]): Effect.Effect<ReadonlySet<string>> =>
    tokens.renewCaller(caller).pipe(
      Effect.flatMap((now) => grants.viewerOf(now, "spaces")),
      Effect.flatMap(spaces.visibleTo),
      Effect.orElseSucceed(() => new Set<string>()),
    )

  const tellAll = Effect.fnUntraced(function* (events: ReadonlyArray<Event>) {
    const touched = new Set(events.flatMap(({ space }) => (space === null ? [] : [space])))
    for (const one of watchers) {
      const hit = [...touched].filter((space) => one.spaces.has(space))
      if (hit.length === 0) continue
      // A watcher that was removed from the space is told nothing more.
      const visible = yield* seenNow(one.caller)
      for (const space of hit) if (visible.has(space)) yield* one.tell(`${prefix}${space}`)
    }
  })

  const following = yield* journal.follow({
    name: "watching spaces",
    kinds: spoken,
    wanted: () => watchers.size > 0,
    hear: tellAll,
  })

  const watch = Effect.fnUntraced(function* (uris: ReadonlyArray<string>, tell: Watcher["tell"]) {
    const caller = yield* Caller
    const asked = uris.filter(isOwn)
    const visible = asked.length === 0 ? new Set() : yield* seenNow(caller)
    const honoured = asked.filter((uri) => visible.has(uri.slice(prefix.length)))
    if (honoured.length === 0) return { honoured, stop: () => {} }
    const one: Watcher = { caller, tell, spaces: new Set(honoured.map((uri) => uri.slice(prefix.length))) }
    yield* following.begin(() => void watchers.add(one))
    return { honoured, stop: () => void watchers.delete(one) }
  })

  return { list, isOwn, read, subscribe, watch } satisfies Contents["resources"]
})
