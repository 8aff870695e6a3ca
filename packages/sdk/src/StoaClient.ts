/** The Effect face: the client that effect/http-api derives from the contract, and the feed as a stream. */
import { Api } from "@stoa/contract"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { feed, type FeedItem, type FeedOptions } from "./feed.ts"
import { StoaError, StoaUnreachable } from "./StoaError.ts"

export interface ClientOptions {
  readonly url: string
  readonly token: Redacted.Redacted
}

export class StoaClient extends Context.Service<
  StoaClient,
  HttpApiClient.ForApi<typeof Api> & {
    readonly feed: (options?: Omit<FeedOptions, "signal">) => Stream.Stream<FeedItem, StoaError | StoaUnreachable>
  }
>()("sdk/StoaClient") {
  static readonly layer = (options: ClientOptions): Layer.Layer<StoaClient> =>
    Layer.effect(
      StoaClient,
      Effect.gen(function* () {
        const client = yield* HttpApiClient.make(Api, {
          baseUrl: options.url,
          transformClient: (base) =>
            HttpClient.mapRequest(base, (request) => {
              const signed = HttpClientRequest.bearerToken(request, options.token)
              // As in the Promise face: what is sent twice happens once.
              return request.method === "POST"
                ? HttpClientRequest.setHeader(signed, "idempotency-key", crypto.randomUUID())
                : signed
            }),
        })
        const connection = { url: options.url, token: Redacted.value(options.token), fetch: globalThis.fetch }
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
                  Stream.fromAsyncIterable(
                    feed(connection, { ...wanted, signal }),
                    (cause) => cause as StoaError | StoaUnreachable,
                  ),
              ),
            ),
        })
      }),
    ).pipe(Layer.provide(FetchHttpClient.layer))
}
