/** Both clients against a real house in a process of its own, which is also killed. */
import { Missing, NameTaken, Unauthenticated } from "@stoa/contract"
import { connect, type FeedItem, IdempotencyKey, StoaClient, StoaError, StoaUnreachable } from "@stoa/sdk"
import { Effect, Fiber, Redacted, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Home, type House } from "../../cli/test/kit/home.ts"

const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())

const failureOf = async (asked: Promise<unknown>): Promise<StoaError> => {
  const error: unknown = await asked.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(StoaError)
  return error as StoaError
}

describe("the Promise client", () => {
  it("asks and is answered", async () => {
    const { admin } = house
    expect(await admin.principals.me()).toMatchObject({ kind: "person", name: "admin", roles: ["admin"] })
    const pam = await admin.principals.add({ kind: "agent", name: "Pam", toolsets: ["office"] })
    expect(pam).toMatchObject({ id: expect.stringMatching(/^prn_/), kind: "agent", toolsets: ["office"] })
    expect(await admin.principals.get("Pam")).toEqual(pam)
    const issued = await admin.tokens.add({ principal: "Pam", label: "desk" })
    expect(await connect({ url: house.url, token: issued.token }).principals.me()).toEqual(pam)
    expect(await admin.tokens.revoke(issued.id)).toBeUndefined()
    expect((await admin.audit.list({ limit: 2 })).items).toHaveLength(2)
  })

  it("a repeated key gives the first object, and another body under it is refused", async () => {
    const { admin } = house
    const body = { kind: "agent", name: "Once" } as const
    const first = await admin.principals.add(body, { idempotencyKey: "k1" })
    expect(await admin.principals.add(body, { idempotencyKey: "k1" })).toEqual(first)
    const other = await failureOf(admin.principals.add({ ...body, name: "Twice" }, { idempotencyKey: "k1" }))
    expect(other).toMatchObject({ tag: "WrongState", status: 409 })
    expect(await failureOf(admin.principals.add(body))).toMatchObject({ tag: "NameTaken", status: 409 })
  })

  it("failures are StoaErrors with tag, status and issues", async () => {
    const bad = await failureOf(house.admin.principals.add({ kind: "agent", name: "-", roles: ["king" as never] }))
    expect(bad).toMatchObject({ tag: "BadInput", status: 400 })
    expect(bad.issues.map(({ path }) => path)).toContain("name")
    expect(await failureOf(house.admin.principals.get("nobody"))).toMatchObject({ tag: "Missing", status: 404 })
    const stranger = connect({ url: house.url, token: "wrong" })
    expect(await failureOf(stranger.principals.me())).toMatchObject({ tag: "Unauthenticated", status: 401 })
    expect(await failureOf(connect({ url: house.url }).principals.me())).toMatchObject({ status: 401 })
  })

  it("nobody there is one sentence", async () => {
    // Port 1 is nobody's.
    const asked = connect({ url: "http://127.0.0.1:1" }).principals.me()
    await expect(asked).rejects.toThrow(/^No house answers at http:\/\/127\.0\.0\.1:1\. Is it running\?[^\n]+$/)
    await expect(asked).rejects.toBeInstanceOf(StoaUnreachable)
  })
})

const client = <A, E>(
  use: (stoa: StoaClient["Service"]) => Effect.Effect<A, E>,
  token = house.token,
  url = house.url,
) =>
  Effect.runPromise(
    Effect.provide(Effect.flatMap(StoaClient, use), StoaClient.layer({ url, token: Redacted.make(token) })),
  )

describe("the Effect client", () => {
  it("decodes values and failures into the contract's own", async () => {
    const me = await client((stoa) => stoa.principals.me())
    expect(me.name).toBe("admin")
    const missing = await client((stoa) => Effect.flip(stoa.principals.get({ params: { principal: "nobody" } })))
    expect(missing).toBeInstanceOf(Missing)
    expect(missing).toMatchObject({ noun: "principal", ref: "nobody" })
    const refused = await client((stoa) => Effect.flip(stoa.principals.me()), "wrong")
    expect(refused).toBeInstanceOf(Unauthenticated)
  })

  it("a create happens once under its key", async () => {
    const ids = await client((stoa) => {
      const add = stoa.principals.add({ payload: { kind: "agent", name: "Effie" } })
      return Effect.all([
        Effect.provideService(add, IdempotencyKey, "e1"),
        Effect.provideService(add, IdempotencyKey, "e1"),
        Effect.flip(add),
      ])
    })
    expect(ids[1]).toEqual(ids[0])
    expect(ids[2]).toBeInstanceOf(NameTaken)
  })

  it("a broken connection is tried once more, with the same key", async () => {
    const keys: Array<string | null> = []
    const fetch: typeof globalThis.fetch = (input, init) => {
      keys.push(new Headers(init?.headers).get("idempotency-key"))
      return keys.length === 1 ? Promise.reject(new TypeError("fetch failed")) : globalThis.fetch(input, init)
    }
    const layer = StoaClient.layer({ url: house.url, token: Redacted.make(house.token), fetch })
    const add = Effect.flatMap(StoaClient, (stoa) =>
      stoa.principals.add({ payload: { kind: "agent", name: "Retried" } }),
    )
    expect((await Effect.runPromise(Effect.provide(add, layer))).name).toBe("Retried")
    expect(keys).toEqual([expect.any(String), keys[0]])
  })

  it("the feed is a stream; ending it hangs up", async () => {
    const seen = await client((stoa) =>
      Effect.gen(function* () {
        const items = stoa.feed({ after: 0 }).pipe(Stream.take(3), Stream.runCollect)
        const first = yield* items
        const watching = yield* Effect.forkChild(Stream.runDrain(stoa.feed()))
        yield* Fiber.interrupt(watching)
        return first
      }),
    )
    expect(seen.map((item) => item.type)).toEqual(["event", "event", "event"])
    const refused = await client((stoa) => Effect.flip(Stream.runDrain(stoa.feed())), "wrong")
    expect(refused).toMatchObject({ tag: "Unauthenticated" })
  })
})

