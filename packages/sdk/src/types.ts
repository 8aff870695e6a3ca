/** The contract's types in plain JSON, and the arguments of each method: derived, never written by hand. */
import type { Api } from "@stoa/contract"
import type { Brand, DateTime, Redacted } from "effect"
import type { HttpApiSchema } from "effect/http-api"

/** A value as JSON: times are strings, without brands and classes. */
export type Plain<T> = T extends DateTime.Utc
  ? string
  : T extends Redacted.Redacted<infer A>
    ? Plain<A>
    : T extends string
      ? T extends Brand.Brand<string>
        ? string
        : T
      : T extends number
        ? T extends Brand.Brand<string>
          ? number
          : T
        : T extends Uint8Array | boolean | null | undefined
          ? T
          : T extends ReadonlyArray<infer A>
            ? ReadonlyArray<Plain<A>>
            : T extends object
              ? { readonly [K in keyof T as T[K] extends (...args: never) => unknown ? never : K]: Plain<T[K]> }
              : T

/** `/api/v1/allow-lists/:toolset/:context` takes two strings. */
type PathArgs<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? [param: string & { readonly _name?: Name }, ...PathArgs<Tail>]
    : [param: string & { readonly _name?: Rest }]
  : []

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Makes a create happen once, however often it is sent. By default one is generated. */
  readonly idempotencyKey?: string
}

interface Endpoint {
  readonly path: string
  readonly "~Payload": { readonly Type: unknown }
  readonly "~Query": { readonly Type: unknown }
  readonly "~Success": { readonly Type: unknown }
}

type Body<E extends Endpoint> = [E["~Payload"]] extends [never] ? [] : [body: Plain<E["~Payload"]["Type"]>]
type Query<E extends Endpoint> = [E["~Query"]] extends [never] ? [] : QueryArgs<QueryOf<E["~Query"]["Type"]>>
type QueryOf<T> = { readonly [K in keyof T]: Plain<T[K]> }
/** A query with required fields cannot be left out. */
type QueryArgs<Q> = {} extends Q ? [query?: Q] : [query: Q]

/** A large answer is streamed, never buffered. */
type Answer<S extends Endpoint["~Success"]> = S extends HttpApiSchema.StreamUint8Array
  ? ReadableStream<Uint8Array>
  : Plain<S["Type"]>

type Method<E extends Endpoint> = (
  ...args: [...PathArgs<E["path"]>, ...Body<E>, ...Query<E>, options?: CallOptions]
) => Promise<Answer<E["~Success"]>>

type Methods<Group> = Group extends { readonly endpoints: infer Map }
  ? {
      readonly [
        K in keyof Map as Map[K] extends { readonly "~Success": { readonly _tag: "StreamSse" } } ? never : K
      ]: Map[K] extends Endpoint ? Method<Map[K]> : never
    }
  : never

/** Every group of the API with one method per endpoint; the endless ones are the feed. */
export type PlainClient<Api> = Api extends { readonly groups: infer Groups }
  ? { readonly [G in keyof Groups as keyof Methods<Groups[G]> extends never ? never : G]: Methods<Groups[G]> }
  : never

/** The table of `endpoints.ts`: if it lacks an endpoint of the contract, it does not compile. Run \`npm run docs\`. */
export type Endpoints = {
  readonly [G in keyof PlainClient<typeof Api>]: { readonly [M in keyof PlainClient<typeof Api>[G]]: string }
}
