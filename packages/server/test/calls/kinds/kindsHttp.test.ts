/** The http kind against stub services on loopback, which say what was really sent. */
import { assert, layer } from "@effect/vitest"
import type { ToolExecutionError } from "@stoa/contract"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { http, text } from "../../../../tools/test/egress/egressLoopback.ts"
import type { Kind } from "../../../src/calls/kinds/Kind.ts"
import { httpKind } from "../../../src/calls/kinds/http.ts"
import { called, configured, kindsLayer, rule, secret, variables } from "./kinds.ts"

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  text(JSON.stringify(value), status, { "content-type": "application/json", ...headers })

const call = Effect.fnUntraced(function* (execution: object, input: Record<string, unknown> = {}, over: object = {}) {
  const kind = (yield* httpKind) as unknown as Kind<never>
  return yield* called(kind, configured(execution), input, over)
})
const output = Effect.fnUntraced(function* (execution: object, input: Record<string, unknown> = {}) {
  return Result.getOrThrow((yield* call(execution, input)).result)
})
const failure = Effect.fnUntraced(function* (execution: object, input: Record<string, unknown> = {}) {
  const { result } = yield* call(execution, input)
  if (Result.isSuccess(result)) throw new Error(`it succeeded: ${JSON.stringify(result.success)}`)
  return result.failure as ToolExecutionError
})
const faults = Effect.fnUntraced(function* (execution: object) {
  return (yield* httpKind).faults!(configured(execution) as never)
})
const preview = Effect.fnUntraced(function* (execution: object, input: Record<string, unknown>) {
  return (yield* httpKind).preview(configured(execution) as never, input)
})
/** Loopback is inside: the operator opens it by name. */
const opened = rule("egress", [{ allow: ["127.0.0.1"] }])

