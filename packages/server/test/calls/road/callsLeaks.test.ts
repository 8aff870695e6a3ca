/** A planted secret that a service gives back in every way it can: it is in no answer, row, event, log line, file or copy. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isLong } from "../../../../../test/long.ts"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { admin, callsHouse, callTool, configure, httpTool, request, room, settled, stores, told } from "../callsKit.ts"
import { ask, Guest } from "../../house.ts"
import { fresh, listen, someone } from "../../spaces/spacesGuests.ts"

/** Seeded: letters of a planted secret, some of which every encoding writes otherwise. */
const secretOf = (seed: number): string => {
  let state = seed
  const next = (n: number) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % n
  // Every second one may stand in a header.
  const signs = `abcdefXYZ0123456789-._~!*'();:@&=+$,/?#[]"\\ <>^|{}%${seed % 2 === 0 ? "" : "äé😀\n"}`
  const middle = Array.from({ length: 18 }, () => [...signs][next([...signs].length)]!).join("")
  return `s${seed}${middle}z`
}

/** The secret in each spelling this suite looks for. */
const spellings = (secret: string): ReadonlyArray<string> => [
  ...new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll("'", "%27"),
    encodeURIComponent(secret).toLowerCase(),
    new URLSearchParams({ x: secret }).toString().slice(2),
    Buffer.from(secret, "utf8").toString("latin1"),
  ]),
]

