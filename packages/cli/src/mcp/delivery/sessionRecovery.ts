/**
 * Keeps the session of an old-era client alive across restarts of the house: `initialize` and the subscriptions are
 * sent again to the new house. Questions of a session that has ended are withdrawn.
 */
import { type Fields, type Id, isFields, isRequest, keyOf, type Message } from "../messages/message.ts"

/** The state of a session. Requests are sent with it; the answer to a question goes only to its own session. */
export interface Session {
  readonly id: string | undefined
  readonly revision: string
  /** How many sessions there were before it. */
  readonly generation: number
}

export class SessionRecovery {
  current: Session | undefined
  /** The client's own `initialize`, to be repeated. */
  initialize: Message | undefined
  /** The capabilities the house announced: a client gets only notifications it was promised. */
  #capabilities: Fields = {}
  /** Requests that last for a session: log level and subscriptions. */
  readonly #lasting = new Map<string, Message>()
  /** Open questions of the house: their id for the client, and their session. */
  readonly #asked = new Map<string, { readonly id: Id; readonly shown: Id; readonly session: Session }>()
  #count = 0

  /** Starts with the house's answer to `initialize`. */
  begin(id: string | null, result: unknown): Session {
    const said = isFields(result) ? result : {}
    const { capabilities, protocolVersion } = said
    if (isFields(capabilities)) this.#capabilities = capabilities
    return (this.current = {
      id: id ?? undefined,
      revision: typeof protocolVersion === "string" ? protocolVersion : "2025-03-26",
      generation: this.#count++,
    })
  }

  headers(session: Session): Record<string, string> {
    return {
      "mcp-protocol-version": session.revision,
      ...(session.id === undefined ? {} : { "mcp-session-id": session.id }),
    }
  }

  /** Remembers what has to be repeated to a new session. */
  note({ method, params }: Message): void {
    const uri = String(params?.["uri"])
    if (method === "logging/setLevel") this.#lasting.set(method, { method, params: params ?? {} })
    else if (method === "resources/subscribe") this.#lasting.set(uri, { method, params: params ?? {} })
    else if (method === "resources/unsubscribe") this.#lasting.delete(uri)
  }
  get lasting(): ReadonlyArray<Message> {
    return [...this.#lasting.values()]
  }

  /** What may have changed while the house was away. */
  get changes(): ReadonlyArray<string> {
    const told = (kind: string) =>
      isFields(this.#capabilities[kind]) && this.#capabilities[kind]["listChanged"] === true
    return ["tools", "prompts", "resources"].filter(told).map((kind) => `notifications/${kind}/list_changed`)
  }

  /** A message of the house as the client may see it: ids of questions never repeat those of an earlier session. */
  shown(message: Message, session: Session): Message {
    const { generation } = session
    if (isRequest(message)) {
      const shown = generation === 0 ? message.id : `${generation}/${message.id}`
      this.#asked.set(keyOf(shown), { id: message.id, shown, session })
      return generation === 0 ? message : { ...message, id: shown }
    }
    if (message.method !== "notifications/cancelled") return message
    const { requestId } = message.params ?? {}
    const found = [...this.#asked.values()].find((it) => it.session === session && it.id === requestId)
    if (found === undefined) return message
    this.#asked.delete(keyOf(found.shown))
    return generation === 0 ? message : { ...message, params: { ...message.params, requestId: found.shown } }
  }

  /** The client's answer in the house's terms; undefined if nobody waits for it any more. */
  answer(message: Message): { readonly message: Message; readonly session: Session } | undefined {
    const found = message.id === undefined ? undefined : this.#asked.get(keyOf(message.id))
    if (found === undefined) return undefined
    this.#asked.delete(keyOf(found.shown))
    return { message: { ...message, id: found.id }, session: found.session }
  }

  /** The questions that ended with a session. */
  forget(session: Session): ReadonlyArray<Id> {
    const gone = [...this.#asked.values()].filter((it) => it.session === session).map(({ shown }) => shown)
    for (const id of gone) this.#asked.delete(keyOf(id))
    return gone
  }
}