layer(kindsLayer, { excludeTestServices: true })("an http tool", (it) => {
  it.effect("S1-23 S1-24 sends method, headers and body as they are configured, filled from input", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({ ok: true }))
      const body = {
        query: "{{input.q}}",
        page: { size: "{{input.n}}", tags: "{{input.tags}}" },
        note: "n={{input.n}}",
      }
      const execution = { url: `${stub.url}/data`, method: "POST", headers: { "X-Who": "it is {{input.q}}" }, body }
      const input = { q: 'a "quoted" one', n: 3, tags: ["x", { y: null }], unused: "never" }
      assert.deepStrictEqual(yield* output(execution, input), { ok: true })
      const [sent] = stub.seen
      assert.deepStrictEqual([sent!.method, sent!.url], ["POST", "/data"])
      assert.strictEqual(sent!.headers["x-who"], 'it is a "quoted" one')
      assert.strictEqual(sent!.headers["content-type"], "application/json")
      assert.deepStrictEqual(JSON.parse(sent!.body), {
        query: 'a "quoted" one',
        page: { size: 3, tags: ["x", { y: null }] },
        note: "n=3",
      })
    }),
  )

  it.effect("S1-23 a slow service trips the tool's timeout, and its connection is closed", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(() => {})
      const { result } = yield* call({ url: stub.url, timeout: 60 })
      assert.deepInclude(Result.isFailure(result) ? result.failure : {}, { _tag: "ToolTimeoutError", timeoutMs: 60 })
      yield* Effect.repeat(Effect.yieldNow, { until: () => stub.sockets.size === 0 })
    }),
  )

  it.effect("S1-24 missing input sends nothing, and the error names it", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      for (const over of [
        { url: `${stub.url}/{{input.a.b}}` },
        { url: `${stub.url}/?x={{input.a.b}}` },
        { url: stub.url, query: { x: "{{input.a.b}}" } },
        { url: stub.url, headers: { x: "{{input.a.b}}" } },
        { url: stub.url, method: "POST", body: { deep: ["{{input.a.b}}"] } },
      ]) {
        const error = yield* failure(over, { a: {} })
        assert.deepStrictEqual([error._tag, error.toolName], ["ToolExecutionError", "it"])
        assert.strictEqual(error.message, 'Nothing was sent: "input.a.b" is missing.')
      }
      assert.lengthOf(stub.seen, 0)
    }),
  )

  it.effect("S1-33 the output is the body alone; status and safe headers ride beside it", () =>
    Effect.gen(function* () {
      yield* opened
      const headers = { "set-cookie": "session=1", etag: '"7"', "x-request-id": "r1", "x-other": "no" }
      const stub = yield* http(json([1, { a: null }], 201, headers))
      const { meta, result } = yield* call({ url: stub.url })
      assert.deepStrictEqual(Result.getOrThrow(result), [1, { a: null }])
      assert.deepStrictEqual(meta, {
        status: 201,
        headers: { "content-type": "application/json", etag: '"7"', "x-request-id": "r1" },
      })
    }),
  )

  it.effect("S1-33 an answer outside 2xx fails the call, with its status and a bounded excerpt", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(text(`no such\n\tthing ${"x".repeat(5000)}`, 404))
      const { meta, result } = yield* call({ url: `${stub.url}/a?key=1` })
      const error = Result.isFailure(result) ? result.failure : undefined
      assert.match(error!.message, /^GET http:\/\/127\.0\.0\.1:\d+\/a answered 404: no such thing x{100}/)
      assert.isBelow(error!.message.length, 600)
      assert.strictEqual(meta["status"], 404)
      const empty = yield* http(text("", 304))
      assert.match((yield* failure({ url: empty.url })).message, / answered 304$/)
    }),
  )

  it.effect("S1-33 POST, PUT and PATCH without a body send the whole input; GET and DELETE send none of it", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      const input = { a: 1, b: { c: ["d"] } }
      for (const method of ["POST", "PUT", "PATCH"]) yield* output({ url: stub.url, method }, input)
      for (const { body, headers } of stub.seen) {
        assert.deepStrictEqual(JSON.parse(body), input)
        assert.strictEqual(headers["content-type"], "application/json")
      }
      stub.seen.length = 0
      for (const method of [undefined, "GET", "HEAD", "DELETE"])
        yield* output({ url: `${stub.url}/x`, ...(method === undefined ? {} : { method }) }, input)
      assert.deepStrictEqual(
        stub.seen.map(({ body, method, url }) => [method, url, body]),
        ["GET", "GET", "HEAD", "DELETE"].map((method) => [method, "/x", ""]),
      )
    }),
  )

  it.effect("reads JSON as JSON, text as text, the rest as base64, and nothing as null", () =>
    Effect.gen(function* () {
      yield* opened
      const table: ReadonlyArray<readonly [string | Buffer, string | undefined, unknown]> = [
        ['{"a":1}', "application/json", { a: 1 }],
        ['{"a":1}', "application/problem+json; charset=utf-8", { a: 1 }],
        ['{"a":1}', undefined, { a: 1 }],
        ["plain", undefined, "plain"],
        ['{"a":1}', "text/plain", '{"a":1}'],
        ['{"a":', "application/json", '{"a":'],
        [Buffer.from([0xe9]), "text/plain; charset=latin1", "é"],
        [Buffer.from([1, 0, 2]), "image/png", { mediaType: "image/png", base64: "AQAC" }],
        ["", "application/json", null],
        ["[".repeat(5000) + "]".repeat(5000), "application/json", "[".repeat(5000) + "]".repeat(5000)],
      ]
      for (const [body, type, expected] of table) {
        const stub = yield* http((_, response) => {
          response.writeHead(200, type === undefined ? {} : { "content-type": type }).end(body)
        })
        assert.deepStrictEqual(yield* output({ url: stub.url }), expected)
      }
    }),
  )

  it.effect("a longer answer than the tool takes fails, and no more of it is read", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(text("x".repeat(5000)))
      assert.match(
        (yield* failure({ url: stub.url, maxBytes: 4999 })).message,
        /gave a longer answer than this tool takes/,
      )
      assert.lengthOf((yield* output({ url: stub.url, maxBytes: 5000 })) as string, 5000)
    }),
  )

  it.effect("S1-25 ${env.NAME} is read at the call, and an unset one fails it", () =>
    Effect.gen(function* () {
      yield* opened
      yield* rule("env", ["API_KEY"])
      const stub = yield* http(json({}))
      const execution = { url: stub.url, headers: { Authorization: "Bearer ${env.API_KEY}" } }
      for (const value of ["first", "second"]) {
        variables["API_KEY"] = value
        const { redactor } = yield* call(execution)
        assert.strictEqual(redactor.text(`it is ${value}`), "it is [secret]")
        assert.strictEqual(stub.seen.at(-1)!.headers.authorization, `Bearer ${value}`)
      }
      for (const unset of [undefined, ""]) {
        variables["API_KEY"] = unset
        assert.match((yield* failure(execution)).message, /^The environment variable API_KEY is not set/)
      }
      assert.lengthOf(stub.seen, 2)
    }),
  )

  it.effect("S1-26 a variable that is not listed cannot be read, and input that names one stays text", () =>
    Effect.gen(function* () {
      yield* opened
      yield* rule("env", ["LISTED"])
      variables["PATH"] = "/planted"
      const stub = yield* http(json({}))
      const error = yield* failure({ url: stub.url, headers: { x: "${env.PATH}" } })
      assert.match(error.message, /^Tools may not read the environment variable PATH/)
      assert.notInclude(error.message, "/planted")
      assert.lengthOf(stub.seen, 0)
      const said = "${env.PATH} ${secret.KEY} {{input.other}}"
      yield* output({ url: `${stub.url}/{{input.q}}`, method: "POST" }, { q: said, other: "x" })
      assert.deepStrictEqual(stub.seen[0]!.url, `/${encodeURIComponent(said)}`)
      assert.deepStrictEqual((JSON.parse(stub.seen[0]!.body) as { q: string }).q, said)
    }),
  )

  it.effect("S1-26 input cannot change host, path or query, however it is spelled", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      const elsewhere = yield* http(json({}))
      const hostile = [
        "a/../b?x=1",
        "%2e%2e/admin",
        "..\\..\\x",
        `@${elsewhere.host}/`,
        `//${elsewhere.host}/`,
        "é漢/😀#f&k=v",
      ]
      for (const v of hostile) {
        const url = `${stub.url}/v1/items/{{input.v}}/show?q={{input.v}}&fixed=1`
        yield* output({ url, query: { r: "{{input.v}}" } }, { v })
        const sent = new URL(stub.seen.at(-1)!.url, stub.url)
        assert.match(sent.pathname, /^\/v1\/items\/[^/]+\/show$/)
        assert.deepStrictEqual(
          [...sent.searchParams],
          [
            ["q", v],
            ["fixed", "1"],
            ["r", v],
          ],
        )
      }
      for (const v of ["..", ".", "", "a\0"])
        assert.match((yield* failure({ url: `${stub.url}/v1/{{input.v}}/show` }, { v })).message, /^Nothing was sent: /)
      assert.lengthOf(stub.seen, hostile.length)
      assert.lengthOf(elsewhere.seen, 0)
    }),
  )

  it.effect("what is one header does not become two", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      for (const v of ["a\r\nx-admin: 1", "a\nb", "a\0b"]) {
        const error = yield* failure({ url: stub.url, headers: { "X-Name": "it is {{input.v}}" } }, { v })
        assert.strictEqual(error.message, 'Nothing was sent: the header "x-name" would have a line break in it.')
      }
      assert.lengthOf(stub.seen, 0)
    }),
  )

  it.effect("G-17 a secret goes where it was written, is told to who takes it out again, and is in no error", () =>
    Effect.gen(function* () {
      yield* opened
      const value = 'p@ss/"wörd"&'
      yield* secret("KEY", value)
      const stub = yield* http((request, response, body) =>
        response.writeHead(request.url?.startsWith("/fine") === true ? 200 : 500).end(`${request.url} ${body}`),
      )
      const execution = (path: string) => ({
        url: `${stub.url}/${path}/\${secret.KEY}?k=\${secret.KEY}`,
        method: "POST",
        headers: { "x-key": "${secret.KEY}!" },
        body: { key: "${secret.KEY}", list: ["<${secret.KEY}>"] },
      })
      const { redactor } = yield* call(execution("fine"))
      const [sent] = stub.seen
      assert.strictEqual(sent!.url, `/fine/${encodeURIComponent(value)}?k=${encodeURIComponent(value)}`)
      assert.deepStrictEqual(JSON.parse(sent!.body), { key: value, list: [`<${value}>`] })
      const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
      for (const form of forms) assert.strictEqual(redactor.text(`<${form}>`), "<[secret]>")
      const errors = [
        yield* failure(execution("bad")),
        yield* failure({ ...execution("x"), url: `http://127.0.0.1:1/\${secret.KEY}` }),
      ]
      assert.include(errors[0]!.message, "/bad/${secret.KEY} answered 500: /bad/[secret]?k=[secret]")
      for (const error of errors)
        for (const form of forms) assert.notInclude(JSON.stringify([error, error.message, error.cause]), form)
      assert.match(
        (yield* failure({ url: stub.url, headers: { x: "${secret.NONE}" } })).message,
        /^The secret "NONE" is not set/,
      )
    }),
  )

  it.effect("G-33 a preview shows what would be sent, with secrets by their names", () =>
    Effect.gen(function* () {
      const execution = {
        url: "https://api.test/v1/{{input.id}}?k=${secret.KEY}",
        method: "PUT",
        headers: { Authorization: "Bearer ${env.API_KEY}" },
        query: { limit: "{{input.limit?}}", tag: ["a", "b"] },
        body: { q: "{{input.q}}", key: "${secret.KEY}" },
      }
      assert.deepStrictEqual(yield* preview(execution, { id: "a/b", q: [1] }), {
        method: "PUT",
        url: "https://api.test/v1/a%2Fb?k=${secret.KEY}&tag=a&tag=b",
        headers: { authorization: "Bearer ${env.API_KEY}" },
        body: { q: [1], key: "${secret.KEY}" },
      })
      const missing = (yield* preview(execution, { q: 1 })) as { problems: unknown }
      assert.deepStrictEqual(missing.problems, ['"input.id" is missing'])
    }),
  )

  it.effect("G-39 tells who is called which call it is: one key for one call, and its trace", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      const post = { url: stub.url, method: "POST" }
      yield* call(post)
      yield* call(post, {}, { idempotencyKey: "odd\r\nkey" })
      yield* call(post, {}, { principal: "prn_other" })
      yield* call(post)
      yield* call({ ...post, headers: { "Idempotency-Key": "their own" } })
      yield* call({ url: stub.url }, {}, { correlationId: "not a trace" })
      const keys = stub.seen.map(({ headers }) => headers["idempotency-key"])
      // A caller's key stays here, and is another key for another caller.
      for (const key of keys.slice(0, 4)) assert.match(String(key), /^[0-9a-f]{64}$/)
      assert.strictEqual(new Set(keys.slice(0, 3)).size, 3)
      assert.deepStrictEqual(keys.slice(3), [keys[0], "their own", undefined])
      assert.match(
        String(stub.seen[0]!.headers["traceparent"]),
        /^00-0123456789abcdef0123456789abcdef-[0-9a-f]{16}-01$/,
      )
      assert.isUndefined(stub.seen[5]!.headers["traceparent"])
    }),
  )

  it.effect("query entries: lists repeat, null and absent are left out, objects are JSON", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      const query = {
        q: "{{input.q}}",
        "ids[]": "{{input.ids}}",
        gone: "{{input.gone?}}",
        o: "{{input.o}}",
        z: null,
        n: 1,
      }
      yield* output({ url: `${stub.url}/s?first=1`, query }, { q: "a&b=c", ids: [1, "2 3"], o: { k: 1 } })
      const sent = new URL(stub.seen[0]!.url, stub.url)
      assert.deepStrictEqual(
        [...sent.searchParams],
        [
          ["first", "1"],
          ["q", "a&b=c"],
          ["ids[]", "1"],
          ["ids[]", "2 3"],
          ["o", '{"k":1}'],
          ["n", "1"],
        ],
      )
    }),
  )

  it.effect("a body is text as it is, JSON, or a form where the headers say so", () =>
    Effect.gen(function* () {
      yield* opened
      const stub = yield* http(json({}))
      const post = (over: object, input: Record<string, unknown>) =>
        output({ url: stub.url, method: "POST", ...over }, input)
      yield* post({ body: "Dear {{input.name}}" }, { name: "Ann" })
      yield* post({ body: "{{input.list}}" }, { list: [1] })
      const headers = { "Content-Type": "application/x-www-form-urlencoded" }
      yield* post({ headers, body: { a: "{{input.a}}", b: [1, 2], c: null } }, { a: "x&admin=1" })
      assert.deepStrictEqual(
        stub.seen.map((it) => [it.headers["content-type"], it.body]),
        [
          ["text/plain; charset=utf-8", "Dear Ann"],
          ["application/json", "[1]"],
          ["application/x-www-form-urlencoded", "a=x%26admin%3D1&b=1&b=2"],
        ],
      )
    }),
  )

  it.effect("S1-22 faults of a configuration are named by their path", () =>
    Effect.gen(function* () {
      const url = "https://api.test/"
      const table: ReadonlyArray<readonly [object, string]> = [
        [{ url: "https://{{input.host}}/" }, "execution.url"],
        [{ url: "{{input.url}}" }, "execution.url"],
        [{ url, headers: { "a b": "x" } }, "execution.headers.a b"],
        [{ url, headers: { A: "x", a: "y" } }, "execution.headers.a"],
        [{ url, headers: { A: "{{x}}" } }, "execution.headers.A"],
        [{ url, method: "POST", body: { a: [{ b: "${env}" }] } }, "execution.body.a.0.b"],
        [{ url, query: { q: "{{input.}}" } }, "execution.query.q"],
        [{ url, body: {} }, "execution.body"],
        [{ url, method: "POST", retries: 1 }, "execution.retries"],
        [
          { url, method: "POST", headers: { "content-type": "application/json" }, body: '{"a":"{{input.a}}"}' },
          "execution.body",
        ],
      ]
      for (const [execution, path] of table) {
        const found = yield* faults(execution)
        assert.deepStrictEqual(
          found.map((it) => it.path),
          [path],
          JSON.stringify(execution),
        )
        assert.match((yield* failure(execution)).message, /is configured wrongly, and nothing was sent/)
      }
      assert.deepStrictEqual(yield* faults({ url: "https://api.test/{{input.x}}", retries: 3 }), [])
    }),
  )
})

