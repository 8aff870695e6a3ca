/** The one client of a Stoa house, for Node and browsers. */
export { connect, type Stoa } from "./Stoa.ts"
export { type ClientOptions, type EffectStoa, IdempotencyKey, StoaClient } from "./StoaClient.ts"
export type { FeedEvent, FeedItem, FeedOptions } from "./stream/feed.ts"
export type { FunctionOptions, Host, HostOptions } from "./host/host.ts"
export type { HostedContext, HostedHandler } from "./host/hostWork.ts"
export type { ConnectOptions } from "./request.ts"
export { StoaError, StoaUnreachable } from "./StoaError.ts"
export type { CallOptions, Plain } from "./types.ts"
export {
  type ConnectableClient,
  connectableClients,
  type ConnectableName,
  type ConnectionLine,
  type ConnectionDetails,
} from "./mcpClients.ts"
