/** The types of the Promise client, derived from the contract: a wrong one does not compile. */
import type { StoaClient } from "@stoa/sdk"
import { connect, type FeedItem, type Stoa } from "@stoa/sdk"
import type { Effect } from "effect"
import type { Forbidden, Missing, NameTaken, Principal, Unauthenticated } from "@stoa/contract"
import { expect, expectTypeOf, it } from "vitest"

type Of<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>
const uncalled = (stoa: Stoa) => ({
  // @ts-expect-error a kind that no principal has
  kind: () => stoa.principals.add({ kind: "ghost", name: "x" }),
  // @ts-expect-error a token is somebody's
  token: () => stoa.tokens.add({ label: "x" }),
  // @ts-expect-error a path parameter is needed
  get: () => stoa.principals.get(),
  // @ts-expect-error a question needs its action and resource
  judge: () => stoa.grants.judge(),
  // @ts-expect-error the endless endpoint is the feed
  watch: () => stoa.events.watch(),
  // @ts-expect-error there is no such method
  nothing: () => stoa.principals.nothing(),
})

it("answers are what JSON carries", () => {
  expectTypeOf<Of<Stoa["principals"]["me"]>["id"]>().toEqualTypeOf<string>()
  expectTypeOf<Of<Stoa["principals"]["me"]>["kind"]>().toEqualTypeOf<"person" | "agent" | "service">()
  expectTypeOf<Of<Stoa["principals"]["me"]>["createdAt"]>().toEqualTypeOf<string>()
  expectTypeOf<Of<Stoa["principals"]["me"]>["retiredAt"]>().toEqualTypeOf<string | null>()
  expectTypeOf<Of<Stoa["tokens"]["list"]>["next"]>().toEqualTypeOf<string | null>()
  expectTypeOf<Of<Stoa["tokens"]["add"]>["token"]>().toEqualTypeOf<string>()
  expectTypeOf<Of<Stoa["tokens"]["revoke"]>>().toEqualTypeOf<void>()
  expectTypeOf<Of<Stoa["house"]["backup"]>>().toEqualTypeOf<ReadableStream<Uint8Array>>()
  expectTypeOf<Of<Stoa["house"]["file"]>>().toExtend<Uint8Array>()
  expectTypeOf<Of<Stoa["health"]["alive"]>>().toEqualTypeOf<{ readonly status: "ok" | "starting" | "draining" }>()
})

it("arguments come in order: path, body, query, options", () => {
  expectTypeOf<Parameters<Stoa["principals"]["me"]>>().toEqualTypeOf<[options?: Options]>()
  expectTypeOf<Parameters<Stoa["allowLists"]["set"]>["length"]>().toEqualTypeOf<3 | 4>()
  expectTypeOf<Parameters<Stoa["allowLists"]["set"]>[2]>().toEqualTypeOf<{ readonly tools: ReadonlyArray<string> }>()
  expectTypeOf<Parameters<Stoa["secrets"]["set"]>[1]>().toEqualTypeOf<{ readonly value: string }>()
  expectTypeOf<Parameters<Stoa["audit"]["list"]>["length"]>().toEqualTypeOf<0 | 1 | 2>()
  expectTypeOf<Parameters<Stoa["grants"]["judge"]>["length"]>().toEqualTypeOf<1 | 2>()
  expect(Object.keys(uncalled(connect({ url: "http://127.0.0.1:1" })))).toHaveLength(6)
})
type Options = { readonly signal?: AbortSignal; readonly idempotencyKey?: string }

it("the feed tells its items apart, and a body by its kind", () => {
  const told = (item: FeedItem): string => {
    if (item.type === "reload") return item.reason
    if (item.type === "delta") return item.name
    return item.event.kind === "principal.added" ? item.event.body.name : item.event.at
  }
  expect(told({ type: "reload", cursor: 1, reason: "old" })).toBe("old")
})

it("the Effect client has the failures of the contract in its type", () => {
  const get = (client: StoaClient["Service"]) => client.principals.get({ params: { principal: "pam" } })
  type Get = ReturnType<typeof get>
  expectTypeOf<Effect.Success<Get>>().toEqualTypeOf<Principal>()
  expectTypeOf<Missing | Forbidden | Unauthenticated>().toExtend<Effect.Error<Get>>()
  expectTypeOf<NameTaken>().not.toExtend<Effect.Error<Get>>()
  expectTypeOf<StoaClient["Service"]>().not.toHaveProperty("events")
})
