/** A connected server as the house passes it on: its lists as last sent, its answers without secrets. */
import { MCPConnectionError, type PrincipalId } from "@stoa/contract"
import { type MCPConnection, type MCPExchange, MCPRefused, type MCPReply } from "@stoa/tools"
import { Effect } from "effect"
import { type Answers, InputRequired, type CallingClient } from "./InputRequired.ts"
import type { makeConversations } from "./connections/conversations.ts"
import type { JsonObject, Lists, makeOfferings, ContentLists } from "./contents/lists.ts"
import { isStarting, type Entry, waitUntilConnected } from "./connections/entry.ts"
import { lowerLog } from "./connections/logLevel.ts"

export interface ConnectedServer {
  readonly id: string
  readonly name: string
  /** The agent that owns it; null: the house does. */
  readonly owner: PrincipalId | null
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  readonly lists: () => Lists
  /** Waits until the lists are as current as possible. */
  readonly fresh: Effect.Effect<void>
  /** Its tools as it lists them, in its order. */
  readonly tools: ReadonlyArray<JsonObject>
  readonly exchange: (
    method: string,
    params: JsonObject,
    options?: MCPExchange,
  ) => Effect.Effect<MCPReply, MCPConnectionError | MCPRefused>
  /**
   * The same for a client that can be asked back, under a name of its own: called again with the answers, it continues.
   * An old-era server is held meanwhile, for a limited time; a new-era one is simply asked again.
   */
  readonly converse: (
    name: string,
    method: string,
    params: JsonObject,
    client: CallingClient,
    options: MCPExchange,
    goesOn: boolean,
  ) => Effect.Effect<MCPReply | InputRequired, MCPConnectionError | MCPRefused>
  /**
   * Reports changes of these resources until it is stopped. Other watchers of the same resources are told too, and each
   * only about its own.
   */
  readonly watch: (uris: ReadonlyArray<string>, tell: (uri: string) => Effect.Effect<void>) => Effect.Effect<() => void>
}

/** How long a held question waits for its client to come back. */
const maxWait = "10 minutes"

type Conversations = ReturnType<typeof makeConversations>
type Offerings = Effect.Success<ReturnType<typeof makeOfferings>>

const exchangeWith =
  (entry: Entry, contents: ContentLists): ConnectedServer["exchange"] =>
  (method, params, options) =>
    Effect.andThen(
      waitUntilConnected(entry),
      Effect.suspend((): ReturnType<MCPConnection["exchange"]> => {
        const { connection } = contents
        if (connection !== undefined) return connection.exchange(method, params, options)
        const { name, transport } = entry.server
        const why = isStarting(entry) ? "is starting. Try again in a moment" : "is not connected"
        return new MCPConnectionError({ message: `"${name}" ${why}`, serverName: name, transport })
      }),
    )

const lost = new MCPRefused(-32_602, "This state has expired; send the request again")

const converseWith =
  (entry: Entry, exchange: ConnectedServer["exchange"], conversations: Conversations): ConnectedServer["converse"] =>
  (name, method, params, client, options, goesOn) =>
    Effect.gen(function* () {
      const { scope, contents } = entry
      if (contents.era === "modern" || scope === undefined) return yield* exchange(method, params, options)
      const { capabilities, connection } = contents
      if (connection !== undefined && capabilities["logging"] !== undefined)
        yield* lowerLog(connection, client.logLevel)
      const answers: Answers = options.answers ?? {}
      const reply = goesOn
        ? yield* conversations.resume(name, answers) ?? Effect.fail(lost)
        : yield* conversations.begin(name, scope, client, false, (line) =>
            exchange(method, params, { ...options, ...line }),
          )
      if (reply instanceof InputRequired)
        yield* Effect.forkIn(Effect.andThen(Effect.sleep(maxWait), conversations.hangUp(name)), scope)
      return reply
    })

export const serverOf = (entry: Entry, offerings: Offerings, conversations: Conversations): ConnectedServer => {
  const { contents } = entry
  const exchange = exchangeWith(entry, contents)
  const { id, name, owner } = entry.server
  return {
    id,
    name,
    owner,
    capabilities: contents.capabilities,
    instructions: contents.instructions,
    lists: () => contents.lists,
    fresh: offerings.fresh(id, contents),
    tools: entry.listed.map((tool) => tool.raw),
    exchange,
    converse: converseWith(entry, exchange, conversations),
    watch: (uris, tell) => offerings.watch(contents, uris, tell),
  }
}
