/** One road for every flavour: configured, built, run and, where it is visible, posted; each leaves the same trace. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import {
  admin,
  callTool,
  configure,
  eventsOf,
  request,
  resumed,
  room,
  rowOf,
  settled,
  stores,
  told,
} from "../callsKit.ts"
import { house, roomy } from "../../house.ts"
import { fresh, someone } from "../../spaces/spacesGuests.ts"
import { everything } from "../../servers/serversKit.ts"

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

class Service extends Context.Service<Service, { readonly url: string }>()("test/Service") {}

/** One service that is everything outside: an API, a webhook's receiver, and a model. */
const service = http((received, response) => {
  const picture = { created: 1, data: [{ b64_json: dot }] }
  const body = received.url?.startsWith("/v1/images") === true ? picture : { from: "outside" }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
})

const withService = (store: "sqlite" | "postgres") =>
  Layer.unwrap(
    Effect.map(service, ({ url }) =>
      house({
        store,
        config: { ...roomy, egress: { allow: ["127.0.0.1"] }, env: ["SERVICE_URL"] },
        env: { OPENAI_API_KEY: "sk-of-the-tests", OPENAI_BASE_URL: `${url}/v1`, SERVICE_URL: url },
      }).pipe(Layer.provideMerge(Layer.succeed(Service, { url }))),
    ),
  )

const schema = { type: "object", properties: { prompt: { type: "string" } } }

for (const store of stores)
  layer(withService(store), { excludeTestServices: true, timeout: 60_000 })(`every flavour on ${store}`, (it) => {
    it.effect(
      "S1-03 S1-06 S1-09 S1-17 X-26 every flavour goes the one road; what is internal or a server's is not shown",
      () =>
        Effect.gen(function* () {
          const { url } = yield* Service
          const [ann, bot] = [yield* someone(), yield* someone("agent")]
          const space = yield* room(ann, bot)
          const server = fresh("srv")
          const added = yield* request(yield* admin, "POST", "/mcp-servers", { name: server, ...everything("stdio") })
          assert.strictEqual(added.status, 201)
          const make = (over: object) => Effect.map(configure({ inputSchema: schema, ...over }), ({ name }) => name)
          const api = { url: `${url}/data`, method: "POST" }
          const compute = { operation: "evaluate", expression: "6 * 7" }
          const image = { provider: "dall-e", model: "dall-e-3" }
          const flavours = {
            http: yield* make({ executionType: "gateway", execution: api }),
            compute: yield* make({ executionType: "gateway", execution: compute }),
            image: yield* make({ executionType: "gateway", execution: image }),
            webhook: yield* make({ executionType: "external", execution: { webhookUrl: `${url}/hook` } }),
            ui: yield* make({ executionType: "space", display: { customUI: "confirm" } }),
            internal: yield* make({ executionType: "internal", execution: { output: { quiet: true } } }),
            "quiet http": yield* make({ executionType: "internal", execution: api }),
            "quiet compute": yield* make({ executionType: "internal", execution: compute }),
            "quiet image": yield* make({ executionType: "internal", execution: image }),
            mcp: `${server}__echo`,
          }
          const calls: Record<string, string> = {}
          for (const [flavour, name] of Object.entries(flavours)) {
            const input = flavour === "mcp" ? { message: "hello" } : { prompt: "a stoa at dusk" }
            const asked = yield* callTool(bot, name, { input, space })
            assert.include([200, 202], asked.status, `${flavour}: ${JSON.stringify(asked.body)}`)
            calls[flavour] = told(asked).id
            if (flavour !== "ui") continue
            assert.strictEqual(told(asked).state, "waiting")
            assert.strictEqual(
              (yield* request(ann, "POST", `/calls/${calls[flavour]}/result`, { output: "yes" })).status,
              200,
            )
          }
          yield* resumed
          const outputs: Record<string, unknown> = {}
          for (const [flavour, id] of Object.entries(calls)) {
            const ended = yield* settled(bot, id)
            assert.deepInclude(ended, { state: "done" }, flavour)
            outputs[flavour] = ended.output
            const kinds = (yield* eventsOf(id)).filter((kind) => kind === "call.received" || kind === "call.settled")
            assert.deepStrictEqual(kinds, ["call.received", "call.settled"], flavour)
            const row = yield* rowOf(id)
            const shown = !/^(internal|quiet|mcp)/.test(flavour)
            assert.strictEqual(row!["message"] !== null, shown, flavour)
          }
          const { body } = yield* request(ann, "GET", `/spaces/${space}/messages`)
          const posted = (body["items"] as Array<{ call: { id: string; output?: unknown } | null }>).flatMap(
            ({ call }) => (call === null ? [] : [call]),
          )
          assert.deepStrictEqual(
            posted.map(({ id }) => id),
            ["http", "compute", "image", "webhook", "ui"].map((flavour) => calls[flavour]),
          )
          assert.deepStrictEqual(posted[0]!.output, { from: "outside" })
          assert.deepInclude(posted[2]!.output as object, { mediaType: "image/png", model: "dall-e-3" })
          // What is internal runs as gateway does.
          assert.deepStrictEqual(outputs["internal"], { quiet: true })
          assert.deepStrictEqual(outputs["quiet http"], outputs["http"])
          assert.strictEqual(outputs["quiet compute"], 42)
          assert.deepInclude(outputs["quiet image"] as object, { mediaType: "image/png", model: "dall-e-3" })
        }),
    )

    it.effect(
      "S1-02 where a result appears is said by the configuration alone: the same execution, seen and unseen",
      () =>
        Effect.gen(function* () {
          const [ann, bot] = [yield* someone(), yield* someone("agent")]
          const space = yield* room(ann, bot)
          const execution = { operation: "evaluate", expression: "{{input.prompt}} + '!'" }
          const rows: Array<unknown> = []
          for (const visibility of ["visible", "hidden"]) {
            const { name } = yield* configure({ executionType: "gateway", inputSchema: schema, execution, visibility })
            const call = told(yield* callTool(bot, name, { input: { prompt: "hey" }, space }))
            assert.deepInclude(call, { state: "done", output: "hey!" })
            rows.push((yield* rowOf(call.id))!["message"] !== null)
          }
          assert.deepStrictEqual(rows, [true, false])
        }),
    )

    it.effect("a sub-agent is read and checked, and its call ends as its run does", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const agent = { executionType: "gateway", execution: { agentConfig: { model: "m" }, includeContext: true } }
        const { name } = yield* configure(agent)
        const call = told(yield* callTool(bot, name))
        assert.deepStrictEqual([call.state, call.on?.kind], ["waiting", "run"])
        const ended = yield* settled(bot, call.id)
        assert.strictEqual(ended.state, "failed")
        assert.match(ended.error!.message, /There is no model "m"/)
        const wrong = { ...agent, execution: { agentConfig: {}, includeContexts: true } }
        const refused = yield* request(yield* admin, "POST", "/tools", {
          name: fresh("t"),
          description: "d",
          inputSchema: {},
          ...wrong,
        })
        assert.deepStrictEqual(
          told(refused).issues?.map(({ path }) => path),
          ["execution.includeContexts"],
        )
      }),
    )
  })
