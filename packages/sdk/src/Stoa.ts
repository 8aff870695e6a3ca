/** The Promise face: `connect({ url, token })` gives a client whose methods are the endpoints of the contract. */
import { Api } from "@stoa/contract"
import { feed, type FeedItem, type FeedOptions } from "./feed.ts"
import { connectionOf, type ConnectOptions, type EndpointLike, isStream, send } from "./request.ts"
import type { PlainClient } from "./types.ts"

export type Stoa = PlainClient<typeof Api> & {
  /** What happens, as it happens, over broken connections; see `FeedOptions.after` for the past. */
  readonly feed: (options?: FeedOptions) => AsyncGenerator<FeedItem, void, void>
}

const groups = Object.entries(Api.groups as unknown as Record<string, { endpoints: Record<string, EndpointLike> }>)

export const connect = (options: ConnectOptions): Stoa => {
  const connection = connectionOf(options)
  const methods = groups.flatMap(([group, { endpoints }]) => {
    // An endless answer is no promise: that endpoint is the feed.
    const finite = Object.entries(endpoints).filter(([, endpoint]) => !isStream(endpoint, "StreamSse"))
    const calls = finite.map(([name, endpoint]) => [
      name,
      (...args: ReadonlyArray<unknown>) => send(connection, endpoint, args),
    ])
    return calls.length === 0 ? [] : [[group, Object.fromEntries(calls)]]
  })
  return { ...Object.fromEntries(methods), feed: (wanted?: FeedOptions) => feed(connection, wanted) } as Stoa
}
