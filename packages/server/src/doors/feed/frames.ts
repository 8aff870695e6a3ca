/** Events as server-sent frames. A frame is built once and written to everybody who may see it. */
import { Delta, Event, type FaceName, inputOf, nameOfEvent, nameOn, wireEventOn } from "@stoa/contract"
import { Schema } from "effect"

const encodeEvent = Schema.encodeSync(Schema.toCodecJson(Event))
const encodeDelta = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Delta)))

export const eventFrame = (event: Event, face: FaceName | undefined): string => {
  const input = inputOf(event)
  const own = frame(
    event.cursor,
    nameOfEvent(face, event),
    JSON.stringify(wireEventOn(face, encodeEvent(event) as never)),
  )
  return input === undefined ? own : own + deltaFrame(input, face)
}

/** No id: a delta is not a position to resume from. */
export const deltaFrame = (delta: Delta, face: FaceName | undefined): string =>
  `event: ${nameOn(face, delta.kind)}\ndata: ${encodeDelta(delta)}\n\n`

const frame = (cursor: number, name: string, data: string): string => `id: ${cursor}\nevent: ${name}\ndata: ${data}\n\n`

/**
 * Proxies and clients see at once that the stream is open, and its cursor: if it breaks before an event, it resumes
 * here.
 */
export const openFrame = (cursor: number): string => `: stoa\nid: ${cursor}\n\n`

export const heartbeat = ": heartbeat\n\n"

/** The stream's position is lost: the client must reload everything. The stream continues at `from`. */
export const reloadFrame = (from: number, reason: string): string =>
  `id: ${from}\nevent: reload\ndata: ${JSON.stringify({ cursor: from, reason })}\n\n`

/** The last frame of a stream that the house closes. */
export const closeFrame = (reason: string): string => `event: close\ndata: ${JSON.stringify({ reason })}\n\n`
