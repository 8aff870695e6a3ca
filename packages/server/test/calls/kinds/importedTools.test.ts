/** Tools from an OpenAPI document, called: what the document describes is what the service gets. */
import { assert, layer } from "@effect/vitest"
import { readTool } from "@stoa/contract"
import { importOpenApi } from "@stoa/importers"
import { Effect, Result } from "effect"
import { broken } from "../../../../importers/test/brokenPetShop.ts"
import { petShop } from "../../../../importers/test/petShop.ts"
import { http, text } from "../../../../tools/test/egress/egressLoopback.ts"
import type { Kind } from "../../../src/calls/kinds/Kind.ts"
import { httpKind } from "../../../src/calls/kinds/http.ts"
import { readRequestTemplate } from "../../../src/calls/kinds/templates/requestTemplate.ts"
import { ask, Guest, house } from "../../house.ts"
import { called, kindsLayer, rule, secret } from "./kinds.ts"

layer(kindsLayer, { excludeTestServices: true })("an imported tool", (it) => {
  it.effect("S1-06 sends path, query, headers, body and key as its document says", () =>
    Effect.gen(function* () {
      yield* rule("egress", [{ allow: ["127.0.0.1"] }])
      for (const name of ["shopKey", "token", "queryKey"]) yield* secret(`shop_${name}`, `the ${name}`)
      const stub = yield* http(text('{"ok":true}', 200, { "content-type": "application/json" }))
      const { tools } = importOpenApi({ ...petShop, servers: [{ url: `${stub.url}/v1` }] }, { prefix: "shop" })
      const kind = (yield* httpKind) as unknown as Kind<never>
      const call = Effect.fnUntraced(function* (name: string, input: Readonly<Record<string, unknown>>) {
        const read = readTool(tools.find((one) => one.name === `shop_${name}`))
        assert.isTrue(read.ok, name)
        if (!read.ok) return
        assert.deepStrictEqual(kind.faults?.(read.tool as never), [])
        const { result } = yield* called(kind, read.tool, input)
        assert.deepStrictEqual(Result.getOrThrow(result), { ok: true })
      })
      yield* call("listPets", { "filter[status]": "sold & gone", tags: ["a b", "c"], "X-Trace": "t1" })
      yield* call("listPets", { "filter[status]": "free" })
      yield* call("pets.create", { body: { name: "Rex", nick: null } })
      yield* call("replace_pet", { petId: 7, query_petId: "x" })
      yield* call("deletePet", { petId: "../../admin?x=1" })
      const sent = stub.seen.map(({ body, headers, method, url }) => [method, url, headers["content-type"], body])
      assert.deepStrictEqual(sent, [
        ["GET", "/v1/pets?tags=a%20b&tags=c&filter%5Bstatus%5D=sold%20%26%20gone", undefined, ""],
        ["GET", "/v1/pets?filter%5Bstatus%5D=free", undefined, ""],
        ["POST", "/v1/pets", "application/json", '{"name":"Rex","nick":null}'],
        ["PUT", "/v1/pets/7?petId=x", "application/vnd.pets+json", ""],
        ["DELETE", "/v1/pets/..%2F..%2Fadmin%3Fx%3D1?key=the%20queryKey", undefined, ""],
      ])
      const headers = stub.seen.map((one) => [
        one.headers["x-shop-key"],
        one.headers["x-trace"],
        one.headers.authorization,
      ])
      assert.deepStrictEqual(headers, [
        ["the shopKey", "t1", undefined],
        ["the shopKey", undefined, undefined],
        ["the shopKey", undefined, undefined],
        ["the shopKey", undefined, undefined],
        [undefined, undefined, "Bearer the token"],
      ])
    }),
  )

  it("S1-06 whatever the document, what is imported is a request that can be made", () => {
    let tools = 0
    for (let seed = 10_001; seed <= 10_500; seed++)
      for (const form of importOpenApi(broken(seed), { baseUrl: "https://base.example" }).tools) {
        const read = readTool(form)
        if (!read.ok || read.tool.kind !== "http") continue
        const faults: Array<string> = []
        readRequestTemplate(read.tool.execution, (path, message) => faults.push(`${path}: ${message}`))
        assert.deepStrictEqual(faults, [], `seed ${seed}`)
        tools++
      }
    assert.isAbove(tools, 500)
  })
})

layer(house({ store: "sqlite" }), { excludeTestServices: true, timeout: 60_000 })("a document of an API", (it) => {
  it.effect("as large as the house's own is read as text, and refused by its number as a body", () =>
    Effect.gen(function* () {
      const { admin, adminToken, raw } = yield* Guest
      const document = yield* ask(() => raw("/openapi.json").then((answer) => answer.text()))
      const report = yield* ask(() =>
        admin.tools.import({ document, baseUrl: "https://stoa.example", prefix: "own" }, { dryRun: "true" }),
      )
      assert.isAbove(report.tools.length, 80)
      const send = (body: string) =>
        ask(async () => {
          const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
          const answer = await raw("/api/v1/tools/import?dryRun=true", { method: "POST", headers, body })
          return { status: answer.status, text: await answer.text() }
        })
      const values = `[${"1,".repeat(200_000)}1]`
      for (const [body, words] of [
        [`{"document":{"a":[${"1,".repeat(20_001)}1]}}`, /more than 20000 values/],
        [JSON.stringify({ document: `{"a":${values}}` }), /more than 200000 values/],
        [JSON.stringify({ document: "{" }), /is not JSON/],
        [JSON.stringify({ document: "[]" }), /is not an object/],
      ] as const) {
        const { status, text: said } = yield* send(body)
        assert.strictEqual(status, 400)
        assert.match(said, words)
      }
    }),
  )
})
