/** The HTTP door: its rules, on both databases. */
import { request } from "node:http"
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Api } from "@stoa/contract"
import { Effect, type SchemaAST } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { largestBody } from "../../src/doors/node/NodeRequest.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"

interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly tag: string
  readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

/** A raw request as the admin; gives status, headers and the body as JSON. */
const call = Effect.fnUntraced(function* (path: string, init: RequestInit & { readonly token?: string | null } = {}) {
  const { adminToken, raw } = yield* Guest
  const token = init.token === undefined ? adminToken : init.token
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...(init.headers as object) }
  const answer = yield* ask(() => raw(path, { ...init, headers }))
  const text = yield* ask(() => answer.text())
  const type = answer.headers.get("content-type") ?? ""
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: (type.includes("json") && text !== "" ? JSON.parse(text) : {}) as Problem & Record<string, never>,
  }
})

const post = (path: string, body: unknown, headers: object = {}) =>
  call(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })

let made = 0
const fresh = (name: string) => `${name} ${++made}`

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`http on ${store}`, (it) => {
    it.effect("every failure is a problem document with a page of its own", () =>
      Effect.gen(function* () {
        const table = [
          [yield* call("/api/v1/me", { token: null }), 401, "Unauthenticated"],
          [yield* call("/api/v1/me", { token: "wrong" }), 401, "Unauthenticated"],
          [yield* call("/api/v1/principals/nobody"), 404, "Missing"],
          [yield* call("/api/v1/nowhere"), 404, "NoRoute"],
          [yield* call("/elsewhere", { token: null }), 404, "NoRoute"],
          [yield* call("/api/v1/me", { method: "DELETE" }), 404, "NoRoute"],
          [yield* post("/api/v1/principals", "{not json"), 400, "BadInput"],
          [yield* post("/api/v1/principals", {}), 400, "BadInput"],
          [yield* post("/api/v1/principals", { kind: "agent", name: "admin" }), 409, "NameTaken"],
          [
            yield* post("/api/v1/principals", "a=b", { "content-type": "application/x-www-form-urlencoded" }),
            415,
            "UnsupportedBody",
          ],
          [yield* call("/api/v1/principals?limit=101"), 400, "BadInput"],
          [yield* call("/api/v1/tokens/nope", { method: "DELETE" }), 400, "BadInput"],
        ] as const
        for (const [answer, status, tag] of table) {
          assert.deepStrictEqual([answer.status, answer.body.tag], [status, tag])
          assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
          assert.deepStrictEqual(
            [answer.body.status, answer.body.type, typeof answer.body.title, answer.body.detail.length > 20],
            [status, `/docs/errors/${tag}`, "string", true],
          )
          const page = yield* call(answer.body.type, { token: null })
          assert.strictEqual(page.status, 200, `${tag} has no page`)
        }
      }),
    )

    it.effect("bad input is named by path, and a wrong query says it is the query", () =>
      Effect.gen(function* () {
        const body = yield* post("/api/v1/principals", { kind: "robot", name: "  ", roles: ["admin", "king"] })
        assert.deepStrictEqual([...new Set(body.body.issues!.map((issue) => issue.path))].toSorted(), [
          "kind",
          "name",
          "roles.1",
        ])
        const query = yield* call("/api/v1/principals?limit=many")
        assert.strictEqual(query.body.issues![0]!.path, "query.limit")
        const json = yield* post("/api/v1/principals", "{not json")
        assert.strictEqual(json.body.issues![0]!.path, "body")
      }),
    )

    it.effect("a body over 4 MiB is refused with 413, announced or not, and the house goes on", () =>
      Effect.gen(function* () {
        const big = JSON.stringify({ kind: "agent", name: "x".repeat(largestBody) })
        const announced = yield* post("/api/v1/principals", big)
        assert.deepStrictEqual([announced.status, announced.body.tag], [413, "TooLarge"])
        const stream = new ReadableStream<Uint8Array>({
          start: (controller) => {
            for (let sent = 0; sent <= largestBody; sent += 65_536) controller.enqueue(new Uint8Array(65_536).fill(32))
            controller.close()
          },
        })
        const chunked = yield* call("/api/v1/principals", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: stream,
          duplex: "half",
        } as RequestInit)
        assert.deepStrictEqual([chunked.status, chunked.body.tag], [413, "TooLarge"])
        assert.strictEqual((yield* call("/healthz", { token: null })).status, 200)
        const text = new ReadableStream<Uint8Array>({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode("hello"))
            controller.close()
          },
        })
        const plain = yield* call("/api/v1/principals", {
          method: "POST",
          headers: { "content-type": "text/plain" },
          body: text,
          duplex: "half",
        } as RequestInit)
        assert.deepStrictEqual([plain.status, plain.body.tag], [415, "UnsupportedBody"])
      }),
    )

    it.effect("G-44 a request names its Host once: two of them, or none, are refused before anything else", () =>
      Effect.gen(function* () {
        const { adminToken, url } = yield* Guest
        const { host, hostname, port } = new URL(url)
        const told = (path: string, ...hosts: ReadonlyArray<string>) =>
          Effect.promise(
            () =>
              new Promise<string>((done, fail) => {
                const socket = connect(Number(port), hostname)
                let text = ""
                socket.on("data", (chunk) => void (text += chunk.toString("latin1")))
                socket.on("error", fail)
                socket.on("close", () => done(text))
                const lines = [...hosts, "Connection: close", `Authorization: Bearer ${adminToken}`]
                socket.write([`GET ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"))
              }),
          )
        for (const path of ["/healthz", "/api/v1/me", "/", "/nowhere", "/mcp"]) {
          for (const two of [
            [`Host: ${host}`, "Host: evil.example"],
            ["Host: evil.example", `Host: ${host}`],
            [`Host: ${host}`, `hOST: ${host}`],
            [`Host: ${host}`, "X-Between: 1", "host:"],
          ]) {
            const answer = yield* told(path, ...two)
            assert.match(answer, /^HTTP\/1\.1 400 /, path)
            assert.include(answer, '"path":"headers.host"', path)
          }
          assert.match(yield* told(path), /^HTTP\/1\.1 400 /, path)
          assert.notMatch(yield* told(path, `Host: ${host}`, "X-Host: Host"), /^HTTP\/1\.1 400 /, path)
        }
      }),
    )

    it.effect("G-44 a foreign Host or Origin is refused, no CORS is offered, and 401 names Bearer", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const foreign = yield* call("/api/v1/me", { headers: { origin: "https://evil.example" } })
        assert.deepStrictEqual([foreign.status, foreign.body.tag], [403, "ForeignOrigin"])
        const own = yield* call("/api/v1/me", { headers: { origin: url } })
        assert.strictEqual(own.status, 200)
        assert.isNull(own.headers.get("access-control-allow-origin"))
        const rebound = yield* rawHost(url, "evil.example")
        assert.strictEqual(rebound, 403)
        assert.strictEqual(yield* rawHost(url, new URL(url).host), 200)
        const challenge = (token: string | null) =>
          Effect.map(call("/api/v1/me", { token }), ({ headers }) => headers.get("www-authenticate"))
        assert.strictEqual(yield* challenge(null), "Bearer")
        // Nobody without a token passes any door, unless a setting says as whom.
        for (const [path, method] of [
          ["/api/v1/me", "GET"],
          ["/api/v1/principals", "GET"],
          ["/api/v1/events", "GET"],
          ["/api/v1/tools/whoami/call", "POST"],
          ["/mcp", "POST"],
          ["/mcp/office", "POST"],
        ] as const) {
          const body = method === "GET" ? {} : { body: "{}", headers: { "content-type": "application/json" } }
          assert.strictEqual((yield* call(path, { method, token: null, ...body })).status, 401, path)
        }
        // A page of another port of this machine is foreign, too, and so is a name that only ends like ours.
        for (const origin of [new URL(url).origin.replace(/\d+$/, "1"), `http://evil-${new URL(url).host}`, "null"])
          assert.strictEqual((yield* call("/api/v1/me", { headers: { origin } })).status, 403, origin)
        assert.strictEqual(yield* challenge("stoa_wrong"), 'Bearer error="invalid_token"')
      }),
    )

    it.effect("health, description and pages need no token", () =>
      Effect.gen(function* () {
        const open = (path: string) => call(path, { token: null })
        assert.strictEqual((yield* open("/healthz")).text, '{"status":"ok"}')
        assert.strictEqual((yield* open("/readyz")).text, '{"status":"ok"}')
        const api = yield* open("/openapi.json")
        const paths = Object.keys((api.body as unknown as { paths: object }).paths)
        const groups = Object.values(
          Api.groups as unknown as Record<string, { endpoints: Record<string, { path: string }> }>,
        )
        const declared = groups.flatMap((group) =>
          Object.values(group.endpoints).map(({ path }) => path.replace(/:(\w+)/g, "{$1}")),
        )
        assert.sameMembers(paths, [...new Set(declared)])
        for (const page of ["/", "/docs"]) {
          const answer = yield* open(page)
          assert.strictEqual(answer.status, 200)
          assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/)
        }
      }),
    )

    it.effect("G-39 the caller's trace id runs through the answer, the event and the audit row", () =>
      Effect.gen(function* () {
        const trace = "0123456789abcdef0123456789abcdef"
        const name = fresh("traced")
        const answer = yield* post(
          "/api/v1/principals",
          { kind: "agent", name },
          { traceparent: `00-${trace}-0123456789abcdef-01` },
        )
        assert.strictEqual(answer.headers.get("x-correlation-id"), trace)
        const journal = yield* Journal
        const event = (yield* journal.read({ after: (yield* journal.end) - 1, limit: 1 }))[0]!
        assert.strictEqual(event.correlationId, trace)
        const garbage = yield* post(
          "/api/v1/principals",
          { kind: "agent", name: fresh("x") },
          { traceparent: "garbage" },
        )
        assert.match(garbage.headers.get("x-correlation-id")!, /^[0-9a-f]{32}$/)
      }),
    )

    it.effect("a create answers 201; repeated with its key 200 and the first object, also the token's secret", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const name = fresh("once")
        const key = { "idempotency-key": fresh("key") }
        const first = yield* post("/api/v1/principals", { kind: "agent", name }, key)
        const second = yield* post("/api/v1/principals", { kind: "agent", name }, key)
        assert.deepStrictEqual([first.status, second.status], [201, 200])
        assert.deepStrictEqual(second.body, first.body)
        const other = yield* post("/api/v1/principals", { kind: "agent", name: fresh("other") }, key)
        assert.deepStrictEqual([other.status, other.body.tag], [409, "WrongState"])
        const tokenKey = { "idempotency-key": fresh("key") }
        const tokens = yield* Effect.forEach([1, 2], () => post("/api/v1/tokens", { principal: name }, tokenKey))
        assert.deepStrictEqual(tokens[0]!.body, tokens[1]!.body)
        assert.strictEqual(
          (yield* sql`SELECT id FROM tokens WHERE label IS NULL AND principal = ${(first.body as unknown as { id: string }).id}`)
            .length,
          1,
        )
        const kept = yield* sql<{ answer: Uint8Array }>`SELECT answer FROM answers`
        for (const row of kept) assert.isFalse(Buffer.from(row.answer).toString("latin1").includes("stoa_"))
      }),
    )

    it.effect("the same key sent eight times at once makes one", () =>
      Effect.gen(function* () {
        const name = fresh("race")
        const key = { "idempotency-key": fresh("key") }
        const answers = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => post("/api/v1/principals", { kind: "agent", name }, key),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(
          answers.map((answer) => answer.status).toSorted(),
          [200, 200, 200, 200, 200, 200, 200, 201],
        )
        assert.strictEqual(new Set(answers.map((answer) => answer.text)).size, 1)
      }),
    )

    it.effect("a failed create keeps no key: the same key may succeed later", () =>
      Effect.gen(function* () {
        const name = fresh("late")
        const key = { "idempotency-key": fresh("key") }
        assert.strictEqual(
          (yield* post("/api/v1/principals", { kind: "agent", name, owner: "nobody here" }, key)).status,
          404,
        )
        assert.strictEqual((yield* post("/api/v1/principals", { kind: "agent", name }, key)).status, 201)
      }),
    )

    it.effect("lists come in pages that neither repeat nor skip while people arrive", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        yield* Effect.forEach(Array.from({ length: 7 }), () =>
          ask(() => admin.principals.add({ kind: "service", name: fresh("svc") })),
        )
        const seen: Array<string> = []
        let cursor: string | undefined
        do {
          const page = yield* ask(() =>
            admin.principals.list({ kind: "service", limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
          )
          seen.push(...page.items.map((one) => one.name))
          cursor = page.next ?? undefined
          // Somebody whose name sorts first arrives in between: no page may show anybody twice.
          if (seen.length === 3) yield* ask(() => admin.principals.add({ kind: "service", name: fresh("aaa") }))
        } while (cursor !== undefined)
        assert.strictEqual(new Set(seen).size, seen.length)
        assert.isAtLeast(seen.length, 7)
      }),
    )

    it.effect("a name is matched whole: hostile names are refused or just names", () =>
      Effect.gen(function* () {
        for (const name of [
          "",
          " ",
          "a\u0000b",
          "a\nb",
          "x".repeat(64),
          "../etc/passwd",
          "<script>",
          "a/b",
          "admin ",
          "prn_00000000-0000-4000-8000-000000000000",
        ])
          assert.strictEqual(
            (yield* post("/api/v1/principals", { kind: "agent", name })).status,
            400,
            JSON.stringify(name),
          )
        for (const name of [
          `O'Brien ${++made}`,
          `Zoë ${++made}`,
          `日本語 ${++made}`,
          `'; DROP TABLE x--${++made}`.replace(/[;]/g, ""),
        ].slice(0, 3))
          assert.strictEqual((yield* post("/api/v1/principals", { kind: "agent", name })).status, 201, name)
        assert.strictEqual((yield* post("/api/v1/principals", { kind: "agent", name: "ADMIN" })).status, 409)
      }),
    )

    it.effect("a NUL, a misspelt field, a made-up cursor and a blank key are each refused by path", () =>
      Effect.gen(function* () {
        const table = [
          yield* post("/api/v1/tokens", '{"principal":"admin","label":"a\\u0000b"}'),
          yield* call("/api/v1/principals/%00"),
          yield* post("/api/v1/tokens", { principal: "admin", expires: "2030-01-01T00:00:00Z" }),
          yield* call("/api/v1/principals?cursor=YWRtaW4="),
          yield* call("/api/v1/principals?cursor=AAAA"),
          yield* call("/api/v1/audit?cursor=junk!"),
          yield* post("/api/v1/principals", { kind: "agent", name: fresh("blank") }, { "idempotency-key": " " }),
        ]
        for (const answer of table)
          assert.deepStrictEqual([answer.status, answer.body.tag], [400, "BadInput"], answer.text)
        assert.strictEqual(table[2]!.body.issues![0]!.path, "expires")
        // A backslash before it is a backslash and five characters.
        assert.strictEqual((yield* post("/api/v1/tokens", '{"principal":"admin","label":"a\\\\u0000b"}')).status, 201)
      }),
    )

    it.effect("figures are for whoever may read them", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* call("/metrics", { token: null })).status, 401)
        const { text } = yield* call("/metrics")
        assert.match(text, /^stoa_journal_cursor [1-9]/m)
        assert.match(text, /^stoa_feed_streams \d/m)
      }),
    )

    it.effect("HEAD answers like GET, without the body", () =>
      Effect.gen(function* () {
        for (const path of ["/", "/docs", "/healthz", "/openapi.json", "/api/v1/me"]) {
          const [head, get] = [yield* call(path, { method: "HEAD" }), yield* call(path)]
          assert.deepStrictEqual(
            [head.status, head.text, head.headers.get("content-length")],
            [get.status, "", get.headers.get("content-length")],
            path,
          )
        }
      }),
    )

    it.effect("a fault of ours is a 500 with the correlation id and none of its insides", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`ALTER TABLE secrets RENAME TO hidden`
        const answer = yield* call("/api/v1/secrets")
        yield* sql`ALTER TABLE hidden RENAME TO secrets`
        assert.deepStrictEqual([answer.status, answer.body.tag], [500, "Internal"])
        assert.include(answer.body.detail, answer.headers.get("x-correlation-id")!)
        assert.isFalse(/secrets|SELECT|Sql/.test(answer.text))
      }),
    )
  })