/** Watches in the background; `reached` waits for the item. */
const watch = (options: { readonly after?: number } = {}) => {
  const stop = new AbortController()
  const items: Array<FeedItem> = []
  let lost: () => void
  let look = () => {}
  const disconnected = new Promise<void>((done) => (lost = done))
  const ended = (async () => {
    for await (const item of house.admin.feed({ ...options, signal: stop.signal, onReconnect: () => lost() })) {
      items.push(item)
      look()
    }
  })()
  const reached = (wanted: (item: FeedItem) => boolean) =>
    new Promise<FeedItem>((found) => {
      look = () => {
        const item = items.find(wanted)
        if (item !== undefined) found(item)
      }
      look()
    })
  return {
    items,
    reached,
    disconnected,
    end: async () => {
      stop.abort()
      await ended
    },
  }
}

const isNamed = (name: string) => (item: FeedItem) =>
  item.type === "event" && item.event.kind === "principal.added" && item.event.body.name === name
const cursorsOf = (items: ReadonlyArray<FeedItem>) => items.map((item) => (item.type === "delta" ? -1 : item.cursor))

describe("the feed", () => {
  it("shows what happens as it happens, under the name of the face asked for", async () => {
    const feed = watch({ after: 0 })
    await feed.reached((item) => item.type === "event" && item.event.kind === "house.started")
    const added = await house.admin.principals.add({ kind: "agent", name: "Live" })
    const item = await feed.reached(isNamed("Live"))
    expect(item).toMatchObject({ name: "principal.added", event: { body: { principal: added.id } } })
    await feed.end()
    for await (const old of house.admin.feed({ after: 0, names: "skills" })) {
      if (old.type !== "event" || old.event.kind !== "access.denied") continue
      expect(old.name).toBe("identity.access-denied")
      break
    }
  })

  it("a place that the journal does not have is a reload, and it goes on", async () => {
    const feed = watch({ after: 1_000_000_000 })
    const reload = await feed.reached((item) => item.type === "reload")
    expect(reload).toMatchObject({ reason: "this cursor is not in this journal" })
    await house.admin.principals.add({ kind: "agent", name: "AfterReload" })
    await feed.reached(isNamed("AfterReload"))
    await feed.end()
  })

  it("a token that is revoked ends the feed with its refusal", async () => {
    const issued = await house.admin.tokens.add({ principal: "admin" })
    const feed = connect({ url: house.url, token: issued.token }).feed({ after: 0 })
    await feed.next()
    const rest = (async () => {
      for await (const _ of feed);
    })()
    await house.admin.tokens.revoke(issued.id)
    expect(await failureOf(rest)).toMatchObject({ tag: "Unauthenticated" })
  })

  it("goes on over kill -9 without gap or repeat, also when nothing had happened yet", async () => {
    const fromStart = watch({ after: 0 })
    const fromNow = watch()
    await fromStart.reached(isNamed("AfterReload"))
    // Its stream stands once the house has told it something; that nothing is shown to it is the point.
    await house.admin.health.ready()
    const began = cursorsOf(fromStart.items).at(-1)!
    for (let n = 0; n < 10; n++) await house.admin.principals.add({ kind: "agent", name: `Before ${n}` })
    await fromStart.reached(isNamed("Before 9"))
    await house.kill()
    await fromStart.disconnected
    house = await home.restart(house)
    for (let n = 0; n < 10; n++) await house.admin.principals.add({ kind: "agent", name: `After ${n}` })
    await Promise.all([fromStart.reached(isNamed("After 9")), fromNow.reached(isNamed("After 9"))])
    await Promise.all([fromStart.end(), fromNow.end()])
    const whole: Array<FeedItem> = []
    for await (const item of house.admin.feed({ after: 0 })) {
      whole.push(item)
      if (isNamed("After 9")(item)) break
    }
    expect(fromStart.items.slice(0, whole.length)).toEqual(whole)
    expect(began).toBeGreaterThan(0)
    const late = cursorsOf(fromNow.items)
    expect(cursorsOf(whole).filter((cursor) => cursor >= late[0]!)).toEqual(late)
  })

  it("a stream that broke before its first event misses nothing", async () => {
    const quiet = watch()
    const stands = new Promise<void>((done) => {
      const probe = connect({
        url: house.url,
        token: house.token,
        fetch: async (input, init) => {
          const response = await fetch(input, init)
          done()
          return response
        },
      })
      void probe.feed({ signal: AbortSignal.timeout(20_000) }).next()
    })
    await stands
    await house.kill()
    await quiet.disconnected
    house = await home.restart(house)
    const first = await quiet.reached(() => true)
    expect(first).toMatchObject({ type: "event", event: { kind: "house.started" } })
    await quiet.end()
  })
})
