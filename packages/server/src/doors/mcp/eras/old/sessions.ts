/**
 * The sessions of old-era clients: what the client said about itself at the start, and the streams it may resume. A
 * session gives no rights: each request's token says who asks, and it must be the principal that started the session.
 * Sessions are limited in number and time, so that opening and forgetting them costs the house nothing.
 */
import { randomBytes } from "node:crypto"
import type { JsonObject, LogLevel } from "../../desk/Desk.ts"
import { EventStream } from "../../wire/eventStream.ts"
import type { Id } from "../../wire/message.ts"
import type { OldRevision } from "../../wire/revision.ts"

export const sessionLimits = {
  /** Above it, the least recently used goes first and those in use last, the principal's own before those of others. */
  most: 10_000,
  maxOfPrincipal: 1000,
  idleMs: 30 * 60_000,
  /** Ended streams that can still be requested. */
  maxEndedStreams: 4,
  /** Subscribed addresses of a session, and the characters of each. */
  maxUris: 1000,
  longestUri: 2048,
}

const standingPrefix = "g"
export const isStandingStream = (streamId: string): boolean => streamId.startsWith(standingPrefix)

export class Session {
  readonly id = randomBytes(24).toString("base64url")
  readonly owner: string
  readonly place: string
  readonly revision: OldRevision
  readonly capabilities: JsonObject
  logLevel: LogLevel = "info"
  usedAt: number
  /** Created when first needed: a session that was only opened takes a few hundred bytes. */
  #streams: Map<string, EventStream> | undefined
  #running: Map<Id, () => void> | undefined
  #asked: Map<string, (answer: RpcResponse) => void> | undefined
  #uris: Set<string> | undefined
  #made = 0
  /** Ends the standing GET stream, if there is one. */
  hangUp: (() => void) | undefined
  /** Tells the standing stream that the client is interested in other resources. */
  interestChanged: (() => void) | undefined

  constructor(owner: string, place: string, revision: OldRevision, capabilities: JsonObject, now: number) {
    this.owner = owner
    this.place = place
    this.revision = revision
    this.capabilities = capabilities
    this.usedAt = now
  }

  get busy(): boolean {
    return this.hangUp !== undefined || (this.#running?.size ?? 0) > 0
  }

  /** A standing stream is not stored: a client that comes back gets a new one. */
  newStream(standing: boolean): EventStream {
    if (standing) return new EventStream(`${standingPrefix}${++this.#made}`)
    const streams = (this.#streams ??= new Map())
    const ended = [...streams.values()].filter((it) => it.ended)
    for (const old of ended.slice(0, Math.max(0, ended.length - sessionLimits.maxEndedStreams))) streams.delete(old.id)
    const stream = new EventStream(String(++this.#made))
    streams.set(stream.id, stream)
    return stream
  }
  streamOf(id: string): EventStream | undefined {
    return this.#streams?.get(id)
  }
  get streams(): Iterable<EventStream> {
    return this.#streams?.values() ?? []
  }

  begin(id: Id, cancel: () => void): void {
    ;(this.#running ??= new Map()).set(id, cancel)
  }
  finish(id: Id): void {
    this.#running?.delete(id)
  }
  cancel(id: Id): void {
    this.#running?.get(id)?.()
  }

  /** Returns the id that the client's answer will have. */
  ask(hear: (answer: RpcResponse) => void): string {
    const id = `s${++this.#made}`
    ;(this.#asked ??= new Map()).set(id, hear)
    return id
  }
  forget(id: string): void {
    this.#asked?.delete(id)
  }
  hear(id: Id, answer: RpcResponse): void {
    const hears = this.#asked?.get(String(id))
    this.#asked?.delete(String(id))
    hears?.(answer)
  }

  get uris(): ReadonlyArray<string> {
    return [...(this.#uris ?? [])]
  }
  hasRoomFor(uri: string): boolean {
    return this.#uris === undefined || this.#uris.size < sessionLimits.maxUris || this.#uris.has(uri)
  }
  /** False if it has too many subscriptions for one more. */
  subscribe(uri: string): boolean {
    if (!this.hasRoomFor(uri)) return false
    ;(this.#uris ??= new Set()).add(uri)
    this.interestChanged?.()
    return true
  }
  unsubscribe(uri: string): void {
    this.#uris?.delete(uri)
    this.interestChanged?.()
  }

  /** Tells everything that waits for this client that it is gone. */
  close(): void {
    this.hangUp?.()
    for (const stream of this.streams) stream.end()
    for (const hears of this.#asked?.values() ?? []) hears({ error: "the session has ended" })
    this.#asked = undefined
  }
}

export type RpcResponse = { readonly result: JsonObject } | { readonly error: unknown }

/** The one unused for longest. A session with a stream or a call is in use, and is chosen only if all are. */
const longestIdle = (sessions: ReadonlyMap<string, Session>): Session => {
  for (const session of sessions.values()) if (!session.busy) return session
  return sessions.values().next().value!
}

export class Sessions {
  /** In the order of their last use. */
  readonly #all = new Map<string, Session>()
  readonly #byOwner = new Map<string, Map<string, Session>>()

  get size(): number {
    return this.#all.size
  }

  open(owner: string, place: string, revision: OldRevision, capabilities: JsonObject, now: number): Session {
    const session = new Session(owner, place, revision, capabilities, now)
    let own = this.#byOwner.get(owner)
    if (own === undefined) this.#byOwner.set(owner, (own = new Map()))
    if (own.size >= sessionLimits.maxOfPrincipal) this.drop(longestIdle(own))
    if (this.#all.size >= sessionLimits.most) this.drop(longestIdle(this.#all))
    if (own.size === 0) this.#byOwner.set(owner, own)
    own.set(session.id, session)
    this.#all.set(session.id, session)
    return session
  }

  /** A session of another principal or endpoint counts as missing. */
  find(id: string, owner: string, place: string, now: number): Session | undefined {
    const session = this.#all.get(id)
    if (session === undefined || session.owner !== owner || session.place !== place) return undefined
    session.usedAt = now
    this.#all.delete(id)
    this.#all.set(id, session)
    const own = this.#byOwner.get(owner)!
    own.delete(id)
    own.set(id, session)
    return session
  }

  drop(session: Session): void {
    this.#all.delete(session.id)
    const own = this.#byOwner.get(session.owner)
    own?.delete(session.id)
    if (own?.size === 0) this.#byOwner.delete(session.owner)
    session.close()
  }

  /** Removes sessions that were idle for too long. */
  sweep(now: number): void {
    for (const session of this.#all.values()) {
      // In order of use: the rest is younger.
      if (now - session.usedAt < sessionLimits.idleMs) return
      if (session.busy) this.find(session.id, session.owner, session.place, now)
      else this.drop(session)
    }
  }
}
