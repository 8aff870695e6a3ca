/** The gateway: what servers have beside tools, through the house, for clients of both eras. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { behind, Fixtures, newClient, oldClient } from "./proxiedKit.ts"
import { everything } from "../servers/serversKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }, { name: "bob" }] }
const Test = house({ store: "sqlite", config }).pipe(Layer.provideMerge(Fixtures.layer))

const eras = ["old", "new"] as const

layer(Test, { excludeTestServices: true, timeout: 60_000 })("the gateway", (it) => {
  for (const serverEra of eras)
    it.effect(`resources and prompts of a server of the ${serverEra} era, for clients of both`, () =>
      Effect.gen(function* () {
        const { admin, adminToken, url } = yield* Guest
        const fixtures = yield* Fixtures
        const server = yield* behind(fixtures.url, serverEra, fixtures.token)
        const name = `fix-${serverEra}`
        const { protocol } = yield* ask(() => admin.mcpServers.add({ name, url: server.url }))
        assert.strictEqual(protocol, serverEra === "old" ? "2025-11-25" : "2026-07-28")
        for (const client of eras)
          for (const place of [`/mcp/servers/${name}`, "/mcp"]) {
            const own = place !== "/mcp"
            const uri = (text: string) => (own ? text : `stoa-mcp://${name}/${text}`)
            const prompt = (text: string) => (own ? text : `${name}__${text}`)
            const it = yield* (client === "old" ? oldClient : newClient)(url + place, adminToken)
            const { resources } = yield* ask(() => it.listResources())
            assert.includeMembers(
              resources.map((one) => one.uri),
              ["test://static-text", "test://static-binary", "test://watched-resource"].map(uri),
            )
            const { resourceTemplates } = yield* ask(() => it.listResourceTemplates())
            assert.include(
              resourceTemplates.map((one) => one.uriTemplate),
              uri("test://template/{id}/data"),
            )
            const read = yield* ask(() => it.readResource({ uri: uri("test://template/a%2Fb/data") }))
            assert.deepStrictEqual(read.contents, [
              {
                uri: uri("test://template/a%2Fb/data"),
                mimeType: "application/json",
                text: JSON.stringify({ id: "a%2Fb", templateTest: true, data: "Data for ID: a%2Fb" }),
              },
            ])
            const missing = yield* Effect.flip(ask(() => it.readResource({ uri: uri("test://nowhere") })))
            assert.deepInclude(missing, { code: client === "old" ? -32_002 : -32_602 })
            const { prompts } = yield* ask(() => it.listPrompts())
            assert.include(
              prompts.map((one) => one.name),
              prompt("test_prompt_with_embedded_resource"),
            )
            const got = yield* ask(() =>
              it.getPrompt({
                name: prompt("test_prompt_with_embedded_resource"),
                arguments: { resourceUri: "test://static-text" },
              }),
            )
            assert.deepInclude(got.messages[0]!.content, {
              resource: {
                uri: uri("test://static-text"),
                mimeType: "text/plain",
                text: "Embedded resource content for testing.",
              },
            })
            const completed = yield* ask(() =>
              it.complete({
                ref: { type: "ref/prompt", name: prompt("test_prompt_with_arguments") },
                argument: { name: "arg1", value: "pa" },
              }),
            )
            assert.deepStrictEqual(completed.completion.values, ["paris", "park", "party"])
          }
        yield* ask(() => admin.mcpServers.remove(name))
      }),
    )

  it.effect("the reference server over stdio: what it has is there under both names", () =>
    Effect.gen(function* () {
      const { admin, adminToken, url } = yield* Guest
      yield* ask(() => admin.mcpServers.add({ name: "every", ...everything("stdio") }))
      const own = yield* oldClient(`${url}/mcp/servers/every`, adminToken)
      const all = yield* newClient(`${url}/mcp`, adminToken)
      const titleOf = (
        tools: ReadonlyArray<{ readonly name: string; readonly title?: string | undefined }>,
        name: string,
      ) => tools.find((tool) => tool.name === name)?.title
      assert.strictEqual(titleOf((yield* ask(() => own.listTools())).tools, "echo"), "Echo Tool")
      assert.strictEqual(titleOf((yield* ask(() => all.listTools())).tools, "every__echo"), "Echo Tool")
      const resources = (yield* ask(() => own.listResources())).resources
      assert.isAbove(resources.length, 3)
      const prefixed = (yield* ask(() => all.listResources())).resources
      assert.deepStrictEqual(
        prefixed.map((one) => one.uri),
        resources.map((one) => `stoa-mcp://every/${one.uri}`),
      )
      const first = yield* ask(() => own.readResource({ uri: resources[0]!.uri }))
      const again = yield* ask(() => all.readResource({ uri: prefixed[0]!.uri }))
      assert.strictEqual(first.contents[0]!.uri, resources[0]!.uri)
      assert.strictEqual(again.contents[0]!.uri, prefixed[0]!.uri)
      assert.strictEqual((first.contents[0] as { text?: string }).text, (again.contents[0] as { text?: string }).text)
      yield* ask(() => admin.mcpServers.remove("every"))
    }),
  )
})
