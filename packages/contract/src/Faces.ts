/** The seeds' names for our events: each event has one source, and a face only renames it. */
import { Schema } from "effect"
import type { Delta } from "./Delta.ts"
import type { Event, EventKind } from "./Event.ts"
import { withoutPrefix } from "./Ids.ts"

/** The seeds' names for our events, by face (X-45): each event has one source, and a face only renames it. */
export const faces = {
  office: {
    "message.created": "message_created",
    "message.edited": "message_updated",
    "message.deleted": "message_deleted",
    "reaction.added": "reaction_added",
    "reaction.removed": "reaction_removed",
    typing: "agent_typing",
    "run.started": "agent_typing",
    "run.ended": "agent_done",
  },
  gateway: {
    "message.created": "smartSpace.message",
    typing: "agent.active",
    "call.input": "tool-input-delta",
    "run.started": "agent.active",
    "run.ended": "agent.inactive",
  },
  skills: { "access.denied": "identity.access-denied" },
  team: { "message.created": "message.enqueued" },
} as const satisfies Record<string, Partial<Record<EventKind | Delta["kind"], string>>>
export const FaceName = Schema.Literals(["office", "gateway", "skills", "team"])
export type FaceName = typeof FaceName.Type

export const nameOn = (face: FaceName | undefined, kind: string): string =>
  (face === undefined ? undefined : (faces[face] as Record<string, string | undefined>)[kind]) ?? kind

/** Seeds 001 and 004 name the outcome of a call; the house has one event for its message and one for its end. */
export const nameOfEvent = (face: FaceName | undefined, event: Event): string => {
  if (face === "gateway" && (event.kind === "message.created" || event.kind === "message.settled")) {
    const { call } = event.body.message
    if (call !== null)
      return "error" in call ? "tool-call.error" : "output" in call ? "tool-call.complete" : "tool-call.start"
  }
  if (face === "gateway" && event.kind === "run.waiting") return `run.${event.body.state}`
  if (face === "skills" && event.kind === "call.settled")
    return event.body.state === "done" ? "tools.executed" : "tools.failed"
  return nameOn(face, event.kind)
}

/**
 * A call that begins in a space: its input is complete, so it is one delta, after the beginning (S1-69, S1-70). What a
 * model writes of a call that is not made yet is part of its output, like its text: it may be written again, or never be
 * made.
 */
export const inputOf = (event: Event): Delta | undefined => {
  if (event.kind !== "message.created") return undefined
  const { call } = event.body.message
  if (call === null || "output" in call || "error" in call) return undefined
  const { actor, at, space } = event
  const { run } = event.body
  const whose = { call: call.id, tool: call.tool, ...(run === undefined ? {} : { run }) }
  return { kind: "call.input", at, space, actor, body: { ...whose, delta: JSON.stringify(call.input) } }
}

/** The faces of toolsets whose tools return a message's id without its prefix: there it has this one form everywhere. */
const bareFaces = new Set<FaceName | undefined>(["office", "gateway", "team"])

interface WireMessage {
  readonly id: string
  readonly replyTo: string | null
  readonly origin: unknown
}

/** Where its author was names a message, too: the one that woke it. */
const originOn = (origin: unknown) => {
  const { message } = (origin ?? {}) as { readonly message?: unknown }
  return typeof message === "string" ? { ...(origin as object), message: withoutPrefix(message) } : origin
}

/** A message on the wire, with its ids as the tools of a face give them. */
export const wireMessageOn = <A extends WireMessage>(face: FaceName | undefined, message: A): A =>
  bareFaces.has(face)
    ? {
        ...message,
        id: withoutPrefix(message.id),
        replyTo: message.replyTo === null ? null : withoutPrefix(message.replyTo),
        origin: originOn(message.origin),
      }
    : message

/** An event on the wire: what it says of a message, or which message it is about. */
export const wireEventOn = (face: FaceName | undefined, event: Readonly<Record<string, unknown>>) => {
  const body = event["body"] as { readonly message?: string | WireMessage | null }
  if (!bareFaces.has(face) || body.message == null) return event
  const message = typeof body.message === "string" ? withoutPrefix(body.message) : wireMessageOn(face, body.message)
  return { ...event, body: { ...body, message } }
}