for (const store of stores)
  layer(callsHouse({ store, log: "debug" }), { excludeTestServices: true, timeout: 120_000 })(
    `secrets of calls on ${store}`,
    (it) => {
      it.effect(
        "G-17 what a service echoes of a secret appears in no sink",
        () =>
          Effect.gen(function* () {
            const { raw } = yield* Guest
            const boss = yield* admin
            const [bot, pam] = [yield* someone("agent"), yield* someone()]
            const space = yield* room(pam, bot)
            const sinks = new Map<string, string>()
            const into = (sink: string, text: unknown) =>
              sinks.set(sink, `${sinks.get(sink) ?? ""}\n${typeof text === "string" ? text : JSON.stringify(text)}`)
            // What is logged goes to standard error and output: both are heard.
            const writes = [process.stdout, process.stderr].map((out) => {
              const before = out.write.bind(out)
              out.write = (text: string | Uint8Array, ...rest: ReadonlyArray<never>) => {
                into("log", typeof text === "string" ? text : Buffer.from(text).toString())
                return before(text, ...rest)
              }
              return () => void (out.write = before)
            })
            yield* Effect.addFinalizer(() => Effect.sync(() => writes.forEach((back) => back())))
            yield* listen(boss, {}, (frame) => into("feed", frame))
            yield* listen(bot, {}, (frame) => into("feed", frame))
            yield* listen(pam, { path: `/spaces/${space}/events` }, (frame) => into("feed", frame))

            let heard = 0
            const planted: Array<string> = []
            // The first may not stand in a header, the second may.
            const seeds = isLong ? [1, 2, 3, 4, 5, 6] : store === "sqlite" ? [1, 2] : [2]
            for (const seed of seeds) {
              const secret = secretOf(seed)
              const name = fresh("KEY").replace("-", "_")
              planted.push(secret)
              const kept = yield* request(boss, "PUT", `/secrets/${name}`, { value: secret })
              assert.include([200, 201, 204], kept.status, JSON.stringify(kept.body))
              const place = `\${secret.${name}}`
              // Says back all it got: as JSON, as text, as an error, in headers, at length, or as a redirect that goes wrong.
              const stub = yield* http((asked, response, body) => {
                heard++
                const all = { url: asked.url, headers: asked.headers, body, own: secret, [secret]: [secret] }
                const path = new URL(asked.url!, "http://x").pathname
                if (path === "/json")
                  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(all))
                else if (path === "/text")
                  response.writeHead(200).end(`${body} ${asked.url} ${JSON.stringify(all)} ${secret}`)
                else if (path === "/error") response.writeHead(500).end(`cannot: ${secret} ${asked.url} ${body}`)
                else if (path === "/headers")
                  response
                    .writeHead(200, {
                      etag: `"${encodeURIComponent(secret)}"`,
                      "x-request-id": encodeURIComponent(secret),
                    })
                    .end("{}")
                else if (path === "/long")
                  response.writeHead(200).end(`${secret} ${"x".repeat(70_000)} ${JSON.stringify(all)}`)
                else if (path === "/moved")
                  response.writeHead(302, { location: `http://127.0.0.1:9/${encodeURIComponent(secret)}` }).end()
                else response.socket?.destroy()
              })
              for (const path of ["json", "text", "error", "headers", "long", "moved", "gone"])
                for (const execution of [
                  {
                    url: `${stub.url}/${path}?k=${place}`,
                    headers: { "x-key": seed % 2 === 0 ? `Bearer ${place}` : "none" },
                  },
                  { url: `${stub.url}/${path}`, method: "POST", body: { key: place, deep: [{ k: `is ${place}` }] } },
                  {
                    url: `${stub.url}/${path}`,
                    method: "POST",
                    headers: { "content-type": "application/x-www-form-urlencoded" },
                    body: { key: place },
                  },
                  { url: `${stub.url}/${path}`, method: "POST", query: { q: place }, body: `text ${place}` },
                ]) {
                  const { name: tool } = yield* httpTool(stub.url, { execution, visibility: "visible" })
                  into("dry run", yield* callTool(bot, tool, { space, dryRun: true }))
                  const answer = yield* callTool(bot, tool, { space, wait: 30 })
                  into("answer", answer)
                  const { id, outputFile } = told(answer)
                  into("call", yield* request(boss, "GET", `/calls/${id}`))
                  if (outputFile !== undefined) {
                    const file = yield* request(bot, "GET", `/files/${outputFile.file}`)
                    assert.strictEqual(file.status, 200)
                    into("file", file)
                  }
                }
            }
            // One that was approved first.
            const echo = yield* http(
              (asked, response) => void response.writeHead(200).end(JSON.stringify(asked.headers)),
            )
            yield* request(boss, "PUT", "/secrets/APPROVED", { value: secretOf(98) })
            planted.push(secretOf(98))
            const { name: asks } = yield* httpTool(echo.url, {
              requiresApproval: true,
              execution: { url: echo.url, headers: { authorization: "Bearer ${secret.APPROVED}" } },
            })
            const waiting = told(yield* callTool(bot, asks, { space }))
            into("decision", yield* request(pam, "GET", `/decisions/${waiting.on!.id}`))
            into("decision", yield* request(pam, "POST", `/decisions/${waiting.on!.id}/answer`, { verdict: "approve" }))
            const approved = yield* settled(bot, waiting.id)
            assert.include(JSON.stringify(approved.output), "Bearer [secret]")
            into("answer", approved)
            // A webhook's own key, given back.
            const hook = yield* http(
              (asked, response) => void response.writeHead(200).end(JSON.stringify(asked.headers)),
            )
            const signing = secretOf(99)
            planted.push(signing)
            yield* request(boss, "PUT", "/secrets/SIGNING", { value: signing })
            const signed = yield* configure({
              executionType: "external",
              execution: { webhookUrl: hook.url, signingSecret: "SIGNING" },
            })
            into("answer", yield* settled(bot, told(yield* callTool(bot, signed.name)).id))
            // And one that fails in the words it was sent.
            const angry = yield* http(
              (asked, response) => void response.writeHead(500).end(`no: ${JSON.stringify(asked.headers)}`),
            )
            const failing = yield* configure({
              executionType: "external",
              execution: { webhookUrl: angry.url, headers: { "x-key": "it is ${secret.APPROVED}" } },
            })
            const failed = yield* settled(bot, told(yield* callTool(bot, failing.name)).id)
            assert.match(failed.error!.message, /it is (\[secret\]|\$\{secret\.APPROVED\})/)
            into("answer", failed)
            assert.isAbove(heard, seeds.length * 6 * 4)

            const sql = yield* SqlClient.SqlClient
            for (const table of [
              "calls",
              "journal",
              "audit",
              "decisions",
              "messages",
              "timers",
              "tools",
              "files",
            ] as const)
              into(table, yield* sql`SELECT * FROM ${sql(table)}`)
            for (const row of yield* sql<{ bytes: Uint8Array }>`SELECT bytes FROM files`)
              into("files", Buffer.from(row.bytes).toString())
            yield* (yield* Readers).receipt("audit")
            into("audit page", yield* request(boss, "GET", "/audit?limit=100"))
            for (const path of [
              "/metrics",
              "/api/v1/doctor",
              "/api/v1/calls?limit=100",
              `/api/v1/spaces/${space}/messages?limit=100`,
            ]) {
              const page = yield* ask(() => raw(path, { headers: { authorization: `Bearer ${boss.token}` } }))
              assert.strictEqual(page.status, 200, path)
              into(path, yield* ask(() => page.text()))
            }
            const copy = yield* ask(() =>
              raw("/api/v1/backup", { method: "POST", headers: { authorization: `Bearer ${boss.token}` } }),
            )
            assert.strictEqual(copy.status, 200)
            into("backup", Buffer.from(yield* ask(() => copy.arrayBuffer())).toString("latin1"))

            for (const [sink, text] of sinks) {
              for (const secret of planted)
                for (const spelling of spellings(secret))
                  if (text.includes(spelling)) assert.fail(`${sink} has ${secret} as ${spelling}`)
            }
            for (const sink of ["log", "feed", "file", "backup", "calls", "journal", "audit", "messages", "decisions"])
              assert.isAbove(sinks.get(sink)?.length ?? 0, 100, sink)
            assert.include(sinks.get("calls")!, "[secret]")
          }),
        120_000,
      )
    },
  )
