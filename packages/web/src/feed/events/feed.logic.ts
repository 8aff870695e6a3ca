/**
 * What an event changes in the cache: `(event, me) => changes`, total over the kinds of the contract. A new kind does not
 * compile until its cell is filled.
 */
import type { EventKind } from "@stoa/contract"
import type { FeedEvent } from "@stoa/sdk"
import { keys } from "../cache.ts"
import { asDeleted, type LoadedMessages, withReaction, withChanged, withPosted } from "../messages.logic.ts"
import type { Message, Space, Start } from "../types.ts"

export type Change =
  | { readonly do: "write"; readonly key: ReadonlyArray<string>; readonly with: (old: never) => unknown }
  /** Reload it now if it is on screen, otherwise when it is next shown. */
  | { readonly do: "stale"; readonly key: ReadonlyArray<string> }
  /** The event says which one; the house is asked for its present state. */
  | { readonly do: "decision" | "space"; readonly id: string }
  /** What the user may see has changed: reload everything. */
  | { readonly do: "restart" }

type Of<K extends EventKind> = Extract<FeedEvent, { readonly kind: K }>
type Cell<K extends EventKind> = (event: Of<K>, me: string) => ReadonlyArray<Change>

const nothing = () => []
const stale = (...key: ReadonlyArray<string>): Change => ({ do: "stale", key })

const start = (change: (old: Start) => Start): Change => ({
  do: "write",
  key: keys.start,
  with: (old: Start | undefined) => old && change(old),
})
const inSpaces = (id: string | null, change: (space: Space) => Space): Change =>
  start((old) => ({ ...old, spaces: old.spaces.map((one) => (one.id === id ? change(one) : one)) }))
const inMessages = (space: string | null, change: (loaded: LoadedMessages) => LoadedMessages): ReadonlyArray<Change> =>
  space === null
    ? []
    : [{ do: "write", key: keys.messages(space), with: (old: LoadedMessages | undefined) => old && change(old) }]
const onMessage = (space: string | null, id: string, change: (message: Message) => Message) =>
  inMessages(space, (loaded) => withChanged(loaded, id, change))

/** Its thread is a separate list. */
const thread = (message: Message): ReadonlyArray<Change> => (message.replyTo === null ? [] : [stale("thread")])

const said: Cell<"message.created"> = ({ body, space }, me) => {
  const { message } = body
  return [
    ...inMessages(space, (loaded) => withPosted(loaded, message)),
    ...thread(message),
    inSpaces(space, (one) =>
      message.seq <= one.lastSeq
        ? one
        : { ...one, lastSeq: message.seq, unread: message.author.id === me ? one.unread : one.unread + 1 },
    ),
  ]
}
const changed = ({
  body,
  space,
}: Of<"message.changed" | "message.settled" | "message.edited">): ReadonlyArray<Change> => [
  ...onMessage(space, body.message.id, () => body.message),
  ...thread(body.message),
]

/** Every card with this id, wherever it is drawn. */
const decided = ({ body }: { readonly body: { readonly decision: string } }): ReadonlyArray<Change> => [
  { do: "decision", id: body.decision },
  stale(...keys.answered),
]
const ofMine = ({ body }: { readonly body: { readonly principal: string } }, me: string): ReadonlyArray<Change> =>
  body.principal === me ? [{ do: "restart" }] : []
/** A tool may name an agent that was missing. */
const people = () => [stale(...keys.people), stale("tools", "one")]
/** What tools, agents and models lack may be there now, or gone. */
const secrets = () => [stale("secrets"), stale("tools", "one"), stale(...keys.people, "agent"), stale("models")]
const servers = () => [stale("servers"), stale("tools")]
const memory = () => [stale("memory")]
const runs = ({ body }: { readonly body: { readonly run: string } }) => [
  stale(...keys.runLists),
  stale(...keys.run(body.run)),
]
const calls = ({ body }: { readonly body: { readonly run?: { readonly id: string } } }) => [
  stale("calls"),
  ...(body.run === undefined ? [] : [stale(...keys.run(body.run.id))]),
]