layer(house({ store: "sqlite" }), { excludeTestServices: true })("query parameters", (it) => {
  const endpoints = Object.values(Api.groups as unknown as Record<string, HttpApiGroup.Top>).flatMap((group) =>
    Object.values(group.endpoints as Record<string, HttpApiEndpoint.Top>),
  )

  const namesOf = ({ query }: HttpApiEndpoint.Top) =>
    query === undefined ? [] : (query.ast as SchemaAST.Objects).propertySignatures.map(({ name }) => String(name))

  it.effect("a misspelled one is refused with the one that was meant, on every endpoint of the API that has any", () =>
    Effect.gen(function* () {
      const ofApi = endpoints.filter((one) => one.path.startsWith("/api/") && namesOf(one).length > 0)
      assert.isAbove(ofApi.length, 20)
      for (const one of ofApi) {
        const { method, path } = one
        const typo = `${namesOf(one)[0]}x`
        const answer = yield* call(`${path.replaceAll(/:\w+/g, "x")}?${typo}=1`, { method })
        assert.deepStrictEqual([answer.status, answer.body.tag], [400, "BadInput"], `${method} ${path} ${answer.text}`)
        assert.include(answer.body.detail, `query.${typo}: there is no "${typo}" here; did you mean "`)
      }
      // What is like none of ours is ignored, as everywhere on the web.
      assert.strictEqual((yield* call("/api/v1/principals?kind=agent&limit=3&utm_source=mail")).status, 200)
      assert.strictEqual((yield* call("/api/v1/me?agentId=admin")).status, 200)
      assert.strictEqual((yield* call("/api/v1/principals?ids=nobody")).status, 400)
    }),
  )

  it.effect("what is not of the API takes any: health, metrics, the page, a signed link", () =>
    Effect.gen(function* () {
      for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"])
        assert.strictEqual((yield* call(`${path}?x=1`)).status, 200, path)
      for (const path of ["/", "/d/none"]) assert.notStrictEqual((yield* call(`${path}?x=1`)).status, 400, path)
    }),
  )
})

