/** A browser's session: made from a token, sent by the house's own pages alone, and over when the token is. */
import { assert, layer } from "@effect/vitest"
import { Api, Authentication, Submitting } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { ask, Guest, house } from "../house.ts"

interface Start {
  readonly me: { readonly name: string }
  readonly house: { readonly version: string }
  readonly spaces: ReadonlyArray<{ readonly name: string; readonly unread: number }>
  readonly decisions: ReadonlyArray<{ readonly state: string }>
  readonly cursor: number
}

const knows: ReadonlySet<string> = new Set([Authentication.key, Submitting.key])
let number = 0
/** A person with a token, and their browser. */
const person = Effect.fnUntraced(function* (expiresAt?: DateTime.Utc) {
  const { admin, raw, url } = yield* Guest
  const name = `person ${++number}`
  yield* ask(() => admin.principals.add({ kind: "person", name, roles: ["member"] }))
  const made = yield* ask(() =>
    admin.tokens.add({
      principal: name,
      ...(expiresAt === undefined ? {} : { expiresAt: DateTime.formatIso(expiresAt) }),
    }),
  )
  const send = (path: string, init: RequestInit = {}) => ask(() => raw(`/api/v1${path}`, init))
  const json = { "content-type": "application/json" }
  const open = (token: string) => send("/session", { method: "POST", headers: json, body: JSON.stringify({ token }) })
  const opened = yield* open(made.token)
  const set = opened.headers.get("set-cookie") ?? ""
  const cookie = set.split(";")[0]!
  /** As a page of the house sends it, with what is left out or changed. */
  const asPage = (path: string, method = "GET", body?: object, over: Record<string, string | undefined> = {}) => {
    const headers = { cookie, origin: url, "x-stoa-page": "1", ...(body === undefined ? {} : json), ...over }
    const kept = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    return send(path, { method, headers: kept as never, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  }
  return { name, token: made, opened, set, cookie, open, asPage, send }
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`sessions on ${store}`, (it) => {
    it.effect("a token is traded for a cookie that no script reads, and the page begins with one answer", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { asPage, name, opened, set, token } = yield* person()
        assert.strictEqual(opened.status, 204)
        for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.include(set, part)
        assert.match(set, /^stoa_session=stoa_[\w-]+; /)
        // A credential of its own: the one that was given is in no cookie.
        assert.notInclude(set, token.token)
        const looked = (over?: Record<string, string | undefined>) =>
          Effect.flatMap(asPage("/session", "GET", undefined, over), (answer) =>
            Effect.map(
              ask(() => answer.json()),
              (body) => [answer.status, (body as { principal: { name: string } | null }).principal?.name],
            ),
          )
        assert.deepStrictEqual(yield* looked(), [200, name])
        assert.deepStrictEqual(yield* looked({ cookie: undefined }), [200, undefined])
        assert.deepStrictEqual(yield* looked({ "sec-fetch-site": "cross-site" }), [200, undefined])
        const hall = yield* ask(() => admin.spaces.add({ name: `hall-${number}`, kind: "private", members: [name] }))
        const before = yield* ask(() => admin.spaces.post(hall.id, { text: "good morning" }))
        const started = yield* asPage("/start")
        const start = (yield* ask(() => started.json())) as Start
        assert.strictEqual(start.me.name, name)
        assert.deepInclude(
          start.spaces.find((one) => one.name === hall.name),
          { unread: 1 },
        )
        assert.deepStrictEqual(start.decisions, [])
        assert.match(start.house.version, /^\d+\.\d+\.\d+$/)
        // What came after it is on the feed; what came before is not again.
        const after = yield* ask(() => admin.spaces.post(hall.id, { text: "and now" }))
        const feed = yield* asPage(`/events?after=${start.cursor}`)
        const reader = feed.body!.getReader()
        let heard = ""
        while (!heard.includes(after.id)) heard += Buffer.from((yield* ask(() => reader.read())).value!).toString()
        yield* ask(() => reader.cancel())
        assert.notInclude(heard, before.id)
      }),
    )

    it.effect("a write by cookie needs the house's own origin and a header no form can send", () =>
      Effect.gen(function* () {
        const { raw, url } = yield* Guest
        const { asPage, cookie } = yield* person()
        let made = 0
        const write = (over: Record<string, string | undefined> = {}) =>
          Effect.map(
            asPage("/spaces", "POST", { name: `of-page-${number}-${++made}`, kind: "private" }, over),
            (it) => it.status,
          )
        assert.strictEqual(yield* write(), 201)
        assert.strictEqual(yield* write({ "x-stoa-page": undefined }), 401)
        assert.strictEqual(yield* write({ origin: undefined }), 401)
        assert.strictEqual(yield* write({ origin: "https://evil.example" }), 403)
        assert.strictEqual(yield* write({ cookie: undefined }), 401)
        assert.strictEqual(
          (yield* asPage("/me", "GET", undefined, { origin: undefined, "x-stoa-page": undefined })).status,
          200,
        )
        // Programs have their own door: a page that is tricked into it says nothing.
        const mcp = yield* ask(() =>
          raw("/mcp", {
            method: "POST",
            headers: {
              cookie,
              origin: url,
              "x-stoa-page": "1",
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
            },
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
          }),
        )
        assert.strictEqual(mcp.status, 401)
      }),
    )

    it.effect("it ends when it is closed, with the token it was made from, and with that token's time", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const closing = yield* person()
        const closed = yield* closing.asPage("/session", "DELETE")
        assert.strictEqual(closed.status, 204)
        assert.match(closed.headers.get("set-cookie") ?? "", /^stoa_session=; .*Max-Age=0/)
        const over = yield* closing.asPage("/me")
        assert.strictEqual(over.status, 401)
        assert.deepStrictEqual(yield* ask(async () => (await Effect.runPromise(closing.asPage("/session"))).json()), {
          principal: null,
        })
        // The person signed out, and it is written down as theirs; a session that is none is a guess, and so is that.
        const ofTheirs = yield* ask(() => admin.audit.list({ principal: closing.token.principal, limit: 100 }))
        assert.include(
          ofTheirs.items.map(({ action, resource }) => `${action} ${resource.split("/")[0]}`),
          "revoke tokens",
        )
        const guesses = Effect.map(
          ask(() => admin.audit.list({ result: "denied", limit: 100 })),
          ({ items }) => items.filter(({ action }) => action === "authenticate").length,
        )
        const before = yield* guesses
        const guessed = yield* closing.asPage("/session", "DELETE", undefined, { cookie: "stoa_session=stoa_guess" })
        assert.strictEqual(guessed.status, 204)
        assert.strictEqual(yield* guesses, before + 1)
        // Out of the browser, so that it is not tried for ever.
        assert.match(over.headers.get("set-cookie") ?? "", /^stoa_session=; .*Max-Age=0/)
        assert.strictEqual(
          (yield* ask(() => admin.tokens.list({ principal: closing.name }))).items.filter(
            (one) => one.revokedAt === null,
          ).length,
          1,
        )

        const revoked = yield* person()
        yield* ask(() => admin.tokens.revoke(revoked.token.id))
        assert.strictEqual((yield* revoked.asPage("/me")).status, 401)

        const soon = DateTime.add(yield* DateTime.now, { minutes: 5 })
        const short = yield* person(soon)
        const [, seconds] = /Max-Age=(\d+)/.exec(short.set)!
        assert.isAtMost(Number(seconds), 300)
        const { items } = yield* ask(() => admin.tokens.list({ principal: short.name }))
        const browser = items.find(({ label }) => label === "browser")!
        assert.strictEqual(Date.parse(String(browser.expiresAt)), Date.parse(String(short.token.expiresAt)))
      }),
    )

    it.effect(
      "what the cookie holds is no bearer token, a bearer token is no cookie, and no token is made of one",
      () =>
        Effect.gen(function* () {
          const { admin, raw } = yield* Guest
          const { asPage, cookie, name, open, token } = yield* person()
          const value = cookie.split("=")[1]!
          const as = (authorization: string, path = "/me") =>
            asPage(path, "GET", undefined, { cookie: undefined, authorization })
          assert.strictEqual((yield* as(`Bearer ${token.token}`)).status, 200)
          for (const scheme of ["Bearer", "bearer", "BEARER "])
            assert.strictEqual((yield* as(`${scheme} ${value}`)).status, 401)
          assert.strictEqual((yield* as(`Bearer ${value}`, "/events?after=0")).status, 401)
          const listed = yield* ask(() =>
            raw("/mcp", {
              method: "POST",
              headers: {
                authorization: `Bearer ${value}`,
                "content-type": "application/json",
                accept: "application/json, text/event-stream",
              },
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
            }),
          )
          assert.strictEqual(listed.status, 401)
          assert.strictEqual((yield* open(value)).status, 401)
          assert.strictEqual(
            (yield* asPage("/me", "GET", undefined, { cookie: `stoa_session=${token.token}` })).status,
            401,
          )
          const { items } = yield* ask(() => admin.tokens.list({ principal: name }))
          const browser = items.find(({ label }) => label === "browser")!
          const rotated = yield* asPage(`/tokens/${browser.id}/rotate`, "POST", {})
          assert.strictEqual(rotated.status, 409)
          assert.include(yield* ask(() => rotated.text()), "Sign out and sign in again")
          assert.strictEqual(browser.madeFor, "browser")
          // Another token, without an end: the new one ends with the browser that asked for it.
          const endless = yield* ask(() => admin.tokens.add({ principal: name, label: "laptop" }))
          assert.isNull(endless.expiresAt)
          const renewed = yield* asPage(`/tokens/${endless.id}/rotate`, "POST", {})
          assert.strictEqual(renewed.status, 201)
          const now = (yield* ask(() => renewed.json())) as {
            readonly expiresAt: string | null
            readonly label: string
          }
          assert.deepStrictEqual([now.expiresAt, now.label], [browser.expiresAt, "laptop"])
          assert.strictEqual((yield* asPage("/me")).status, 200)
        }),
    )

    it.effect("a browser that rotates the token it was opened with goes over to the new one; others of it end", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const { asPage, name, open, token: made } = yield* person()
        const elsewhere = ((yield* open(made.token)).headers.get("set-cookie") ?? "").split(";")[0]!
        const stay = yield* asPage("/me", "GET", undefined, { cookie: elsewhere })
        assert.strictEqual(stay.status, 200)
        const rotated = yield* asPage(`/tokens/${made.id}/rotate`, "POST", {})
        assert.strictEqual(rotated.status, 201)
        const renewed = (yield* ask(() => rotated.json())) as { readonly id: string; readonly token: string }
        assert.strictEqual((yield* asPage("/me")).status, 200)
        assert.strictEqual((yield* asPage("/me", "GET", undefined, { cookie: elsewhere })).status, 401)
        assert.strictEqual((yield* ask(() => as(renewed.token).principals.me())).name, name)
        const old = yield* Effect.flip(ask(() => as(made.token).principals.me()))
        assert.strictEqual((old as { readonly status?: number }).status, 401)
        // It ends with the new one, as it would have with the old one.
        yield* ask(() => admin.tokens.revoke(renewed.id))
        assert.strictEqual((yield* asPage("/me")).status, 401)
      }),
    )

    it.effect("pages of other sites and of other ports are not the house, whatever the browser sends along", () =>
      Effect.gen(function* () {
        const { asPage } = yield* person()
        const from = (site: string | undefined, method: string) =>
          Effect.map(
            asPage(
              method === "GET" ? "/me" : "/spaces",
              method,
              method === "GET" ? undefined : { name: `from-${site}-${number}`, kind: "private" },
              { "sec-fetch-site": site },
            ),
            ({ status }) => status,
          )
        const sites = [undefined, "same-origin", "none", "same-site", "cross-site", "nonsense"]
        const reads = yield* Effect.forEach(sites, (site) => from(site, "GET"))
        const writes = yield* Effect.forEach(sites, (site) => from(site, "POST"))
        assert.deepStrictEqual(reads, [200, 200, 200, 401, 401, 401])
        assert.deepStrictEqual(writes, [201, 201, 401, 401, 401, 401])
      }),
    )

    it.effect("a token that is revoked while a session is opened leaves no session that works", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        for (let n = 0; n < 8; n++) {
          const { asPage, name, open, token } = yield* person()
          const [opened] = yield* Effect.all([open(token.token), ask(() => admin.tokens.revoke(token.id))], {
            concurrency: "unbounded",
          })
          const cookie = opened.headers.get("set-cookie")?.split(";")[0]
          if (opened.status === 204)
            assert.strictEqual((yield* asPage("/me", "GET", undefined, { cookie })).status, 401, name)
        }
      }),
    )

    it.effect("a wrong token opens nothing, and the oldest of many browsers is signed out", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { asPage, name, open, token } = yield* person()
        const wrong = yield* open("stoa_wrong")
        assert.deepStrictEqual([wrong.status, wrong.headers.get("set-cookie")], [401, null])
        for (let n = 0; n < 20; n++) yield* open(token.token)
        const { items } = yield* ask(() => admin.tokens.list({ principal: name, limit: 100 }))
        const alive = items.filter(({ label, revokedAt }) => label === "browser" && revokedAt === null)
        assert.strictEqual(alive.length, 20)
        assert.strictEqual((yield* asPage("/me")).status, 401)
      }),
    )
  })

