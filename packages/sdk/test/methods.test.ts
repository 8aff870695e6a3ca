/** The Promise client without a house: what it sends, and what it makes of each kind of answer. */
import { Api } from "@stoa/contract"
import { connect, StoaError, StoaUnreachable } from "@stoa/sdk"
import { describe, expect, it } from "vitest"
import { eventFrame, fakeFetch, json, sse } from "./kit/fakeHouse.ts"

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly payload: ReadonlyMap<string, unknown>
  readonly query: unknown
  readonly success: ReadonlySet<{ readonly _tag?: string }>
}
type Call = (...args: ReadonlyArray<unknown>) => Promise<unknown>

const groups = Api.groups as unknown as Record<string, { readonly endpoints: Record<string, Endpoint> }>
const endpoints = Object.entries(groups).flatMap(([group, { endpoints }]) =>
  Object.entries(endpoints).map(([name, endpoint]) => ({ group, name, endpoint })),
)
const url = "http://house.test"
const unfriendly = "a/b c?d#é"

it("a function without its schema or its handler is told in the right form", async () => {
  const stoa = connect({ url, token: "t", fetch: fakeFetch(() => json({})).fetch })
  const right = /^tool\("plus"\) offers a function.* tool\("plus", \{ description.*tools\.call\("plus"/
  const named = stoa.tool as unknown as (...args: ReadonlyArray<unknown>) => Promise<unknown>
  await expect(named("plus")).rejects.toThrow(right)
  await expect(named("plus", { type: "object" })).rejects.toThrow(right)
  const host = stoa.host()
  expect(() => (host.tool as unknown as (name: string) => unknown)("plus")).toThrow(right)
})

it("the contract has endpoints to look at", () => {
  expect(endpoints.length).toBeGreaterThan(25)
})

const answers = (endpoint: Endpoint, tag: string) => [...endpoint.success].some((schema) => schema._tag === tag)
// The calls of a host are read by `stoa.host`; host.test.ts has them.
const endless = endpoints.filter(({ endpoint, group }) => answers(endpoint, "StreamSse") && group !== "hosts")
const finite = endpoints.filter(({ endpoint }) => !answers(endpoint, "StreamSse"))
const methodOf = (fetch: typeof globalThis.fetch, group: string, name: string) =>
  (connect({ url, token: "secret", fetch }) as unknown as Record<string, Record<string, Call> | undefined>)[group]?.[
    name
  ]

it("the table has what the contract has, and nothing more", () => {
  const stoa = connect({ url }) as unknown as Record<string, object>
  const { feed: _feed, host: _host, tool: _tool, ...methods } = stoa
  const made = Object.entries(methods).flatMap(([group, names]) => Object.keys(names).map((name) => [group, name]))
  expect(made).toEqual(finite.map(({ group, name }) => [group, name]))
})

describe("every endpoint of the contract", () => {
  it.each(finite)("$group $name", async ({ endpoint, group, name }) => {
    const house = fakeFetch(() => json({ fine: true }))
    const params = endpoint.path.match(/:[a-z]+/gi) ?? []
    const args: Array<unknown> = params.map(() => unfriendly)
    if (endpoint.payload.size > 0) args.push({ some: "body" })
    if (endpoint.query !== undefined) args.push({ limit: 3, unset: undefined })
    const answer = await methodOf(house.fetch, group, name)!(...args, { idempotencyKey: "mine" })
    const [asked, ...more] = house.all
    expect(more).toEqual([])
    expect(asked!.method).toBe(endpoint.method)
    expect(asked!.url.pathname).toBe(endpoint.path.replace(/:[a-z]+/gi, encodeURIComponent(unfriendly)))
    expect(asked!.url.search).toBe(endpoint.query === undefined ? "" : "?limit=3")
    expect(asked!.headers.get("authorization")).toBe("Bearer secret")
    expect(asked!.body).toEqual(endpoint.payload.size > 0 ? { some: "body" } : undefined)
    expect(asked!.headers.get("idempotency-key")).toBe(endpoint.method === "POST" ? "mine" : null)
    const streamed = answer instanceof ReadableStream
    expect(streamed).toBe(answers(endpoint, "StreamUint8Array"))
    expect(streamed ? await new Response(answer).json() : answer).toEqual({ fine: true })
  })

  it.each(endless)("$group $name is the feed, and no method", async ({ endpoint, group, name }) => {
    const house = fakeFetch(sse([eventFrame(1)], "silence"))
    expect(methodOf(house.fetch, group, name)).toBeUndefined()
    // A path with a parameter is the feed of one space.
    const options = endpoint.path.includes(":") ? { space: unfriendly } : {}
    for await (const _ of connect({ url, fetch: house.fetch }).feed(options)) break
    const pathname = endpoint.path.replace(/:[a-z]+/gi, encodeURIComponent(unfriendly))
    expect(house.all[0]).toMatchObject({ method: endpoint.method, url: { pathname } })
    expect(house.all[0]!.signal!.aborted).toBe(true)
  })
})

describe("requests", () => {
  it("a path in the address is kept, the rest of it is not sent", async () => {
    const house = fakeFetch(() => json({}))
    await connect({ url: "https://somebody@x.test/stoa/?a=b#token=t", fetch: house.fetch }).principals.me()
    expect(house.all[0]!.url.href).toBe("https://x.test/stoa/api/v1/me")
    expect(house.all[0]!.headers.has("authorization")).toBe(false)
  })

  it.each(["", "house", "ftp://x.test", "http://"])("%j is not an address, and that is said", (wrong) => {
    expect(() => connect({ url: wrong })).toThrow(/is not the address of a house\. Give one such as/)
  })

  it.each(["", ".", ".."])("%j as a name would be another path, and is not sent", async (name) => {
    const house = fakeFetch(() => json({}))
    const stoa = connect({ url, fetch: house.fetch })
    await expect(stoa.tokens.rotate(name)).rejects.toThrow(/POST \S+ needs its id/)
    await expect(stoa.principals.get(undefined as never)).rejects.toThrow(TypeError)
    expect(house.all).toEqual([])
  })

  it("a broken connection is tried once more, with the same key", async () => {
    const broken = () => Promise.reject(new TypeError("fetch failed"))
    const house = fakeFetch(broken, () => json({ id: "x" }, 201))
    const stoa = connect({ url, fetch: house.fetch })
    expect(await stoa.principals.add({ kind: "agent", name: "Pam" })).toEqual({ id: "x" })
    const keys = house.all.map(({ headers }) => headers.get("idempotency-key"))
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]])
  })

  it("what a lost sending may have removed is not missed by the second", async () => {
    const broken = () => Promise.reject(new TypeError("fetch failed"))
    const missing = () => json({ tag: "Missing" }, 404)
    const lost = connect({ url, fetch: fakeFetch(broken, missing).fetch })
    expect(await lost.tokens.revoke("tok_1")).toBeUndefined()
    const never = connect({ url, fetch: fakeFetch(missing).fetch })
    await expect(never.tokens.revoke("tok_1")).rejects.toMatchObject({ tag: "Missing" })
    const read = connect({ url, fetch: fakeFetch(broken, missing).fetch })
    await expect(read.principals.get("pam")).rejects.toMatchObject({ tag: "Missing" })
  })

  it("an answer that breaks off is tried once more", async () => {
    const cut = () => {
      const body = new ReadableStream({ start: (controller) => controller.error(new TypeError("terminated")) })
      return new Response(body, { headers: { "content-type": "application/json" } })
    }
    const house = fakeFetch(cut, () => json({ name: "admin" }))
    expect(await connect({ url, fetch: house.fetch }).principals.me()).toEqual({ name: "admin" })
  })

  it("two keys are never the same", async () => {
    const house = fakeFetch(() => json({}))
    const stoa = connect({ url, fetch: house.fetch })
    for (let n = 0; n < 20; n++) await stoa.house.reload()
    expect(new Set(house.all.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(20)
  })

  it("an aborted call is the caller's own end, and is not tried again", async () => {
    const stop = new AbortController()
    const house = fakeFetch(({ signal }) => {
      stop.abort(new Error("enough"))
      return Promise.reject(signal!.reason)
    })
    await expect(connect({ url, fetch: house.fetch }).principals.me({ signal: stop.signal })).rejects.toThrow("enough")
    expect(house.all).toHaveLength(1)
  })
})

describe("failures", () => {
  const failing = async (answer: () => Response | Promise<Response>): Promise<unknown> =>
    connect({ url, fetch: fakeFetch(answer).fetch })
      .principals.me()
      .then(
        () => undefined,
        (error: unknown) => error,
      )

  it("a problem document becomes a StoaError", async () => {
    const problem = { tag: "BadInput", status: 400, detail: "No.", issues: [{ path: "name", message: "a name" }] }
    const error = await failing(() => json(problem, 400, { "content-type": "application/problem+json" }))
    expect(error).toBeInstanceOf(StoaError)
    expect(error).toMatchObject({ message: "No.", tag: "BadInput", status: 400, issues: problem.issues, problem })
    expect((error as StoaError).retryAfter).toBeUndefined()
  })

  it("how long to wait comes from the problem, or from the header", async () => {
    const told = await failing(() => json({ tag: "TooManyRequests", retryAfter: 7 }, 429, { "retry-after": "9" }))
    expect(told).toMatchObject({ tag: "TooManyRequests", retryAfter: 7 })
    expect(await failing(() => new Response("", { status: 429, headers: { "retry-after": "9" } }))).toMatchObject({
      retryAfter: 9,
    })
  })

  it.each([["<h1>Bad gateway</h1>"], ["null"], [""], ['"text"'], ['{"issues":3,"detail":4}']])(
    "an answer in foreign words (%j) is still one sentence",
    async (text) => {
      const error = await failing(() => new Response(text, { status: 502 }))
      expect(error).toMatchObject({ message: "The house answered 502.", tag: "Unknown", status: 502, issues: [] })
    },
  )

  it("a page that is no house says so", async () => {
    const error = await failing(() => new Response("<html>", { headers: { "content-type": "text/html" } }))
    expect(error).toMatchObject({ message: `What answers at ${url} is not a Stoa house.` })
  })

  it("a house that does not answer is one clear sentence", async () => {
    const error = await failing(() => Promise.reject(new TypeError("fetch failed")))
    expect(error).toBeInstanceOf(StoaUnreachable)
    expect((error as Error).message).toBe(
      `No house answers at ${url}. Is it running? Start it with "npm start", or give its address.`,
    )
    expect((error as Error).cause).toMatchObject({ message: "fetch failed" })
  })
})
