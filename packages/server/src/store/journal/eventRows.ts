/** Events as rows of the journal, and back: always in the newest format, whichever one they were written in. Pure. */
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
}

export const encoders = {
  ...(Object.fromEntries(
    Object.entries(kinds).map(([kind, { body }]) => [
      kind,
      Schema.encodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Schema.Struct(body)))),
    ]),
  ) as Record<EventKind, (body: unknown) => string>),
  // The most frequent ones are plain JSON already: there is nothing to encode.
  "call.received": JSON.stringify,
  "call.settled": JSON.stringify,
}

// By kind: a union would try one after the other.
const decoders = Object.fromEntries(
  Object.entries(eventSchemas).map(([kind, schema]) => [kind, Schema.decodeUnknownSync(Schema.toCodecJson(schema))]),
) as unknown as Record<EventKind, (row: unknown) => Event>
/** What was written without being encoded, and by us, is read the same way. */
const plain = (row: EventRow & { readonly cursor: number }): Event =>
  ({
    cursor: row.cursor,
    kind: row.kind,
    version: row.version,
    at: DateTime.makeUnsafe(row.at),
    space: row.space,
    actor: row.actor,
    provenance: row.provenance,
    correlationId: row.correlationId,
    body: JSON.parse(row.body) as unknown,
  }) as Event
/** Whoever reads has the newest format, whichever it was written in. */
export const eventFrom = (row: EventRow & { readonly cursor: number }): Event => {
  const version = eventVersion(row.kind)
  if (row.version === version && (row.kind === "call.received" || row.kind === "call.settled")) return plain(row)
  const body = upgradedBody(row.kind, row.version, JSON.parse(row.body))
  return decoders[row.kind]({ ...row, version, body })
}