layer(house({ store: "sqlite", env: { STOA_PUBLIC_URL: "https://house.example" } }), {
  excludeTestServices: true,
  timeout: 60_000,
})("sessions behind https", (it) => {
  it.effect("the cookie's name keeps other hosts and plain connections from setting it, and no other name counts", () =>
    Effect.gen(function* () {
      const { asPage, cookie, set } = yield* person()
      assert.match(set, /^__Host-stoa_session=stoa_[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/)
      assert.strictEqual((yield* asPage("/me")).status, 200)
      const plain = cookie.replace("__Host-", "")
      assert.strictEqual((yield* asPage("/me", "GET", undefined, { cookie: plain })).status, 401)
      const both = `${cookie}; stoa_session=of-another`
      assert.strictEqual((yield* asPage("/me", "GET", undefined, { cookie: both })).status, 200)
      const closed = yield* asPage("/session", "DELETE")
      assert.match(closed.headers.get("set-cookie") ?? "", /^__Host-stoa_session=; .*Max-Age=0; Secure$/)
      assert.strictEqual((yield* asPage("/me")).status, 401)
    }),
  )
})

/** Whatever the contract lets anybody send, before it knows who that is. */
const strangersRoutes = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints as Record<string, HttpApiEndpoint.Top>)
    .filter((one) => one.payload.size > 0 && ![...one.middlewares].some((guard) => knows.has(guard.key)))
    .map(({ method, path }) => ({ method, path })),
)
layer(house({ store: "sqlite" }), { excludeTestServices: true, timeout: 60_000 })("bodies of strangers", (it) => {
  it.effect("nobody knows who sends it: more than 16 kB are refused before they are read, announced or in parts", () =>
    Effect.gen(function* () {
      const { raw } = yield* Guest
      assert.sameMembers(
        strangersRoutes.map(({ path }) => path),
        ["/api/v1/session", "/api/v1/wallet/challenge", "/api/v1/wallet/token"],
      )
      for (const { method, path } of strangersRoutes)
        for (const authorization of [undefined, "Bearer stoa_nobody"]) {
          const headers = { "content-type": "application/json", ...(authorization && { authorization }) }
          const body = JSON.stringify({ token: "x".repeat(16 * 1024) })
          const bodies: ReadonlyArray<RequestInit> = [
            { body },
            { body: new Blob([body]).stream(), duplex: "half" } as RequestInit,
          ]
          for (const init of bodies) {
            const answer = yield* ask(() => raw(path, { method, headers, ...init }))
            assert.strictEqual(answer.status, 413, `${method} ${path}`)
            assert.include(yield* ask(() => answer.text()), "16384")
          }
        }
    }),
  )
})
