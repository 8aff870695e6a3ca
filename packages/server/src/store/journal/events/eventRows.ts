/** Events as rows of the journal, and back: always read in the newest format, whichever they were written in. Pure. */
import { type Event, type EventKind, eventSchemas, eventVersion, kinds, upgradedBody } from "@stoa/contract"
import { DateTime, Schema } from "effect"

export interface EventRow {
  readonly kind: EventKind
  readonly version: number
  readonly at: string
  readonly space: string | null
  readonly actor: string | null
  readonly provenance: string
  readonly correlationId: string
  readonly body: string
  /** The body before it became text, for plain JSON: readers in this process need not parse it. */
  readonly plain?: unknown
}

/** The most frequent kinds are plain JSON: there is nothing to encode or decode. */
export const plainKinds: ReadonlySet<EventKind> = new Set<EventKind>([
  "call.received",
  "call.waiting",
  "call.settled",
  "decision.asked",
  "decision.answered",
])

const encoders = Object.fromEntries(
  Object.entries(kinds).map(([kind, { body }]) => [
    kind,
    Schema.encodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Schema.Struct(body)))),
  ]),
) as Record<EventKind, (body: unknown) => string>

/** The columns of an event's kind and body. */
export const encoded = (kind: EventKind, body: unknown): Pick<EventRow, "kind" | "version" | "body" | "plain"> => {
  const version = eventVersion(kind)
  return plainKinds.has(kind)
    ? { kind, version, body: JSON.stringify(body), plain: body }
    : { kind, version, body: encoders[kind](body) }
}

// By kind: a union would try one after the other.
const decoders = Object.fromEntries(
  Object.entries(eventSchemas).map(([kind, schema]) => [kind, Schema.decodeUnknownSync(Schema.toCodecJson(schema))]),
) as unknown as Record<EventKind, (row: unknown) => Event>
/** Events that are written together have the same time. */
let latest = { text: "", at: DateTime.makeUnsafe(0) }
const momentOf = (text: string): DateTime.Utc => {
  if (text !== latest.text) latest = { text, at: DateTime.makeUnsafe(text) }
  return latest.at
}

/** Reads a body that was stored without encoding. */
const plain = (row: EventRow & { readonly cursor: number }): Event =>
  ({
    cursor: row.cursor,
    kind: row.kind,
    version: row.version,
    at: momentOf(row.at),
    space: row.space,
    actor: row.actor,
    provenance: row.provenance,
    correlationId: row.correlationId,
    body: row.plain ?? (JSON.parse(row.body) as unknown),
  }) as Event
/** Returns the newest format, whichever it was written in. */
export const eventFrom = (row: EventRow & { readonly cursor: number }): Event => {
  const version = eventVersion(row.kind)
  if (row.version === version && plainKinds.has(row.kind)) return plain(row)
  const body = upgradedBody(row.kind, row.version, JSON.parse(row.body))
  return decoders[row.kind]({ ...row, version, body })
}
