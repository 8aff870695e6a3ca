/** The Promise face: `connect({ url, token })` gives a client whose methods are the endpoints of the contract. */
import { Api } from "@stoa/contract"
import { feed, type FeedItem, type FeedOptions } from "./feed.ts"
import { type Connection, type EndpointLike, send } from "./request.ts"
import type { PlainClient } from "./types.ts"

export interface ConnectOptions {
  /** Address of the house, such as http://127.0.0.1:4040. */
  readonly url: string
  readonly token?: string
  /** Another fetch, for tests and unusual surroundings. */
  readonly fetch?: typeof globalThis.fetch
}

export type Stoa = PlainClient<typeof Api> & {
  /** What happens, as it happens, over broken connections; see `FeedOptions.after` for the past. */
  readonly feed: (options?: FeedOptions) => AsyncGenerator<FeedItem, void, void>
}

export const connect = (options: ConnectOptions): Stoa => {
  const connection: Connection = {
    url: options.url,
    token: options.token,
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
  }
  const groups = Object.entries(Api.groups as unknown as Record<string, { endpoints: Record<string, EndpointLike> }>)
  const methods = groups.map(([group, { endpoints }]) => [
    group,
    Object.fromEntries(
      Object.entries(endpoints).map(([name, endpoint]) => [
        name,
        (...args: ReadonlyArray<unknown>) => send(connection, endpoint, args),
      ]),
    ),
  ])
  return { ...Object.fromEntries(methods), feed: (wanted?: FeedOptions) => feed(connection, wanted) } as Stoa
}