const cells: { readonly [K in EventKind]: Cell<K> } = {
  "house.started": nothing,
  "house.reloaded": () => [{ do: "restart" }],
  "house.accepted": () => [stale("doctor")],
  "demo.changed": ({ body }) => [stale("demo"), ...(body.step === null ? [{ do: "restart" } as const] : [])],
  "house.backed-up": () => [stale("figures")],
  "principal.added": people,
  "principal.changed": (event, me) => [...people(), ...ofMine(event, me)],
  "principal.retired": (event, me) => [...people(), ...ofMine(event, me)],
  "token.issued": () => [stale("tokens")],
  "token.revoked": (event, me) => [stale("tokens"), ...ofMine(event, me)],
  "grant.added": (event, me) => [stale("grants"), ...ofMine(event, me)],
  "grant.revoked": (event, me) => [stale("grants"), ...ofMine(event, me)],
  "delegation.added": (event, me) => [stale("grants"), ...ofMine(event, me)],
  "delegation.revoked": (event, me) => [stale("grants"), ...ofMine(event, me)],
  "allow-list.changed": () => [stale("tools"), stale("allow-lists")],
  "secret.set": secrets,
  "secret.removed": secrets,
  "access.denied": () => [stale("audit")],
  "space.added": ({ body }) => [{ do: "space", id: body.space }],
  "space.changed": ({ body }) => [{ do: "space", id: body.space }],
  "member.added": ({ body }) => [{ do: "space", id: body.space }],
  "member.removed": ({ body }) => [{ do: "space", id: body.space }],
  "message.created": said,
  "message.changed": changed,
  "message.settled": changed,
  "message.edited": changed,
  "message.deleted": ({ at, body, space }) => [
    ...onMessage(space, body.message, (one) => asDeleted(one, at)),
    stale("thread"),
  ],
  "message.pinned": ({ body, space }) => onMessage(space, body.message, (one) => ({ ...one, pinned: body.pinned })),
  "reaction.added": ({ body, space }) =>
    onMessage(space, body.message, (one) => withReaction(one, body.emoji, body.by, true)),
  "reaction.removed": ({ body, space }) =>
    onMessage(space, body.message, (one) => withReaction(one, body.emoji, body.by, false)),
  "space.read": ({ body }, me) =>
    body.principal === me
      ? [inSpaces(body.space, (one) => ({ ...one, unread: Math.max(0, Math.min(one.unread, one.lastSeq - body.seq)) }))]
      : [],
  "tool.added": servers,
  "tool.changed": servers,
  "tool.removed": servers,
  "memory.written": memory,
  "memory.deleted": memory,
  "memory.erased": memory,
  "memory.shared": memory,
  "memory.answered": memory,
  "call.received": calls,
  "call.waiting": calls,
  "call.settled": calls,
  "run.queued": runs,
  "run.started": runs,
  "run.stepped": runs,
  "run.waiting": runs,
  "run.resumed": runs,
  "run.entered": runs,
  "run.retried": runs,
  "run.ended": runs,
  "decision.asked": decided,
  "decision.escalated": decided,
  "decision.approved": decided,
  "decision.answered": decided,
  "decision.expired": decided,
  "decision.canceled": decided,
  "approval.given": () => [stale(...keys.approvals)],
  "approval.revoked": () => [stale(...keys.approvals)],
  "pause.set": () => [stale("pauses")],
  "pause.lifted": () => [stale("pauses")],
  "server.added": servers,
  "server.tried": nothing,
  "server.changed": servers,
  "server.removed": servers,
  "server.connected": servers,
  "server.disconnected": servers,
  "server.tool-held": servers,
  "server.tool-accepted": servers,
  "resource.read": nothing,
  "resource.subscribed": nothing,
  "prompt.got": nothing,
  "completion.got": nothing,
  "client.connected": () => [stale("clients")],
  "host.declared": servers,
  "host.removed": servers,
  "host.connected": servers,
  "host.disconnected": servers,
  "timer.fired": nothing,
}

/** A newer house may send an unknown kind: then nothing changes. */
export const changesOf = (event: FeedEvent, me: string): ReadonlyArray<Change> => {
  const cell = cells[event.kind] as Cell<EventKind> | undefined
  return cell === undefined ? [] : cell(event, me)
}
