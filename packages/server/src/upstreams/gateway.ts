/** A connected server as a gateway passes it on: its lists as they are kept, its answers without what it was told in confidence. */
import { MCPConnectionError, type PrincipalId } from "@stoa/contract"
import { type MCPConnection, type MCPExchange, MCPRefused, type MCPReply } from "@stoa/tools"
import { Effect } from "effect"
import { type Answers, Asked, type CallingClient } from "./Asked.ts"
import type { makeConversations } from "./connections/conversations.ts"
import type { JsonObject, Lists, makeOfferings, Shelves } from "./contents/lists.ts"
import { isStarting, type Kept, reached } from "./connections/kept.ts"
import { lowerLog } from "./connections/loudness.ts"

export interface UpstreamServer {
  readonly id: string
  readonly name: string
  /** The agent whose own server it is; null: the house's. */
  readonly owner: PrincipalId | null
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  readonly lists: () => Lists
  /** Waits until the lists are as new as can be known. */
  readonly fresh: Effect.Effect<void>
  /** Its tools as it lists them, and in that order. */
  readonly tools: ReadonlyArray<JsonObject>
  readonly exchange: (
    method: string,
    params: JsonObject,
    options?: MCPExchange,
  ) => Effect.Effect<MCPReply, MCPConnectionError | MCPRefused>
  /**
   * The same for a client that can be asked back, under a name of its own: called again with the answers it goes on. A
   * server of the old era is held meanwhile, for a while; one of the new era is simply asked again.
   */
  readonly converse: (
    name: string,
    method: string,
    params: JsonObject,
    client: CallingClient,
    options: MCPExchange,
    goesOn: boolean,
  ) => Effect.Effect<MCPReply | Asked, MCPConnectionError | MCPRefused>
  /** Tells of these resources until it is stopped. Whoever else watches them is told too, and of nothing else. */
  readonly watch: (uris: ReadonlyArray<string>, tell: (uri: string) => void) => Effect.Effect<() => void>
}

/** How long a held question waits for its client to come back. */
const patience = "10 minutes"

type Conversations = ReturnType<typeof makeConversations>
type Offerings = Effect.Success<ReturnType<typeof makeOfferings>>

const exchangeWith =
  (kept: Kept, shelves: Shelves): UpstreamServer["exchange"] =>
  (method, params, options) =>
    Effect.andThen(
      reached(kept),
      Effect.suspend((): ReturnType<MCPConnection["exchange"]> => {
        const { connection } = shelves
        if (connection !== undefined) return connection.exchange(method, params, options)
        const { name, transport } = kept.server
        const why = isStarting(kept) ? "is starting. Try again in a moment" : "is not connected"
        return new MCPConnectionError({ message: `"${name}" ${why}`, serverName: name, transport })
      }),
    )

const lost = new MCPRefused(-32_602, "This state has expired; ask anew")

const converseWith =
  (kept: Kept, exchange: UpstreamServer["exchange"], conversations: Conversations): UpstreamServer["converse"] =>
  (name, method, params, client, options, goesOn) =>
    Effect.gen(function* () {
      const { scope, shelves } = kept
      if (shelves.era === "modern" || scope === undefined) return yield* exchange(method, params, options)
      const { capabilities, connection } = shelves
      if (connection !== undefined && capabilities["logging"] !== undefined)
        yield* lowerLog(connection, client.logLevel)
      const answers: Answers = options.answers ?? {}
      const reply = goesOn
        ? yield* conversations.goOn(name, answers) ?? Effect.fail(lost)
        : yield* conversations.begin(name, scope, client, false, (line) =>
            exchange(method, params, { ...options, ...line }),
          )
      if (reply instanceof Asked)
        yield* Effect.forkIn(Effect.andThen(Effect.sleep(patience), conversations.hangUp(name)), scope)
      return reply
    })

export const serverOf = (kept: Kept, offerings: Offerings, conversations: Conversations): UpstreamServer => {
  const { shelves } = kept
  const exchange = exchangeWith(kept, shelves)
  const { id, name, owner } = kept.server
  return {
    id,
    name,
    owner,
    capabilities: shelves.capabilities,
    instructions: shelves.instructions,
    lists: () => shelves.lists,
    fresh: offerings.fresh(id, shelves),
    tools: kept.listed.map((tool) => tool.raw),
    exchange,
    converse: converseWith(kept, exchange, conversations),
    watch: (uris, tell) => offerings.watch(shelves, uris, tell),
  }
}