layer(
  house({
    store: "sqlite",
    config: {
      people: [{ name: "Kim" }],
      limits: [{ principal: "Kim", resource: "http", count: 3, seconds: 60 }],
    },
  }),
  { excludeTestServices: true },
)("limits", (it) => {
  it.effect("G-10 one principal's limit answers 429 with Retry-After, and costs nobody else anything", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const { token } = yield* ask(() => admin.tokens.add({ principal: "Kim" }))
      const answers = yield* Effect.forEach(Array.from({ length: 5 }), () => call("/api/v1/me", { token }))
      assert.deepStrictEqual(
        answers.map((answer) => answer.status),
        [200, 200, 200, 429, 429],
      )
      const refused = answers[3]!
      assert.strictEqual(refused.body.tag, "TooManyRequests")
      const seconds = Number(refused.headers.get("retry-after"))
      assert.isTrue(seconds >= 1 && seconds <= 60)
      assert.strictEqual((yield* call("/api/v1/me")).status, 200)
    }),
  )

  it.effect("guessing at tokens is slowed by address", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => call("/api/v1/me", { token: "guess" }))
      assert.strictEqual(answers[0]!.status, 401)
      assert.strictEqual(answers.at(-1)!.status, 429)
      assert.strictEqual((yield* call("/api/v1/me")).status, 200)
    }),
  )
})

layer(house({ store: "sqlite", env: { STOA_ANONYMOUS: "admin", STOA_PUBLIC_URL: "https://stoa.example.org" } }), {
  excludeTestServices: true,
})("settings of the door", (it) => {
  it.effect("STOA_ANONYMOUS lets a request without a token act as that principal, and no wrong token", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("/api/v1/me", { token: null })).body["name"], "admin")
      assert.strictEqual((yield* call("/api/v1/me", { token: "wrong" })).status, 401)
    }),
  )
  it.effect("STOA_PUBLIC_URL is a host and an origin of ours", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      assert.strictEqual(yield* rawHost(url, "stoa.example.org"), 200)
      assert.strictEqual((yield* call("/healthz", { headers: { origin: "https://stoa.example.org" } })).status, 200)
    }),
  )
})

/** fetch sets Host itself; a hostile client does not use fetch. */
const rawHost = (url: string, host: string) =>
  Effect.promise(
    () =>
      new Promise<number>((done, fail) => {
        request(new URL("/healthz", url), { headers: { host } }, (answer) => {
          answer.resume()
          done(answer.statusCode ?? 0)
        })
          .on("error", fail)
          .end()
      }),
  )
