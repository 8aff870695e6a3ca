/**
 * Delivers the messages of one client to the house and its answers back, with retries: an interrupted answer is
 * resumed, a session that ended with its house is opened again, and a message is sent again under the same key.
 */
// edge: requests, streams and timers.
import { setTimeout as sleep } from "node:timers/promises"
import { eventsOf } from "../messages/events.ts"
import { type FoundHouse, type House, HouseAway } from "../house.ts"
import {
  claimOf,
  type Fields,
  type Id,
  isFields,
  lineOf,
  type Message,
  newHeaders,
  notice,
  read,
  type HeaderParameter,
  headerParametersOf,
} from "../messages/message.ts"
import { type Session, SessionRecovery } from "./sessionRecovery.ts"
import { isJson, isStream, problemLine, Wire } from "./wire.ts"

export interface Delivery {
  readonly message: Message & { readonly id: Id; readonly method: string }
  readonly signal: AbortSignal
}

interface Surroundings {
  readonly house: House
  readonly path: string
  readonly write: (line: string) => Promise<void>
  readonly say: (line: string) => void
}

/** How often a request is sent. */
const maxSendings = 5
const headerMismatch = -32020
const acknowledged = "notifications/subscriptions/acknowledged"
const changeOf: Fields = {
  toolsListChanged: "notifications/tools/list_changed",
  promptsListChanged: "notifications/prompts/list_changed",
  resourcesListChanged: "notifications/resources/list_changed",
}

/** One request in transit: the state of its attempts. */
interface Trip extends Delivery {
  /** A listener was told that it is subscribed. */
  acknowledged?: true
  /** The headers that its tool requires were looked up. */
  learned?: true
  onResult?: (result: unknown, response: Response) => void
}

export class Courier {
  readonly #around: Surroundings
  readonly #sessions = new SessionRecovery()
  readonly #wire: Wire
  readonly #wishes = new Map<string, ReadonlyArray<HeaderParameter>>()
  #renewing: Promise<void> | undefined

  constructor(around: Surroundings) {
    this.#around = around
    this.#wire = new Wire(around.house, around.path)
  }

