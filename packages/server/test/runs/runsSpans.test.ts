/** Spans as a collector gets them: a run, its steps, their calls, under the trace of what woke the run. */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { SqlClient } from "effect/sql"
import { sentryOf } from "../../src/Tracing.ts"
import { ask, Guest } from "../house.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { dm, ended, runsHouse, setRules, thinker } from "./runsKit.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly status: { readonly code: number }
}
interface Exported {
  readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }> }>
}

const spans: Array<Span> = []
/** All that a collector was sent, as it came. */
const exported: Array<string> = []
const collected = (store: "sqlite" | "postgres", databaseSpans: "on" | "off") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const collector = yield* http((_, response, body) => {
        exported.push(body)
        for (const { scopeSpans } of (JSON.parse(body) as Exported).resourceSpans)
          for (const scope of scopeSpans) spans.push(...scope.spans)
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
      })
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, STOA_DATABASE_SPANS: databaseSpans }
      return runsHouse({ store, env })
    }),
  )

const ofDatabase = ({ name }: Span) => ["sqlite", "postgresql", "sql.transaction"].includes(name)

for (const [store, databaseSpans] of [
  ["sqlite", "off"],
  ["postgres", "off"],
  ["sqlite", "on"],
] as const)
  layer(collected(store, databaseSpans), { excludeTestServices: true, timeout: 60_000 })(
    `spans on ${store}, of the database ${databaseSpans}`,
    (it) => {
      it.effect("S0-52 X-46 a tool's span is a grandchild of its run's, has its name, and fails when it fails", () =>
        Effect.gen(function* () {
          const [pam, bot] = [yield* someone(), yield* thinker()]
          yield* setRules([
            { when: { step: 1 }, call: [{ tool: "whoami" }, { tool: "list_members", input: { space: "nowhere" } }] },
            { when: { step: 2 }, call: [{ tool: "no_such_tool" }] },
          ])
          const space = yield* dm(pam, bot)
          yield* ask(() => pam.client.spaces.post(space.id, { text: "go" }))
          const [run] = yield* ended(bot)
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ correlationId: string }>`SELECT correlation_id FROM runs WHERE id = ${run!.id}`
          const mine = () => spans.filter(({ traceId }) => traceId === row!.correlationId)
          // Exported every second.
          while (!mine().some(({ name }) => name === "run")) yield* Effect.sleep(20)
          const top = mine().find(({ name }) => name === "run")!
          const steps = mine().filter(({ name }) => name === "step")
          assert.strictEqual(steps.length, 3)
          assert.isTrue(steps.every(({ parentSpanId }) => parentSpanId === top.spanId))
          const calls = ["whoami", "list_members", "no_such_tool"].map((tool) =>
            mine().filter(({ name }) => name === tool),
          )
          assert.deepStrictEqual(
            calls.map((some) => some.length),
            [1, 1, 1],
          )
          const [one, two, three] = calls.flat()
          assert.deepStrictEqual(
            [one!.parentSpanId, two!.parentSpanId, three!.parentSpanId],
            [steps[0]!.spanId, steps[0]!.spanId, steps[1]!.spanId],
          )
          assert.strictEqual(mine().some(ofDatabase), databaseSpans === "on")
          // What is inside a span that is not sent belongs to the one around it.
          const known = new Set(mine().map(({ spanId }) => spanId))
          const under = mine().filter(
            ({ parentSpanId }) => parentSpanId !== undefined && parentSpanId !== top.parentSpanId,
          )
          for (const { name, parentSpanId } of under) assert.isTrue(known.has(parentSpanId!), name)
          // OpenTelemetry: 1 is well, 2 is an error.
          assert.deepStrictEqual([one!.status.code, two!.status.code, three!.status.code], [1, 2, 2])
        }),
      )

      it.effect(
        "G-17 a secret goes to the service that needs it, is echoed and fails: no span has eight characters of it",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const [pam, bot] = [yield* someone(), yield* thinker()]
            const secret = "PLANTED-4f1c9a77e2-in-no-span"
            yield* ask(() => admin.secrets.set("SPAN_KEY", { value: secret }))
            let heard = 0
            const service = yield* http((asked, response) => {
              if (asked.url!.includes(secret) && asked.headers["x-key"] === secret) heard++
              response.writeHead(500).end(`cannot: ${asked.url} ${secret}`)
            })
            const place = "${secret.SPAN_KEY}"
            yield* ask(() =>
              admin.tools.add({
                name: "leaky",
                description: "Fails with what it was sent.",
                inputSchema: { type: "object" },
                executionType: "gateway",
                execution: { url: `${service.url}/a/${place}?k=${place}`, headers: { "x-key": place } },
              }),
            )
            yield* setRules([{ when: { agent: bot.name, step: 1 }, call: [{ tool: "leaky" }] }])
            const space = yield* dm(pam, bot)
            yield* ask(() => pam.client.spaces.post(space.id, { text: "go" }))
            const [run] = yield* ended(bot)
            assert.isAtLeast(heard, 1)
            const sql = yield* SqlClient.SqlClient
            const [row] = yield* sql<{ correlationId: string }>`SELECT correlation_id FROM runs WHERE id = ${run!.id}`
            const mine = () => spans.filter(({ traceId }) => traceId === row!.correlationId)
            while (!mine().some(({ name }) => name === "run")) yield* Effect.sleep(20)
            assert.isTrue(mine().some(({ name }) => name === "leaky"))
            const { adminToken } = yield* Guest
            const all = exported.join("\n")
            for (const value of [secret, adminToken])
              for (let at = 0; at + 8 <= value.length; at++) assert.notInclude(all, value.slice(at, at + 8))
          }),
      )
    },
  )

it("a DSN of Sentry says where its spans go, and nothing else does", () => {
  assert.deepStrictEqual(sentryOf("https://abc@o1.ingest.sentry.io/42"), {
    url: "https://o1.ingest.sentry.io/api/42/integration/otlp/v1/traces",
    headers: { "x-sentry-auth": "sentry sentry_key=abc" },
  })
  for (const wrong of ["", "abc", "https://o1.ingest.sentry.io/42", "https://abc@o1.ingest.sentry.io", "ftp://a@b/1"])
    assert.isUndefined(sentryOf(wrong))
})
