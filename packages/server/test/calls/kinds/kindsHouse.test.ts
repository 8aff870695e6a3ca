/** Configured tools in a whole house, on both databases: from the file or the door to what is sent and what is kept of it. */
import { writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { tableNames } from "../../../src/store/backup/tables.ts"
import { admin, callTool, configure, request, told } from "../callsKit.ts"
import { Guest, house, roomy } from "../../house.ts"
import { fresh, someone } from "../../spaces/spacesGuests.ts"

// Whatever JSON, an address and a form write otherwise.
const planted = `PLANTED-"variable"/1\\'`
const secret = "PLANTED secret & more"
const settings = { ...roomy, env: ["API_KEY", "UNSET"], egress: { allow: ["127.0.0.1"] } }
const env = { API_KEY: planted, HIDDEN_KEY: "PLANTED-hidden" }

/** Tells everything it was sent. */
const echo = http((asked, response, body) => {
  const said = JSON.stringify({ url: asked.url, headers: asked.headers, body })
  const status = asked.url?.startsWith("/fail") === true ? 500 : 200
  response
    .writeHead(status, { "content-type": "application/json", "x-request-id": String(asked.headers["x-key"]) })
    .end(said)
})
const gateway = (execution: object, over: object = {}) =>
  configure({ executionType: "gateway", inputSchema: { type: "object" }, execution, ...over })

/** All that stderr gets meanwhile. */
const overheard = Effect.acquireRelease(
  Effect.sync(() => {
    const lines: Array<string> = []
    const write = process.stderr.write.bind(process.stderr)
    process.stderr.write = (chunk: string | Uint8Array) => lines.push(String(chunk)) > 0
    return { lines, write }
  }),
  ({ write }) => Effect.sync(() => void (process.stderr.write = write)),
).pipe(Effect.map(({ lines }) => lines))

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, env, config: settings, log: "debug" }), { excludeTestServices: true, timeout: 30_000 })(
    `configured tools on ${store}`,
    (it) => {
      it.effect("S1-25 G-17 variables and secrets go to the service and into no row, event, audit, log or answer", () =>
        Effect.gen(function* () {
          const lines = yield* overheard
          const sql = yield* SqlClient.SqlClient
          const boss = yield* admin
          const stub = yield* echo
          const named = fresh("KEY").replace("-", "_")
          assert.strictEqual((yield* request(boss, "PUT", `/secrets/${named}`, { value: secret })).status, 204)
          const execution = (path: string) => ({
            url: `${stub.url}/${path}/\${secret.${named}}?k=\${env.API_KEY}`,
            method: "POST",
            headers: { "X-Key": "${env.API_KEY}" },
            body: { s: `\${secret.${named}}`, e: "${env.API_KEY}", q: "{{input.q}}" },
          })
          const bot = yield* someone("agent")
          const answers: Array<unknown> = []
          for (const path of ["ok", "fail"]) {
            const { name } = yield* gateway(execution(path))
            answers.push(yield* callTool(bot, name, { input: { q: "hi" } }))
            answers.push(yield* callTool(bot, name, { input: { q: "hi" }, dryRun: true }))
            answers.push(yield* request(boss, "GET", `/tools/${name}`))
          }
          assert.deepStrictEqual(
            stub.seen.map(({ body, headers }) => [JSON.parse(body), headers["x-key"]]),
            ["ok", "fail"].map(() => [{ s: secret, e: planted, q: "hi" }, planted]),
          )
          const [done, dry, , failed] = answers as ReadonlyArray<{ readonly body: never }>
          assert.strictEqual(told(done!).state, "done", JSON.stringify(done))
          assert.deepInclude(told(failed!).error, { tag: "ToolExecutionError" })
          assert.deepInclude((dry!.body as { sends: object }).sends, {
            url: `${stub.url}/ok/\${secret.${named}}?k=\${env.API_KEY}`,
            body: { s: `\${secret.${named}}`, e: "${env.API_KEY}", q: "hi" },
          })
          answers.push(yield* request(boss, "GET", "/audit?limit=100"), yield* request(boss, "GET", "/calls?limit=100"))
          yield* (yield* Readers).receipt("audit")
          const sinks: Array<readonly [string, string]> = [
            ["answers", JSON.stringify(answers)],
            ["log", lines.join("")],
          ]
          for (const table of yield* tableNames)
            for (const row of yield* sql<Record<string, unknown>>`SELECT * FROM ${sql(table)}`)
              for (const cell of Object.values(row))
                sinks.push([table, cell instanceof Uint8Array ? Buffer.from(cell).toString("latin1") : String(cell)])
          for (const [name, sink] of sinks) assert.notInclude(sink, "PLANTED", name)
          assert.isNotEmpty(lines)
        }),
      )

      it.effect(
        "S1-25 S1-26 a variable that is not set fails the call; one that is not listed is refused by its path",
        () =>
          Effect.gen(function* () {
            const stub = yield* echo
            const boss = yield* admin
            const bot = yield* someone("agent")
            const { name } = yield* gateway({ url: stub.url, headers: { x: "${env.UNSET}" } })
            const unset = told(yield* callTool(bot, name))
            assert.deepStrictEqual([unset.state, unset.error?.tag], ["failed", "ToolExecutionError"])
            assert.match(unset.error!.message, /^The environment variable UNSET is not set/)
            for (const one of ["PATH", "HIDDEN_KEY", "STOA_SECRET_KEY", "DATABASE_URL"]) {
              const [headers, place] = [{ x: `\${env.${one}}` }, `\${env.${one}}`]
              for (const [executionType, execution, path] of [
                ["gateway", { url: stub.url, headers }, "headers"],
                ["external", { webhookUrl: `${stub.url}/${place}` }, "webhookUrl"],
              ] as const) {
                const form = { name: fresh("tool"), description: "d", inputSchema: { type: "object" } }
                const refused = yield* request(boss, "POST", "/tools", { ...form, executionType, execution })
                assert.strictEqual(refused.status, 400)
                assert.deepStrictEqual(
                  told(refused).issues?.map((issue) => issue.path),
                  [`execution.${path}`],
                )
              }
            }
            assert.lengthOf(stub.seen, 0)
          }),
      )

      it.effect("S1-26 G-16 the file says what may be read and reached, and a reload changes it at once", () =>
        Effect.gen(function* () {
          const { configFile } = yield* Guest
          const boss = yield* admin
          const bot = yield* someone("agent")
          const stub = yield* echo
          const name = fresh("filed")
          const tool = {
            name,
            description: "d",
            inputSchema: { type: "object" },
            executionType: "gateway",
            execution: { url: stub.url, headers: { x: "${env.HIDDEN_KEY}" } },
          }
          const reload = Effect.fnUntraced(function* (config: object) {
            writeFileSync(configFile, JSON.stringify(config))
            return yield* request(boss, "POST", "/reload")
          })
          const refused = yield* reload({ ...settings, tools: [tool] })
          assert.strictEqual(refused.status, 409)
          assert.deepStrictEqual(
            told(refused).issues?.map(({ path }) => path),
            ["tools.0.execution.headers"],
          )
          const both = { ...settings, env: ["HIDDEN_KEY"], tools: [tool] }
          assert.strictEqual((yield* reload(both)).status, 200)
          assert.strictEqual(told(yield* callTool(bot, name)).state, "done")
          assert.strictEqual(stub.seen[0]!.headers["x"], "PLANTED-hidden")
          assert.strictEqual((yield* reload({ ...both, egress: {} })).status, 200)
          assert.match(
            told(yield* callTool(bot, name)).error!.message,
            /is a loopback address, which tools may not reach/,
          )
          assert.lengthOf(stub.seen, 1)
          assert.strictEqual((yield* reload(settings)).status, 200)
        }),
      )

      it.effect("S1-23 S1-33 a slow service is a timeout of the call; a good one gives its body", () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const slow = yield* http(() => {})
          const late = told(yield* callTool(bot, (yield* gateway({ url: slow.url, timeout: 50 })).name))
          assert.deepStrictEqual([late.state, late.error?.tag], ["failed", "ToolTimeoutError"])
          const good = yield* http((_, response) =>
            response.writeHead(200, { "content-type": "application/json" }).end("[1,2]"),
          )
          const done = told(yield* callTool(bot, (yield* gateway({ url: good.url })).name))
          assert.deepStrictEqual([done.state, done.output], ["done", [1, 2]])
        }),
      )

      it.effect("S1-29 S1-32 compute and static tools answer through the door", () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const compute = yield* gateway({ operation: "evaluate", expression: "{{input.expression}}" })
          const call = (expression: string) => Effect.map(callTool(bot, compute.name, { input: { expression } }), told)
          assert.strictEqual((yield* call("(1 + 2) * 3")).output, 9)
          const escape = yield* call("process.exit()")
          assert.deepStrictEqual([escape.state, escape.error?.tag], ["failed", "ToolExecutionError"])
          const said = yield* configure({ execution: { output: { text: "${env.API_KEY} {{input.x}}" } } })
          assert.deepStrictEqual(told(yield* callTool(bot, said.name)).output, { text: "${env.API_KEY} {{input.x}}" })
          assert.deepStrictEqual(told(yield* callTool(bot, (yield* configure()).name)).output, { ok: true })
        }),
      )
    },
  )