  /** The client's own `initialize`. */
  async begin(delivery: Delivery): Promise<void> {
    await this.#end()
    this.#sessions.initialize = delivery.message
    await this.#carry({
      ...delivery,
      onResult: (result, response) => void this.#sessions.begin(response.headers.get("mcp-session-id"), result),
    })
  }

  deliver(delivery: Delivery): Promise<void> {
    if (claimOf(delivery.message) === undefined) this.#sessions.note(delivery.message)
    return this.#carry({ ...delivery })
  }

  /** A notification of the client, or its answer to a question. */
  async tell(message: Message): Promise<void> {
    const answer = message.method === undefined ? this.#sessions.answer(message) : undefined
    if (message.method === undefined && answer?.session !== this.#sessions.current)
      return this.#around.say("An answer came too late: nobody waits for it any more.")
    const session = this.#sessions.current
    const sent = answer?.message ?? message
    const here = await this.#wire.find()
    const response = await this.#wire
      .post(here, JSON.stringify(sent), this.#headersOf(sent, session))
      .catch(() => undefined)
    await response?.body?.cancel()
    if (response === undefined) this.#wire.lost(here)
    if (response?.status === 404 && session?.id !== undefined) return this.#renew(session)
    if (message.method === "notifications/initialized" && session?.id !== undefined) void this.#stand(session)
  }

  /** Several messages in one line, if the revision has batches. Not repeated: it may contain anything. */
  async batch(line: string): Promise<void> {
    const session = this.#sessions.current
    const response = await this.#wire.post(await this.#wire.find(), line, this.#headersOf({}, session))
    if (isStream(response)) for await (const { data } of eventsOf(response)) await this.#pass(data, session)
    else if (response.status !== 202) await this.#pass(await response.text(), session)
  }

  async close(): Promise<void> {
    await this.#end()
    this.#wire.closing.abort()
  }

  async #end(): Promise<void> {
    const { current } = this.#sessions
    this.#sessions.current = undefined
    if (current?.id !== undefined) await this.#wire.forget(this.#sessions.headers(current))
  }

  #headersOf(message: Message, session: Session | undefined): Record<string, string> {
    const claim = claimOf(message)
    if (claim !== undefined) return newHeaders(message, claim, (tool) => this.#wishes.get(tool) ?? [])
    return session === undefined ? {} : this.#sessions.headers(session)
  }

  async #carry(trip: Trip): Promise<void> {
    const { message, signal } = trip
    const body = JSON.stringify(message)
    for (let sendings = 0; !signal.aborted; sendings++) {
      if (sendings > 0) await sleep(100 * sendings, undefined, { signal })
      if (sendings === maxSendings)
        throw new HouseAway("The house did not answer; the request may have been carried out.")
      const here = await this.#wire.find()
      const begins = trip.onResult !== undefined
      const session = begins || claimOf(message) !== undefined ? undefined : this.#sessions.current
      const response = await this.#wire
        .post(here, body, this.#headersOf(message, session), signal)
        .catch(() => undefined)
      if (signal.aborted) return
      // Away, or closing: there will be another house.
      if (response === undefined || response.status === 503) {
        await response?.body?.cancel()
        this.#wire.lost(here)
        continue
      }
      if (response.status === 404 && session?.id !== undefined && isJson(response)) {
        await response.body?.cancel()
        await this.#renew(session)
        continue
      }
      if (await this.#received(trip, response, session, here)) return
      // Listening may be resumed as often as the house comes back; repeating it does no harm.
      if (trip.acknowledged === true) sendings = 0
    }
  }

  /** Whether the answer came. */
  async #received(trip: Trip, response: Response, session: Session | undefined, here: FoundHouse): Promise<boolean> {
    if (response.status === 202 || response.status === 204) return true
    if (!isStream(response)) {
      const text = await response.text().catch(() => undefined)
      return text === undefined ? false : this.#answered(trip, text, response, session)
    }
    let last: string | undefined
    for (let stream: Response | undefined = response; stream !== undefined;) {
      let retry: number | undefined
      try {
        for await (const event of eventsOf(stream)) {
          last = event.id ?? last
          retry = event.retry ?? retry
          if (event.data !== "" && (await this.#answered(trip, event.data, response, session))) return true
        }
        // An end without an answer and without a position to resume from is that of a cancelled request.
        if (last === undefined && trip.signal.aborted) return true
      } catch {
        if (trip.signal.aborted) return true
      }
      if (last === undefined || session?.id === undefined) return false
      await sleep(retry ?? 100, undefined, { signal: trip.signal })
      stream = await this.#wire.get(here, this.#sessions.headers(session), last, trip.signal).catch(() => undefined)
      if (stream === undefined) this.#wire.lost(here)
      else if (!isStream(stream)) {
        await stream.body?.cancel()
        return false
      }
    }
    return false
  }

  /** Passes a message on; true if it was the answer. */
  async #answered(trip: Trip, text: string, response: Response, session: Session | undefined): Promise<boolean> {
    const { id, method } = trip.message
    const said = read(text)
    const isMessage = isFields(said) && said["jsonrpc"] === "2.0"
    const heard = (isMessage ? said : {}) as Message
    if (heard.method !== undefined) {
      if (heard.method !== acknowledged) await this.#pass(text, session)
      else if (trip.acknowledged === undefined) {
        trip.acknowledged = true
        await this.#around.write(lineOf(text, said))
      } else await this.#caughtUp(heard)
      return false
    }
    if (heard.error?.code === headerMismatch && method === "tools/call" && trip.learned === undefined) {
      trip.learned = true
      await this.#learn(trip)
      return false
    }
    if (heard.result !== undefined) trip.onResult?.(heard.result, response)
    const isAnswer = heard.result !== undefined || isFields(heard.error)
    if (!isAnswer) await this.#around.write(problemLine(id, response, isFields(said) ? said : {}))
    else if (heard.id === id) await this.#around.write(lineOf(text, said))
    else await this.#around.write(JSON.stringify({ ...heard, id }))
    return true
  }

  /** Changes while a listener was disconnected are unknown: the client must list again. */
  async #caughtUp({ params }: Message): Promise<void> {
    const honoured = isFields(params?.["notifications"]) ? params["notifications"] : {}
    for (const [kind, method] of Object.entries(changeOf))
      if (honoured[kind] === true) await this.#around.write(notice(String(method), { _meta: params?.["_meta"] }))
  }

  async #pass(text: string, session: Session | undefined): Promise<void> {
    const said = read(text)
    if (said === undefined) return
    const known = isFields(said) && session !== undefined && typeof said["method"] === "string"
    const shown = known ? this.#sessions.shown(said, session) : said
    await this.#around.write(shown === said ? lineOf(text, said) : JSON.stringify(shown))
  }

  /**
   * Which parameters a tool requires as headers. A client on stdio sends none, so they are looked up when the house
   * reports them missing.
   */
  async #learn({ message, signal }: Trip): Promise<void> {
    const meta = message.params?.["_meta"]
    const name = String(message.params?.["name"])
    for (let cursor: unknown; ;) {
      const params = { _meta: meta, ...(cursor === undefined ? {} : { cursor }) }
      const asked = { jsonrpc: "2.0", id: "stoa/tools", method: "tools/list", params }
      const headers = { ...this.#headersOf(asked, undefined), accept: "application/json" }
      const response = await this.#wire.post(await this.#wire.find(), JSON.stringify(asked), headers, signal)
      const { result } = (read(await response.text()) ?? {}) as { readonly result?: Fields }
      const tools = Array.isArray(result?.["tools"]) ? (result["tools"] as ReadonlyArray<Fields>) : []
      const found = tools.find((tool) => tool["name"] === name)
      if (found !== undefined) return void this.#wishes.set(name, headerParametersOf(found["inputSchema"]))
      cursor = result?.["nextCursor"]
      if (typeof cursor !== "string") return
    }
  }

  /**
   * Starts a new session with a house that does not know the old one: it was restarted, or the session was idle for too
   * long.
   */
  #renew(session: Session): Promise<void> {
    if (this.#sessions.current !== session) return this.#renewing ?? Promise.resolve()
    return (this.#renewing ??= this.#begun(session).finally(() => (this.#renewing = undefined)))
  }

  async #begun(session: Session): Promise<void> {
    const { write } = this.#around
    for (const requestId of this.#sessions.forget(session))
      await write(notice("notifications/cancelled", { requestId, reason: "the house was started again" }))
    const ask = async (message: Message, headers: Record<string, string>) => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message })
      return this.#wire.post(await this.#wire.find(), body, {
        ...headers,
        accept: "application/json, text/event-stream",
      })
    }
    const again = { id: "stoa/initialize", method: "initialize", params: this.#sessions.initialize?.params ?? {} }
    const response = await ask(again, {})
    const { result } = (read(await response.text()) ?? {}) as { readonly result?: unknown }
    if (result === undefined) throw new HouseAway(`The house no longer accepts this client (${response.status}).`)
    const next = this.#sessions.begin(response.headers.get("mcp-session-id"), result)
    const headers = this.#sessions.headers(next)
    const told = [{ method: "notifications/initialized" }, ...this.#sessions.lasting]
    for (const [at, message] of told.entries())
      await (await ask(at === 0 ? message : { ...message, id: `stoa/${at}` }, headers)).body?.cancel()
    this.#around.say("The house was started again; the session goes on.")
    for (const method of this.#sessions.changes) await write(notice(method))
    if (next.id !== undefined) void this.#stand(next)
  }

  /** The stream of the house's own messages, as long as the session lasts. */
  async #stand(session: Session): Promise<void> {
    let last: string | undefined
    for (let failures = 0; this.#sessions.current === session && !this.#wire.closing.signal.aborted; failures++) {
      if (failures > 0)
        await sleep(Math.min(5000, 100 * 2 ** failures), undefined, { signal: this.#wire.closing.signal }).catch(
          () => {},
        )
      try {
        const here = await this.#wire.find()
        const stream = await this.#wire
          .get(here, this.#sessions.headers(session), last)
          .catch(() => this.#wire.lost(here))
        if (stream?.status === 405) return
        if (stream?.status === 404) return await this.#renew(session)
        if (stream === undefined || !isStream(stream)) continue
        failures = 0
        for await (const event of eventsOf(stream)) {
          last = event.id ?? last
          if (event.data !== "") await this.#pass(event.data, session)
        }
      } catch {
        // It will be retried: nobody waits for an answer here.
      }
    }
  }
}
