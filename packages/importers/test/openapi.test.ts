/** Tools from OpenAPI documents: what an operation becomes, what is skipped and why, and documents that mean harm. */
import { assert, describe, it } from "@effect/vitest"
import { definitionOf, readTool, type ToolForm } from "@stoa/contract"
import { importOpenApi, type OpenApiOptions } from "../src/index.ts"
import { petShop } from "./petShop.ts"

const imported = (document: unknown, options?: OpenApiOptions) => {
  const result = importOpenApi(document, options)
  assert.deepStrictEqual(result.issues, [])
  return result
}
const all = imported(petShop)
const tool = (name: string): ToolForm => {
  const found = all.tools.find((one) => one.name === name)
  assert.isDefined(found, `${name} of ${all.tools.map((one) => one.name).join(", ")}`)
  return found
}
const get = (operation: object, more: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "One" },
  servers: [{ url: "https://a.example" }],
  paths: { "/x": { get: operation } },
  ...more,
})
const reasonsOf = (document: unknown, options?: OpenApiOptions) =>
  imported(document, options).skipped.map((one) => one.reason)

describe("an OpenAPI document", () => {
  it("every operation is a tool that the form takes, named after its operationId or its address", () => {
    assert.deepStrictEqual(
      all.tools.map(({ name }) => name),
      ["listPets", "pets.create", "getPet", "replace_pet", "patch_pets_petId", "deletePet"],
    )
    for (const one of all.tools) assert.isTrue(readTool(one).ok)
  })

  it("parameters become a flat input, references are followed, what is optional may be left out", () => {
    assert.deepStrictEqual(tool("listPets"), {
      name: "listPets",
      description: "Lists pets\n\nNewest first.",
      inputSchema: {
        type: "object",
        properties: {
          limit: { type: "integer", exclusiveMinimum: 0 },
          tags: { type: "array", items: { type: "string" } },
          "filter[status]": { type: "string", enum: ["sold", "free"] },
          "X-Trace": { type: "string", description: "For support" },
        },
        required: ["filter[status]"],
        additionalProperties: false,
      },
      executionType: "gateway",
      execution: {
        url: "https://eu.pets.example/v1/pets",
        method: "GET",
        headers: { "X-Shop-Key": "${secret.eu.pets.example_shopKey}", "X-Trace": "{{input.X-Trace?}}" },
        query: { limit: "{{input.limit?}}", tags: "{{input.tags?}}", "filter[status]": '{{input["filter[status]"]}}' },
      },
      riskLevel: "low",
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    })
  })

  it("a body is the input's body; what only answers carry is gone, and a circle stays one", () => {
    const { execution, inputSchema } = tool("pets.create")
    assert.strictEqual(execution?.["body"], "{{input.body}}")
    const pet = {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string" },
        nick: { type: ["string", "null"] },
        status: { $ref: "#/$defs/Status" },
        parent: { $ref: "#/$defs/Pet" },
      },
    }
    assert.deepStrictEqual(inputSchema, {
      type: "object",
      properties: { body: pet },
      required: ["body"],
      additionalProperties: false,
      $defs: { Status: { type: "string", enum: ["sold", "free"] }, Pet: pet },
    })
  })

  it("a name in two places is told apart, and a JSON of another name is sent under it", () => {
    const { execution, inputSchema } = tool("replace_pet")
    assert.deepStrictEqual(Object.keys(inputSchema["properties"] as object), ["petId", "query_petId", "body"])
    assert.strictEqual(execution?.["url"], "https://eu.pets.example/v1/pets/{{input.petId}}")
    assert.deepStrictEqual(execution?.["query"], { petId: "{{input.query_petId?}}" })
    assert.deepInclude(execution?.["headers"], { "Content-Type": "application/vnd.pets+json" })
    assert.strictEqual(execution?.["body"], "{{input.body?}}")
  })

  it("X-54 risk and hints come from the method", () => {
    const risks = all.tools.map((one) => {
      const read = readTool(one)
      return [one.execution?.["method"], read.ok ? definitionOf(read.tool).riskLevel : "", one.annotations]
    })
    assert.deepStrictEqual(risks, [
      ["GET", "low", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
      ["POST", "medium", { readOnlyHint: false, idempotentHint: false }],
      ["GET", "low", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
      ["PUT", "medium", { readOnlyHint: false, idempotentHint: true }],
      ["PATCH", "medium", { readOnlyHint: false, idempotentHint: false }],
      ["DELETE", "high", { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ])
  })

  it("security is shown from secrets named after their host, and they are listed with where they go", () => {
    assert.isUndefined(tool("getPet").execution?.["headers"])
    assert.deepStrictEqual(tool("patch_pets_petId").execution?.["headers"], {
      Authorization: "Basic ${secret.eu.pets.example_login}",
    })
    const { headers, query } = tool("deletePet").execution ?? {}
    assert.deepStrictEqual(
      [headers, query],
      [{ Authorization: "Bearer ${secret.eu.pets.example_token}" }, { key: "${secret.eu.pets.example_queryKey}" }],
    )
    assert.deepStrictEqual(
      all.needs.map(({ secret }) => secret),
      ["eu.pets.example_shopKey", "eu.pets.example_login", "eu.pets.example_token", "eu.pets.example_queryKey"],
    )
    assert.include(all.needs[0]?.why, "eu.pets.example")
    assert.deepStrictEqual(imported(petShop, { prefix: "zoo" }).needs[0]?.secret, "zoo_shopKey")
  })

  it("what cannot be sent is skipped with its reason, or left out with a note when it may be", () => {
    assert.deepStrictEqual(all.skipped, [
      { operation: "OPTIONS /pets/{petId}", reason: "an http tool cannot use this method" },
      { operation: "POST /pets/{petId}/photo", reason: "its body is multipart/form-data, not JSON" },
    ])
    assert.deepStrictEqual(all.notes, ['GET /pets: its parameter "theme" is a cookie; left out'])
    const cookie = { name: "c", in: "cookie", required: true, schema: {} }
    assert.match(reasonsOf(get({ parameters: [cookie] }))[0] ?? "", /"c" is a cookie/)
    const joined = { name: "l", in: "query", required: true, explode: false, schema: { type: "array" } }
    assert.match(reasonsOf(get({ parameters: [joined] }))[0] ?? "", /list in one query value/)
    const tls = { components: { securitySchemes: { mtls: { type: "mutualTLS" } } }, security: [{ mtls: [] }] }
    assert.match(reasonsOf(get({}, tls))[0] ?? "", /mutualTLS/)
  })

  it("a choice of operations, a prefix, and names that are taken", () => {
    const { tools } = imported(petShop, { include: ["getPet", "GET /pets"], prefix: "Pet Shop" })
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      ["pet_shop_listPets", "pet_shop_getPet"],
    )
    const issues = importOpenApi(petShop, { include: ["getPet", "getDog"] }).issues
    assert.deepStrictEqual(issues, [{ path: "include.1", message: 'the document has no operation "getDog"' }])
    const twins = { "/a": { get: { operationId: "x".repeat(70) } }, "/b": { get: { operationId: "x".repeat(70) } } }
    const names = imported(get({}, { paths: twins })).tools.map(({ name }) => name)
    assert.deepStrictEqual(names, ["x".repeat(64), `${"x".repeat(62)}_2`])
  })

  it("a relative server is read from where the document was, and is refused when nobody says where", () => {
    const relative = get({}, { servers: [{ url: "../api" }] })
    assert.match(reasonsOf(relative)[0] ?? "", /baseUrl/)
    const { tools } = imported(relative, { baseUrl: "https://b.example/docs/v1/openapi.json" })
    assert.strictEqual(tools[0]?.execution?.["url"], "https://b.example/docs/api/x")
    const silent = imported(get({}, { servers: [] }), { baseUrl: "https://b.example/v1/" })
    assert.strictEqual(silent.tools[0]?.execution?.["url"], "https://b.example/v1/x")
    assert.match(reasonsOf(get({}, { servers: [{ url: "https://{where}.example" }] }))[0] ?? "", /no default for where/)
    assert.strictEqual(importOpenApi(relative, { baseUrl: "file:///etc" }).issues[0]?.path, "baseUrl")
  })

  it("text is read as JSON, and 3.1 keeps what stands beside a reference", () => {
    const parameters = [
      { name: "n", in: "query", schema: { allOf: [{ $ref: "#/components/schemas/N", title: "Beside" }] } },
    ]
    const document = get({ parameters }, { components: { schemas: { N: { type: ["integer", "null"] } } } })
    const { tools } = imported(JSON.stringify(document))
    assert.deepStrictEqual(tools[0]?.inputSchema, {
      type: "object",
      properties: { n: { allOf: [{ $ref: "#/$defs/N", title: "Beside" }] } },
      additionalProperties: false,
      $defs: { N: { type: ["integer", "null"] } },
    })
  })
})

describe("an OpenAPI document that means harm", () => {
  const addresses: ReadonlyArray<readonly [string, object]> = [
    ["a place in its path", { paths: { "/a/${secret.other}": { get: {} } } }],
    ["an input place in its path", { paths: { "/a/{{input.x}}": { get: {} } } }],
    ["a place made of a sign and a parameter", { paths: { "/a/${id}": { get: {} } } }],
    ["a query in its path", { paths: { "/a?x=1": { get: {} } } }],
    ["a way up in its path", { paths: { "/a/../b": { get: {} } } }],
    ["half a parameter", { paths: { "/a/{b": { get: {} } } }],
    ["a scheme that is not http", { servers: [{ url: "file:///etc/passwd" }] }],
    ["a password in its server", { servers: [{ url: "https://me:pass@a.example" }] }],
    ["a query in its server", { servers: [{ url: "https://a.example?x=1" }] }],
    ["a remote reference", { paths: { "/x": { $ref: "https://b.example/x.json" } } }],
    ["a reference to a file", { paths: { "/x": { get: { parameters: [{ $ref: "other.json#/p" }] } } } }],
    [
      "a parameter that is itself",
      { paths: { "/x": { get: { parameters: [{ $ref: "#/paths/~1x/get/parameters/0" }] } } } },
    ],
  ]
  for (const [title, more] of addresses)
    it(`${title} is skipped`, () => {
      const result = imported(get({}, more))
      assert.deepStrictEqual(result.tools, [])
      assert.strictEqual(result.skipped.length, 1)
    })

  it("its text is nowhere a place: only what we wrote is filled", () => {
    const evil = "${secret.other}{{input.x}}"
    const document = get(
      {
        operationId: evil,
        summary: evil,
        parameters: [
          { name: evil, in: "query", schema: {} },
          { name: "x-${env.HOME}", in: "header", schema: {} },
          { name: "ok", in: "query", description: evil, schema: { default: evil } },
        ],
      },
      {
        components: { securitySchemes: { [evil]: { type: "apiKey", in: "query", name: evil } } },
        security: [{}, { [evil]: [] }],
      },
    )
    const { needs, notes, tools } = imported(document)
    assert.deepStrictEqual(tools[0]?.execution, {
      url: "https://a.example/x",
      method: "GET",
      query: { ok: "{{input.ok?}}" },
    })
    assert.deepStrictEqual(needs, [])
    assert.strictEqual(notes.length, 2)
  })

  it("a document cannot name the secret it is given: that is the host's, or the operator's word", () => {
    const security = {
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
      security: [{ token: [] }],
    }
    const secretsAt = (url: string) =>
      imported(get({}, { ...security, info: { title: "Pet Shop" }, servers: [{ url }] })).needs.map(
        ({ secret }) => secret,
      )
    assert.deepStrictEqual(secretsAt("https://eu.pets.example"), ["eu.pets.example_token"])
    assert.deepStrictEqual(secretsAt("https://evil.example"), ["evil.example_token"])
    assert.deepStrictEqual(secretsAt("http://127.0.0.1:80/a"), ["at_127.0.0.1_token"])
    assert.deepStrictEqual(secretsAt("http://[::1]:81"), ["at____1__81_token"])
    assert.deepStrictEqual(secretsAt(`https://${"a".repeat(60)}.pets.example`), [
      `${"a".repeat(27)}.pets.example_token`,
    ])
  })

  it("a schema that is only itself, or outside, skips its operation; one too large is left open", () => {
    const parameters = (ref: string) => [{ name: "p", in: "query", schema: { items: { $ref: ref } } }]
    const loop = { components: { schemas: { A: { $ref: "#/components/schemas/A" } } } }
    assert.match(
      reasonsOf(get({ parameters: parameters("#/components/schemas/A") }, loop))[0] ?? "",
      /refers to itself/,
    )
    assert.match(reasonsOf(get({ parameters: parameters("x.json") }))[0] ?? "", /outside of the document/)
    const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`p${n}`, { type: "string" }]))
    const large = { components: { schemas: { A: { type: "object", properties: wide } } } }
    const { notes, tools } = imported(get({ parameters: parameters("#/components/schemas/A") }, large))
    assert.deepStrictEqual(tools[0]?.inputSchema["$defs"], { A: {} })
    assert.match(notes[0] ?? "", /anything is taken for A/)
  })

  it("the whole is bounded: size, depth, operations, version", () => {
    const issueOf = (document: unknown) => importOpenApi(document).issues[0]?.message ?? ""
    assert.match(issueOf(get({ summary: "x".repeat(5_000_000) })), /more than/)
    assert.match(issueOf("x".repeat(5_000_000)), /more than/)
    let deep: unknown = {}
    for (let n = 0; n < 50_000; n++) deep = { deep }
    assert.match(issueOf(get({ deep })), /deeper/)
    const circle: Record<string, unknown> = get({})
    circle["self"] = circle
    assert.match(issueOf(circle), /deeper/)
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`/${n}`, { get: {} }]))
    assert.match(issueOf(get({}, { paths: many })), /1001 operations/)
    assert.match(issueOf({ swagger: "2.0" }), /3\.0/)
    assert.match(issueOf("openapi: 3.0.0"), /YAML/)
    for (const value of [null, 3, [], "", undefined]) assert.isNotEmpty(issueOf(value))
  })

  it("a thousand operations that share one large schema do not multiply it without bound", () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [
        `S${n}`,
        {
          type: "object",
          description: "d".repeat(500),
          properties: { next: { $ref: `#/components/schemas/S${(n + 1) % 200}` } },
        },
      ]),
    )
    const body = { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/S0" } } } }
    const paths = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`/${n}`, { post: { requestBody: body } }]))
    const { tools } = imported(get({}, { paths, components: { schemas } }))
    assert.strictEqual(tools.length, 1000)
    for (const one of tools) assert.isBelow(JSON.stringify(one.inputSchema).length, 64 * 1024)
  })
})
