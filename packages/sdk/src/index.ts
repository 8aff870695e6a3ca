/** The one client of a Stoa house, for Node and browsers. */
export { connect, type ConnectOptions, type Stoa } from "./Stoa.ts"
export { type ClientOptions, StoaClient } from "./StoaClient.ts"
export type { FeedEvent, FeedItem, FeedOptions } from "./feed.ts"
export { StoaError, StoaUnreachable } from "./StoaError.ts"
export type { CallOptions, Plain } from "./types.ts"