layer(kindsLayer)("an http tool that tries again", (it) => {
  type Turn = readonly [status: number, headers?: Record<string, string>]
  /** Answers with each of these in turn. */
  const turns = (...answers: ReadonlyArray<Turn>) => {
    let turn = 0
    return http((_, response) => {
      const [status, headers = {}] = answers[Math.min(turn++, answers.length - 1)]!
      if (status === 0) response.destroy()
      else response.writeHead(status, headers).end("{}")
    })
  }
  /** The clock of the test stands still: it is moved on whenever the call sleeps. */
  const awaited = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust(250)
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return yield* Fiber.join(fiber)
  })
  const attempts = Effect.fnUntraced(function* (over: object, ...answers: ReadonlyArray<Turn>) {
    yield* opened
    const stub = yield* turns(...answers)
    const { result } = yield* awaited(call({ url: stub.url, retries: 2, timeout: 300_000, ...over }))
    return [stub.seen.length, Result.isSuccess(result)] as const
  })

  it.effect("only what is safe, only for what may pass, and no more often than it says", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* attempts({}, [503], [502], [200]), [3, true])
      assert.deepStrictEqual(yield* attempts({}, [0], [200]), [2, true])
      assert.deepStrictEqual(yield* attempts({}, [504]), [3, false])
      assert.deepStrictEqual(yield* attempts({ retries: 0 }, [503], [200]), [1, false])
      assert.deepStrictEqual(yield* attempts({}, [500], [200]), [1, false])
      assert.deepStrictEqual(yield* attempts({}, [404], [200]), [1, false])
      assert.deepStrictEqual(yield* attempts({}, [429], [200]), [1, false])
      assert.deepStrictEqual(yield* attempts({}, [429, { "retry-after": "2" }], [200]), [2, true])
      assert.deepStrictEqual(yield* attempts({}, [429, { "retry-after": "3600" }], [200]), [1, false])
      assert.deepStrictEqual(yield* attempts({}, [503, { "retry-after": "Thu, 01 Jan 1970 00:00:01 GMT" }], [200]), [
        2,
        true,
      ])
      assert.deepStrictEqual(yield* attempts({ method: "POST", retries: 0 }, [503], [200]), [1, false])
    }),
  )
})
