/** The Effect client: the client that effect/http-api derives from the contract, and the feed as a stream. */
import { Api } from "@stoa/contract"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { feed, type FeedItem, type FeedOptions } from "./stream/feed.ts"
import { connectionOf, newKey } from "./request.ts"
import type { StoaError } from "./StoaError.ts"

export interface ClientOptions {
  readonly url: string
  readonly token: Redacted.Redacted
  /** Another fetch, for tests and special environments. */
  readonly fetch?: typeof globalThis.fetch
}

/** Makes a create happen once, however often it is run: `Effect.provideService(create, IdempotencyKey, key)`. */
export const IdempotencyKey = Context.Reference<string | undefined>("sdk/IdempotencyKey", {
  defaultValue: () => undefined,
})

// Named, so that the published types say "the client of this API" instead of spelling it out.
export interface EffectStoa extends Omit<HttpApiClient.ForApi<typeof Api>, "events"> {
  readonly feed: (options?: Omit<FeedOptions, "signal">) => Stream.Stream<FeedItem, StoaError>
}

export class StoaClient extends Context.Service<StoaClient, EffectStoa>()("sdk/StoaClient") {
  static readonly layer = (options: ClientOptions): Layer.Layer<StoaClient> =>
    Layer.effect(
      StoaClient,
      Effect.gen(function* () {
        const { fetch, token, url } = options
        const connection = connectionOf({
          url,
          token: Redacted.value(token),
          ...(fetch === undefined ? {} : { fetch }),
        })
        const { events: _, ...client } = yield* HttpApiClient.make(Api, {
          baseUrl: connection.url,
          transformClient: (base) =>
            // The key is added before the request is sent, so that a retry has it too.
            HttpClient.mapRequestEffect(base, signed(token)).pipe(
              HttpClient.transform((sent) =>
                Effect.provideService(onceMore(sent), FetchHttpClient.Fetch, connection.fetch),
              ),
            ),
        })
        return StoaClient.of({
          ...client,
          feed: (wanted = {}) =>
            Stream.unwrap(
              Effect.map(
                Effect.acquireRelease(
                  Effect.sync(() => new AbortController()),
                  (controller) => Effect.sync(() => controller.abort()),
                ),
                ({ signal }) =>
                  Stream.fromAsyncIterable(feed(connection, { ...wanted, signal }), (cause) => cause as StoaError),
              ),
            ),
        })
      }),
    ).pipe(Layer.provide(FetchHttpClient.layer))
}

const signed = (token: Redacted.Redacted) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(IdempotencyKey, (key) => {
    const mine = HttpClientRequest.bearerToken(request, token)
    return request.method === "POST" ? HttpClientRequest.setHeader(mine, "idempotency-key", key ?? newKey()) : mine
  })

/** As in the Promise client: one retry if the connection broke, since a repeated request has no second effect. */
const onceMore = <A, E extends { readonly reason: { readonly _tag: string } }, R>(sent: Effect.Effect<A, E, R>) =>
  Effect.retry(sent, { times: 1, while: (error) => error.reason._tag === "TransportError" })
